#include "phy/capture/find_iq.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "phy/capture/element_type.hpp"
#include "phy/core/file_error.hpp"

namespace phy::detail {

namespace {

/// Names of datasets that are no IQ but may have its shape: those beside IQ, and outputs of a demapper or
/// receiver.
constexpr std::array<std::string_view, 6> never_iq = {
    "noise_variance", "bits", "codeword", "llr", "channel", "symbols_noise_variance"};

std::string_view last_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

struct Found {
    std::string path;
    std::string description;
    bool is_iq = false;
};

Found examine(const InputFile& file, const std::string& path, bool interleaved) {
    const bool candidate = std::ranges::find(never_iq, last_name(path)) == never_iq.end();
    try {
        const auto dataset = file.open(path);
        return {path, describe(dataset->type(), dataset->dimensions()),
                candidate && recognise_iq(dataset->type(), dataset->dimensions(), interleaved).has_value()};
    } catch (const FileError&) {
        return {path, "damaged", false};
    }
}

std::vector<Found> examine_all(const InputFile& file, bool interleaved) {
    std::vector<Found> all;
    for (const std::string& path : file.datasets())
        all.push_back(examine(file, path, interleaved));
    return all;
}

std::vector<Found> candidates_of(std::vector<Found> all) {
    std::erase_if(all, [](const Found& found) { return !found.is_iq; });
    return all;
}

std::string list(const std::vector<Found>& all) {
    constexpr std::size_t most = 8;
    if (all.empty()) return "none";
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
        text += (i == 0 ? "" : ", ") + all[i].path + " (" + all[i].description + ")";
    return all.size() > most ? text + " and " + std::to_string(all.size() - most) + " more" : text;
}

/// An absolute path without a slash at its end.
std::string normalised(std::string path) {
    if (!path.starts_with('/')) path = std::string("/").append(path);
    while (path.size() > 1 && path.ends_with('/'))
        path.pop_back();
    return path;
}

/// A hint that the option interleaved would make the dataset IQ, or prevents it.
std::string_view hint(bool interleaved) {
    return interleaved ? " (leave out the option --interleaved)"
                       : " (flat I, Q, I, Q? give the option --interleaved)";
}

/// A dataset with a default name; none if there is none.
std::optional<std::string> find_by_default_name(const InputFile& file, std::optional<CaptureKind> kind) {
    const auto find = [&](CaptureKind of) -> std::optional<std::string> {
        std::string path(default_dataset(of));
        if (!file.contains(path) || file.is_group(path)) return std::nullopt;
        return path;
    };
    if (kind) return find(*kind);
    if (auto symbols = find(CaptureKind::symbols)) return symbols;
    auto grid = find(CaptureKind::grid);
    auto samples = find(CaptureKind::samples);
    if (grid && samples)
        throw file_error(file.name(), "holds " + *grid + " and " + *samples +
                                          ", one must be chosen: expected the kind of capture, grid or "
                                          "samples, or the name of a dataset");
    return grid ? grid : samples;
}

/// Two datasets, named with a comma between; none for a single name.
std::optional<IqPath> find_parts(const InputFile& file, const std::string& names) {
    const std::size_t comma = names.find(',');
    if (comma == std::string::npos) return std::nullopt;
    IqPath path = {normalised(names.substr(0, comma)), normalised(names.substr(comma + 1))};
    for (const std::string& part : {path.i, path.q}) {
        if (!file.contains(part))
            throw file_error(file.name(), "no such dataset: " + part + "; expected one of I and one of Q");
    }
    return path;
}

constexpr std::uint64_t block_numbers = std::uint64_t{1} << 18;

/// The type of both. Throws unless they have the same.
NumberType require_one_type(const InputDataset& i, const InputDataset& q) {
    const auto& number = i.type().number;
    if (!number || number != q.type().number || i.dimensions() != q.dimensions())
        throw file_error(i.name(), "is " + describe(i.type(), i.dimensions()) + " and Q is " +
                                       describe(q.type(), q.dimensions()) +
                                       ": expected numbers of one type and one shape");
    return *number;
}

class JoinedIq : public InputDataset {
public:
    JoinedIq(std::unique_ptr<InputDataset> i, std::unique_ptr<InputDataset> q, NumberType number)
        : InputDataset(i->name() + " and Q", pair_type(number, "I and Q apart, of " + i->type().text),
                       i->dimensions()),
          i_(std::move(i)),
          q_(std::move(q)) {}

    [[nodiscard]] std::string storage() const override { return "I and Q apart, " + i_->storage(); }

    void require_readable() const override {
        i_->require_readable();
        q_->require_readable();
    }

