#include "phy/capture/write/join.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/formats.hpp"
#include "phy/capture/hdf5/attribute.hpp"
#include "phy/capture/hdf5/handle.hpp"
#include "phy/capture/hdf5/hdf5_storage.hpp"
#include "phy/capture/input.hpp"
#include "phy/capture/write/output.hpp"
#include "phy/core/error.hpp"

namespace phy {
namespace {

using hdf5::file_error;
using Paths = std::span<const std::filesystem::path>;

constexpr std::size_t piece_bytes = std::size_t{16} << 20;

/// Throws FileError unless both objects have equal attributes. name, other: of the objects.
void require_equal(const detail::PosixFile& bytes, hid_t object, const std::string& name,
                   const detail::PosixFile& other_bytes, hid_t other_object, const std::string& other,
                   std::span<const char* const> attributes) {
    for (const char* const attribute : attributes) {
        const auto own = hdf5::read_attribute(bytes, object, attribute, name);
        const auto others = hdf5::read_attribute(other_bytes, other_object, attribute, other);
        if (own.has_value() != others.has_value() || (own && !own->is_equal(*others)))
            throw file_error(name, std::string("has another attribute ") + attribute + " than " + other +
                                       ": expected parts of one output");
    }
}

class Part {
public:
    explicit Part(const std::filesystem::path& path);

    [[nodiscard]] const std::string& name() const { return file_->name(); }
    [[nodiscard]] std::uint64_t first() const { return first_; }
    [[nodiscard]] std::uint64_t end() const { return first_ + rows_; }
    [[nodiscard]] std::uint64_t all() const { return all_; }
    [[nodiscard]] hid_t id() const { return hdf5_; }
    [[nodiscard]] const detail::InputFile& file() const { return *file_; }
    [[nodiscard]] const detail::PosixFile& bytes() const { return bytes_; }

    [[nodiscard]] hdf5::DatasetHandle open(const std::string& dataset) const {
        // As the InputFile does, which may have it open.
        const hdf5::PropertiesHandle access = hdf5::access_properties();
        return hdf5::DatasetHandle(
            hdf5::checked(H5Dopen2(hdf5_, dataset.c_str(), access), name(), "cannot be opened"));
    }

    /// Throws FileError unless both are parts of one output.
    void require_like(const Part& other) const;

private:
    [[nodiscard]] std::uint64_t whole_number(const char* attribute) const;
    void require_like(const Part& other, const std::string& dataset) const;

    std::unique_ptr<detail::InputFile> file_;
    detail::PosixFile bytes_;
    hdf5::FileHandle hdf5_;
    std::uint64_t first_ = 0;
    std::uint64_t rows_ = 0;
    std::uint64_t all_ = 0;
};

Part::Part(const std::filesystem::path& path)
    : file_(detail::open_input(path, {})),
      bytes_(detail::open_regular_file(path)),
      hdf5_(hdf5::checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), name(), "cannot be opened")),
      first_(whole_number(hdf5::part_first)),
      all_(whole_number(hdf5::part_of)) {
    for (const std::string& name : file_->datasets()) {
        const auto dataset = file_->open(name);
        dataset->require_readable();
        if (dataset->dimensions().empty() || dataset->size() == 0)
            throw file_error(dataset->name(), "has no rows");
        const std::uint64_t rows = dataset->dimensions().front();
        if (rows_ == 0) rows_ = rows;
        if (rows != rows_)
            throw file_error(dataset->name(), "has " + std::to_string(rows) + " rows, expected " +
                                                  std::to_string(rows_) + " as other datasets have");
    }
    if (rows_ == 0 || rows_ > all_ || first_ > all_ - rows_)
        throw file_error(name(), "has " + std::to_string(rows_) + " rows from " + std::to_string(first_) +
                                     " on, expected at least one and at most all " + std::to_string(all_) +
                                     " rows");
}

