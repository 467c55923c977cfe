#pragma once

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <vector>

/// Under slow tools, such as compute-sanitizer, tests take fewer of the same cases: where the environment
/// variable PHY_TEST_FEWER_CASES is 1.
namespace phy_test {

inline bool takes_fewer_cases() {
    const char* value = std::getenv("PHY_TEST_FEWER_CASES");
    return value != nullptr && std::string_view(value) == "1";
}

/// All of them; where tests take fewer, of 8 and more an eighth and the last.
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

/// How often to do what is random or repeated.
inline int fewer_times(int all) {
    return takes_fewer_cases() ? (all + 7) / 8 : all;
}

}  // namespace phy_test