    void read(std::uint64_t first, std::uint64_t count, std::byte* elements) const override;

    [[nodiscard]] std::vector<std::filesystem::path> other_files() const override {
        std::vector<std::filesystem::path> files = i_->other_files();
        std::ranges::move(q_->other_files(), std::back_inserter(files));
        return files;
    }

    [[nodiscard]] std::optional<double> number(const char* attribute) const override {
        return i_->number(attribute);
    }

    [[nodiscard]] std::optional<std::string> text(const char* attribute) const override {
        return i_->text(attribute);
    }

private:
    std::unique_ptr<InputDataset> i_;
    std::unique_ptr<InputDataset> q_;
};

void JoinedIq::read(std::uint64_t first, std::uint64_t count, std::byte* elements) const {
    const std::size_t bytes = i_->type().bytes;
    const NumberType number = {.kind = i_->type().number->kind};
    std::vector<std::byte> block(std::min(count, block_numbers) * bytes);
    while (count > 0) {
        const std::uint64_t now = std::min(count, block_numbers);
        for (const auto& [part, offset] : {std::pair(i_.get(), std::size_t{0}), {q_.get(), bytes}}) {
            part->read(first, now, block.data());
            copy_numbers(number, {block.data(), bytes}, {elements + offset, 2 * bytes}, now);
        }
        first += now;
        count -= now;
        elements += 2 * now * bytes;
    }
}

/// Joins a dataset of I and one of Q to one of pairs. Throws FileError unless both are numbers of one type
/// and shape.
std::unique_ptr<InputDataset> join_iq(std::unique_ptr<InputDataset> i, std::unique_ptr<InputDataset> q) {
    const NumberType number = require_one_type(*i, *q);
    return std::make_unique<JoinedIq>(std::move(i), std::move(q), number);
}

}  // namespace

std::unique_ptr<InputDataset> open_iq(const InputFile& file, const IqPath& path) {
    if (path.q.empty()) return file.open(path.i);
    return join_iq(file.open(path.i), file.open(path.q));
}

IqPath find_iq(const InputFile& file, const CaptureOptions& options) {
    if (options.dataset.empty()) {
        if (auto path = find_by_default_name(file, options.kind)) return {*path};
    } else if (std::string path = normalised(options.dataset); file.contains(path)) {
        return {path};
    } else if (auto parts = find_parts(file, options.dataset)) {
        return *parts;
    }

    const std::vector<Found> all = examine_all(file, options.interleaved);
    const std::vector<Found> candidates = candidates_of(all);
    if (!options.dataset.empty())
        throw file_error(file.name(), "no such dataset: " + normalised(options.dataset) +
                                          "; datasets that look like IQ: " + list(candidates));
    if (candidates.size() == 1) return {candidates.front().path};
    if (candidates.empty()) {
        const auto otherwise = candidates_of(examine_all(file, !options.interleaved));
        throw file_error(file.name(), "no dataset looks like IQ: expected " +
                                          std::string(expected_iq(options.interleaved)) +
                                          "; datasets in the file: " + list(all) +
                                          (otherwise.empty() ? "" : std::string(hint(options.interleaved))));
    }
    throw file_error(file.name(), "several datasets look like IQ, one must be chosen: " + list(candidates));
}

CaptureKind kind_of(const std::string& path, const CaptureOptions& options) {
    if (options.kind) return *options.kind;
    for (const CaptureKind kind : {CaptureKind::grid, CaptureKind::samples}) {
        if (last_name(path) == to_string(kind)) return kind;
    }
    return CaptureKind::symbols;
}

IqLayout require_iq(const InputFile& file, const InputDataset& dataset, const CaptureOptions& options) {
    const auto layout = recognise_iq(dataset.type(), dataset.dimensions(), options.interleaved);
    if (!layout) {
        const bool otherwise =
            recognise_iq(dataset.type(), dataset.dimensions(), !options.interleaved).has_value();
        throw file_error(dataset.name(), "is not IQ but " + describe(dataset.type(), dataset.dimensions()) +
                                             ": expected " + std::string(expected_iq(options.interleaved)) +
                                             "; datasets that look like IQ: " +
                                             list(candidates_of(examine_all(file, options.interleaved))) +
                                             (otherwise ? std::string(hint(options.interleaved)) : ""));
    }
    if (dataset.size() == 0) throw file_error(dataset.name(), "has no samples, expected at least one");
    return *layout;
}

std::string path_beside(const std::string& path, const std::string& name) {
    return path.substr(0, path.rfind('/') + 1) + name;
}

}  // namespace phy::detail
