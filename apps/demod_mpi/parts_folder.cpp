#include "demod_mpi/parts_folder.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "common/number.hpp"
#include "phy/core/error.hpp"
#include "phy/machine/atomic_file.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"

namespace phy::apps {
namespace {

constexpr std::string_view sums_ending = ".sums";
constexpr std::string_view command_file = "command";

std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in) throw FileError(fmt::format("{}: cannot be read", file.string()));
    return text;
}

void write_text(const std::filesystem::path& file, const std::string& text, bool durable) {
    AtomicFile out(file, {.overwrite = true, .durable = durable});
    out.append(text);
    out.commit();
}

/// True for a folder of nothing but unfinished files of AtomicFile: its run was killed at once.
bool is_unused(const std::filesystem::path& folder) {
    const std::filesystem::directory_iterator files(folder);
    return std::all_of(begin(files), end(files), [](const std::filesystem::directory_entry& file) {
        return file.path().filename().string().starts_with(".phy-");
    });
}

PartSums sums_of(const Demodulation& done) {
    return {.soft_bits = done.soft_bits,
            .saturated = done.counters.saturated,
            .bit_errors = done.bit_errors.value_or(0),
            .compared_bits = done.compared_bits,
            .warnings = done.warnings};
}

PartSums sums_of(const Reception& done) {
    const double least = min_coherence(done.link.allocation);
    const auto has_dmrs = [least](const SlotReport& report) { return report.coherence >= least; };
    return {.slots = done.slots,
            .slots_with_dmrs = static_cast<std::uint64_t>(std::ranges::count_if(done.reports, has_dmrs)),
            .soft_bits = done.soft_bits,
            .saturated = done.saturated,
            .bit_errors = done.bit_errors.value_or(0),
            .compared_bits = done.compared_bits,
            .transport_blocks = done.transport_blocks.size(),
            .valid_transport_blocks = done.valid_transport_blocks,
            .warnings = done.warnings};
}

/// Numbers of the sums in the order of their lines.
template <typename Sums, typename Visit>
void visit_numbers(Sums& sums, Visit visit) {
    visit(sums.slots);
    visit(sums.slots_with_dmrs);
    visit(sums.soft_bits);
    visit(sums.saturated);
    visit(sums.bit_errors);
    visit(sums.compared_bits);
    visit(sums.transport_blocks);
    visit(sums.valid_transport_blocks);
}

}  // namespace

void PartSums::add(const PartSums& other) {
    std::vector<std::uint64_t> numbers;
    visit_numbers(other, [&](std::uint64_t number) { numbers.push_back(number); });
    auto next = numbers.begin();
    visit_numbers(*this, [&](std::uint64_t& number) { number += *next++; });
    for (const std::string& warning : other.warnings)
        if (std::ranges::find(warnings, warning) == warnings.end()) warnings.push_back(warning);
}

PartSums sums_of(const Demodulated& done) {
    return std::visit([](const auto& result) { return sums_of(result); }, done);
}

std::string PartsFolder::file(std::uint64_t first, std::string_view ending) const {
    // Names in the order of their rows.
    return (folder_ / fmt::format("{:012}{}", first, ending)).string();
}

void PartsFolder::open(const std::string& command) const {
    const std::filesystem::path file = folder_ / command_file;
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored)) {
        const std::string before = read_text(file);
        if (before == command) return;
        if (!complete_parts().empty())
            throw FileError(fmt::format(
                "{}: has parts of another command, or of a capture or link that has changed since: "
                "\"{}\". Give that command again, or remove the folder",
                folder_.string(), before.substr(0, before.find('\n'))));
        std::filesystem::remove(survey_file(), ignored);
        write_text(file, command, true);
        return;
    }
    if (std::filesystem::exists(folder_, ignored) && !is_unused(folder_))
        throw FileError(fmt::format(
            "{}: exists, and is not a parts folder: remove it, or name another output", folder_.string()));
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) throw FileError(fmt::format("{}: cannot be created: {}", folder_.string(), error.message()));
    write_text(file, command, true);
}

/// Without --durable a loss of power may leave empty files.
bool PartsFolder::is_complete(std::uint64_t first) const {
    std::error_code error;
    try {
        static_cast<void>(read_sums(first));
        return std::filesystem::file_size(rows_file(first), error) > 0 && !error;
    } catch (const FileError&) {
        return false;
    }
}

std::vector<std::uint64_t> PartsFolder::complete_parts() const {
    std::vector<std::uint64_t> parts;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
        const std::filesystem::path& path = entry.path();
        if (path.extension() != sums_ending) continue;
        const auto first = parse_number<std::uint64_t>(path.stem().string());
        if (first && is_complete(*first)) parts.push_back(*first);
    }
    std::ranges::sort(parts);
    return parts;
}

void PartsFolder::write_sums(std::uint64_t first, const PartSums& sums, bool durable) const {
    std::string text;
    visit_numbers(sums, [&](std::uint64_t number) { text += std::to_string(number) + "\n"; });
    for (std::string warning : sums.warnings) {
        std::ranges::replace(warning, '\n', ' ');
        text += warning + "\n";
    }
    write_text(file(first, sums_ending), text, durable);
}

PartSums PartsFolder::read_sums(std::uint64_t first) const {
    const std::string name = file(first, sums_ending);
    std::ifstream in(name);
    PartSums sums;
    std::string line;
    visit_numbers(sums, [&](std::uint64_t& number) {
        const bool is_there = static_cast<bool>(std::getline(in, line));
        const auto value = is_there ? parse_number<std::uint64_t>(line) : std::nullopt;
        if (!value) throw FileError(fmt::format("{}: expected whole numbers, one in a line", name));
        number = *value;
    });
    while (std::getline(in, line))
        sums.warnings.push_back(line);
    return sums;
}

std::error_code PartsFolder::remove() const {
    // The command comes last: without it the rest would be no folder of parts.
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, error))
        if (entry.path().filename() != command_file) std::filesystem::remove_all(entry.path(), error);
    std::filesystem::remove_all(folder_, error);
    return error;
}

}  // namespace phy::apps
