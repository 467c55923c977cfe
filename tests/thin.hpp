#pragma once

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <vector>

/// Tests under slow tools, such as compute-sanitizer: fewer of the same cases.
namespace phy_test {

inline bool is_thin() {
    const char* value = std::getenv("PHY_TEST_THIN");
    return value != nullptr && std::string_view(value) == "1";
}

/// All of it; where tests are thin, of 8 and more an eighth and the last.
template <typename T>
std::vector<T> thinned(const std::vector<T>& all) {
    if (!is_thin() || all.size() < 8) return all;
    std::vector<T> some;
    for (std::size_t n = 0; n + 1 < all.size(); n += 8)
        some.push_back(all[n]);
    some.push_back(all.back());
    return some;
}

/// 0, 1, 2 ... count - 1.
inline std::vector<std::uint64_t> thinned_range(std::uint64_t count) {
    std::vector<std::uint64_t> all(count);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    return thinned(all);
}

/// How often to do what is random.
inline int thinned_times(int all) {
    return is_thin() ? (all + 7) / 8 : all;
}

}  // namespace phy_test