std::uint64_t Part::whole_number(const char* attribute) const {
    constexpr double most = 0x1p53;
    const auto value = hdf5::read_number(hdf5_, attribute, name());
    if (!value)
        throw file_error(name(), std::string("has no attribute ") + attribute +
                                     ": expected a file that was written for a part of a capture");
    if (!(*value >= 0.0 && *value <= most) || std::trunc(*value) != *value)
        throw file_error(name(), std::string("attribute ") + attribute + ": expected a whole number");
    return static_cast<std::uint64_t>(*value);
}

void Part::require_like(const Part& other) const {
    if (all_ != other.all_)
        throw file_error(name(), "is a part of " + std::to_string(all_) + " rows, and " + other.name() +
                                     " of " + std::to_string(other.all_));
    if (file_->datasets() != other.file_->datasets())
        throw file_error(name(), "has other datasets than " + other.name());
    require_equal(bytes_, hdf5_, name(), other.bytes_, other.hdf5_, other.name(), hdf5::soft_bit_attributes);
    require_equal(bytes_, hdf5_, name(), other.bytes_, other.hdf5_, other.name(),
                  std::array{hdf5::part_settings});
    for (const std::string& dataset : file_->datasets())
        require_like(other, dataset);
}

void Part::require_like(const Part& other, const std::string& dataset) const {
    const hdf5::DatasetHandle own = open(dataset);
    const hdf5::DatasetHandle others = other.open(dataset);
    detail::Dimensions dimensions = file_->open(dataset)->dimensions();
    dimensions.front() = other.rows_;
    const hdf5::TypeHandle type(H5Dget_type(own));
    const hdf5::TypeHandle expected(H5Dget_type(others));
    if (dimensions != other.file_->open(dataset)->dimensions() || H5Tequal(type, expected) <= 0)
        throw file_error(name() + ": dataset " + dataset,
                         "has rows of another size or type than " + other.name());
    require_equal(bytes_, own, name() + ": dataset " + dataset, other.bytes_, others, other.name(),
                  hdf5::soft_bit_attributes);
}

/// Of a part that is not open: there may be more parts than a process may open files.
struct Rows {
    std::filesystem::path path;
    std::uint64_t first = 0;
    std::uint64_t end = 0;
};

/// Throws FileError unless each row is in one part. parts: by their first rows.
void require_all_rows(const std::vector<Rows>& parts, std::uint64_t all) {
    const auto rows = [](std::uint64_t first, std::uint64_t end) {
        return "rows " + std::to_string(first) + " to " + std::to_string(end - 1);
    };
    const auto require = [&](const std::string& files, std::uint64_t end, std::uint64_t next) {
        if (end < next) throw file_error(files, rows(end, next) + " are in no part");
    };
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::uint64_t end = i == 0 ? 0 : parts[i - 1].end;
        const std::string before = i == 0 ? "" : parts[i - 1].path.string() + " and ";
        require(before + parts[i].path.string(), end, parts[i].first);
        if (parts[i].first < end)
            throw file_error(parts[i].path.string(), "has " +
                                                         rows(parts[i].first, std::min(end, parts[i].end)) +
                                                         ", and so has " + parts[i - 1].path.string());
    }
    require(parts.back().path.string(), parts.back().end, all);
}

/// In order, after all have been compared with the first of them.
std::vector<Rows> checked_rows(Paths paths, const Part& like) {
    std::vector<Rows> parts;
    for (const std::filesystem::path& path : paths) {
        const Part part(path);
        part.require_like(like);
        parts.push_back({path, part.first(), part.end()});
    }
    std::ranges::sort(parts, {}, &Rows::first);
    require_all_rows(parts, like.all());
    return parts;
}

class Joining {
public:
    Joining(Paths paths, const std::filesystem::path& output, const JoinOptions& options);

    [[nodiscard]] const std::filesystem::path& file() const { return file_->path(); }
    [[nodiscard]] const std::vector<RowsTarget>& targets() const { return targets_; }
    [[nodiscard]] std::uint64_t bytes() const { return result_.bytes; }

