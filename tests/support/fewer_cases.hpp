#pragma once

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <vector>

/// With PHY_TEST_FEWER_CASES=1 in the environment, for slow tools such as compute-sanitizer, tests take fewer
/// of their cases.
namespace phy_test {

inline bool takes_fewer_cases() {
    const char* value = std::getenv("PHY_TEST_FEWER_CASES");
    return value != nullptr && std::string_view(value) == "1";
}

/// All cases; with fewer cases, an eighth and the last of 8 or more.
template <typename T>
std::vector<T> fewer_cases(const std::vector<T>& all) {
    if (!takes_fewer_cases() || all.size() < 8) return all;
    std::vector<T> some;
    for (std::size_t n = 0; n + 1 < all.size(); n += 8)
        some.push_back(all[n]);
    some.push_back(all.back());
    return some;
}

/// 0, 1, 2 ... count - 1, or fewer of them.
inline std::vector<std::uint64_t> fewer_indices(std::uint64_t count) {
    std::vector<std::uint64_t> all(count);
    std::iota(all.begin(), all.end(), std::uint64_t{0});
    return fewer_cases(all);
}

/// Number of repetitions of a random or repeated test.
inline int fewer_times(int all) {
    return takes_fewer_cases() ? (all + 7) / 8 : all;
}

}  // namespace phy_test
