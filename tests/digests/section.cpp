#include "digests/section.hpp"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace phy_test {
namespace {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string digits_of(std::uint64_t digest) {
    std::ostringstream text;
    text << std::hex << std::setw(16) << std::setfill('0') << digest;
    return text.str();
}

std::pair<std::string, std::uint64_t> parsed(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string digits = space == std::string::npos ? "" : line.substr(space + 1);
    std::uint64_t digest = 0;
    const char* const end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, digest, 16);
    if (digits.size() != 16 || result.ptr != end)
        throw std::runtime_error("not a name and a digest: '" + line + "'");
    return {line.substr(0, space), digest};
}

void write_digests(const std::string& file, const Digests& digests) {
    std::ofstream stream(file);
    for (const auto& [name, digest] : digests)
        stream << name << ' ' << digits_of(digest) << '\n';
    stream.close();
    if (!stream) throw std::runtime_error("cannot write " + file);
}

}  // namespace

Digests read_digests(const std::string& file) {
    std::ifstream stream(file);
    Digests digests;
    for (std::string line; std::getline(stream, line);) {
        const auto entry = parsed(line);
        if (!digests.empty() && entry.first <= digests.rbegin()->first)
            throw std::runtime_error("twice or out of order: '" + line + "'");
        digests.insert(digests.end(), entry);
    }
    return digests;
}

const Digests& recorded_digests() {
    static const Digests digests = [] {
        const std::string file = variable("PHY_DIGESTS_FILE");
        return read_digests(file.empty() ? PHY_DIGESTS_FILE : file);
    }();
    return digests;
}

bool writes_digests() {
    return !variable("PHY_WRITE_DIGESTS").empty();
}

Section::Section(std::string prefix) : prefix_(std::move(prefix)) {
    if (!writes_digests()) expected_ = recorded_digests();
    std::erase_if(expected_, [this](const auto& entry) { return !entry.first.starts_with(prefix_); });
}

void Section::complain(const std::string& what) {
    complaints_.push_back(what);
}

void Section::add(const std::string& name, const Bytes& output, const std::string& way) {
    if (!name.starts_with(prefix_)) throw std::logic_error(name + " is not in section " + prefix_);
    const std::uint64_t digest = digest_of(output);
    const auto [first, is_new] = added_.emplace(name, digest);
    const auto found = expected_.find(name);
    if (!writes_digests() && found == expected_.end()) {
        if (is_new) complain(name + " is not in the file");
        return;
    }
    const std::uint64_t expected = writes_digests() ? first->second : found->second;
    if (digest != expected)
        complain(name + ": " + digits_of(digest) + " on " + way + ", expected " + digits_of(expected));
}

void Section::finish() {
    for (const auto& [name, digest] : expected_)
        if (!added_.contains(name)) complain(name + " is in the file, but there is no such output");
    if (!writes_digests()) return;
    const std::string file = variable("PHY_WRITE_DIGESTS");
    Digests digests = read_digests(file);
    std::erase_if(digests, [this](const auto& entry) { return entry.first.starts_with(prefix_); });
    digests.insert(added_.begin(), added_.end());
    write_digests(file, digests);
}

std::string Section::differences() const {
    constexpr std::size_t most = 20;
    std::string text;
    for (std::size_t n = 0; n < complaints_.size() && n < most; ++n)
        text += complaints_[n] + "\n";
    if (complaints_.size() > most) text += "and " + std::to_string(complaints_.size() - most) + " more\n";
    return text;
}

}  // namespace phy_test