    JoinedParts commit(std::uint64_t copied) {
        if (!options_.shards && copied != bytes())
            throw file_error(file_->name(), "has " + std::to_string(copied) + " bytes of rows, expected " +
                                                std::to_string(bytes()));
        const hdf5::Session session;
        file_->commit();
        return result_;
    }

private:
    struct Set {
        std::string name;
        hdf5::Dimensions dimensions;
        std::size_t element_bytes = 0;
    };

    void copy_attributes(hid_t from, hid_t to, const std::string& name) {
        for (const char* const attribute : hdf5::soft_bit_attributes)
            if (const auto value = hdf5::read_attribute(like_.bytes(), from, attribute, like_.name()))
                hdf5::write_attribute(to, attribute, *value, name);
    }

    void create(const Set& set) {
        const hdf5::DatasetHandle like = like_.open(set.name);
        const hdf5::TypeHandle type(H5Dget_type(like));
        if (options_.shards) {
            const std::string name = file_->name() + ": dataset " + set.name;
            copy_attributes(like, view_of_parts(set, type, name), name);
            return;
        }
        const hdf5::OutputDataset out(*file_, set.name, type, set.dimensions);
        copy_attributes(like, out.id(), out.name());
        targets_.push_back({set.name, out.offset(), out.item_bytes()});
    }

    /// Where a part lies from the output's folder, which is that of a link's target.
    [[nodiscard]] std::string name_beside_output(const std::filesystem::path& part) const {
        const std::filesystem::path output = std::filesystem::weakly_canonical(output_);
        std::string name = std::filesystem::proximate(part, output.parent_path()).string();
        if (name.find('%') != std::string::npos)
            throw ArgumentError(name +
                                ": shards may have no % in their names, with which HDF5 begins a pattern");
        return name;
    }

    /// A virtual dataset.
    hdf5::DatasetHandle view_of_parts(const Set& set, hid_t type, const std::string& name) const {
        const auto rank = static_cast<int>(set.dimensions.size());
        const hdf5::PropertiesHandle creation(H5Pcreate(H5P_DATASET_CREATE));
        // What HDF5 reads where a part is missing.
        const double nan = std::numeric_limits<double>::quiet_NaN();
        if (H5Tget_class(type) == H5T_FLOAT) H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &nan);
        const hdf5::SpaceHandle whole(H5Screate_simple(rank, set.dimensions.data(), nullptr));
        for (const Rows& part : parts_) {
            hdf5::Dimensions first(set.dimensions.size(), 0);
            first.front() = part.first;
            hdf5::Dimensions count = set.dimensions;
            count.front() = part.end - part.first;
            const hdf5::SpaceHandle source(H5Screate_simple(rank, count.data(), nullptr));
            H5Sselect_hyperslab(whole, H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr);
            hdf5::checked(H5Pset_virtual(creation, whole, name_beside_output(part.path).c_str(),
                                         set.name.c_str(), source),
                          name, "cannot refer to its parts");
        }
        H5Sselect_all(whole);
        return hdf5::DatasetHandle(hdf5::checked(
            H5Dcreate2(file_->id(), set.name.c_str(), type, whole, H5P_DEFAULT, creation, H5P_DEFAULT), name,
            "cannot be created"));
    }

    Part like_;
    std::vector<Rows> parts_;
    std::filesystem::path output_;
    JoinOptions options_;
    JoinedParts result_;
    std::optional<hdf5::OutputFile> file_;
    std::vector<Set> sets_;
    std::vector<RowsTarget> targets_;
};

Joining::Joining(Paths paths, const std::filesystem::path& output, const JoinOptions& options)
    : like_(paths.front()), parts_(checked_rows(paths, like_)), output_(output), options_(options) {
    for (const std::string& name : like_.file().datasets()) {
        const auto dataset = like_.file().open(name);
        detail::Dimensions dimensions = dataset->dimensions();
        dimensions.front() = result_.rows = like_.all();
        sets_.push_back({name, {dimensions.begin(), dimensions.end()}, dataset->type().bytes});
        result_.bytes += hdf5::total_bytes(sets_.back().dimensions, sets_.back().element_bytes);
    }
    file_.emplace(output, AtomicFile::Config{.overwrite = options.overwrite, .durable = options.durable},
                  options.shards ? 0 : result_.bytes);
    // All that HDF5 writes comes first: it does not survive a file that it cannot complete.
    copy_attributes(like_.id(), file_->id(), file_->name());
    for (const Set& set : sets_)
        create(set);
    file_->flush();
}

}  // namespace

struct PartsJoin::Impl : Joining {
    using Joining::Joining;
};

PartsJoin::PartsJoin(Paths parts, const std::filesystem::path& output, const JoinOptions& options) {
    if (parts.empty()) throw ArgumentError("no parts to join: expected at least one file");
    if (output_format(output) != OutputFormat::hdf5)
        throw ArgumentError(output.string() + ": parts are joined to an HDF5 file; expected a name such as " +
                            std::filesystem::path(output).replace_extension(".h5").string());
    for (const std::filesystem::path& part : parts)
        if (is_same_file(part, output))
            throw ArgumentError(output.string() + ": the output would overwrite a part");
    const hdf5::Session session;
    impl_ = detail::Owned<Impl, "PartsJoin">(new Impl(parts, output, options), [](Impl* impl) {
        const hdf5::Session session_of_deleter;
        delete impl;
    });
}

const std::filesystem::path& PartsJoin::file() const {
    return impl_->file();
}

const std::vector<RowsTarget>& PartsJoin::targets() const {
    return impl_->targets();
}

std::uint64_t PartsJoin::bytes() const {
    return impl_->bytes();
}

JoinedParts PartsJoin::commit(std::uint64_t copied) {
    return impl_->commit(copied);
}

std::uint64_t copy_rows(const std::filesystem::path& part, const std::filesystem::path& file,
                        std::span<const RowsTarget> targets, bool durable,
                        const std::function<void(std::uint64_t)>& each_piece) {
    const hdf5::Session session;
    const Part from(part);
    detail::PosixFile to(file, O_WRONLY, 0, file.string());
    std::uint64_t copied = 0;
    std::vector<std::byte> bytes;
    for (const RowsTarget& target : targets) {
        const auto dataset = from.file().open(target.dataset);
        const std::uint64_t row = dataset->size() / dataset->dimensions().front();
        const std::size_t element_bytes = dataset->type().bytes;
        if (row * element_bytes != target.row_bytes)
            throw file_error(dataset->name(), "has rows of " + std::to_string(row * element_bytes) +
                                                  " bytes, expected " + std::to_string(target.row_bytes));
        if (target.offset + from.end() * target.row_bytes > to.size())
            throw file_error(file.string(), "has no place for the rows of " + from.name());
        const std::uint64_t rows = std::max<std::uint64_t>(1, piece_bytes / target.row_bytes);
        for (std::uint64_t first = from.first(); first < from.end(); first += rows) {
            const std::uint64_t count = std::min(rows, from.end() - first);
            if (each_piece) each_piece(count * target.row_bytes);
            bytes.resize(count * target.row_bytes);
            dataset->read((first - from.first()) * row, count * row, bytes.data());
            to.write_at(target.offset + first * target.row_bytes, bytes);
            copied += bytes.size();
        }
    }
    if (durable) to.sync();
    to.close();
    return copied;
}

JoinedParts join_parts(Paths parts, const std::filesystem::path& output, const JoinOptions& options) {
    PartsJoin join(parts, output, options);
    struct Stopped {};
    std::uint64_t begun = 0;
    const auto each_piece = [&](std::uint64_t bytes) {
        if (options.stop.stop_requested()) throw Stopped();
        if (options.progress && begun > 0) options.progress(begun, join.bytes());
        begun += bytes;
    };
    std::uint64_t copied = 0;
    try {
        for (const std::filesystem::path& part : options.shards ? Paths() : parts)
            copied += copy_rows(part, join.file(), join.targets(), false, each_piece);
    } catch (const Stopped&) {
        return {.rows = 0, .bytes = 0, .cancelled = true};
    }
    if (options.progress && !options.shards) options.progress(copied, join.bytes());
    return join.commit(copied);
}

}  // namespace phy
