#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace phy::detail {

/// One type per enumerator, in their order.
template <typename... Types>
struct TypeList {
    static constexpr std::size_t size = sizeof...(Types);
    static constexpr std::array<std::size_t, size> sizes = {sizeof(Types)...};

    template <std::size_t index>
    using At = std::tuple_element_t<index, std::tuple<Types...>>;

    template <typename T>
    static constexpr bool contains = (std::same_as<T, Types> || ...);

    template <typename T>
    static constexpr std::size_t index_of = [] {
        std::size_t index = 0;
        static_cast<void>(((std::same_as<T, Types> ? false : (++index, true)) && ...));
        return index;
    }();
};

/// The first count values of an enumeration whose values count from 0.
template <typename Enum, std::size_t count>
inline constexpr std::array<Enum, count> all_enumerators = [] {
    std::array<Enum, count> values{};
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<Enum>(i);
    return values;
}();

/// Returns visit(std::integral_constant<Enum, value>{}). The caller has checked that value is below count.
template <std::size_t count, typename Enum, typename Visitor>
constexpr decltype(auto) with_enumerator(Enum value, Visitor&& visit) {
    if constexpr (count == 1) {
        return visit(std::integral_constant<Enum, static_cast<Enum>(0)>());
    } else {
        constexpr auto last = static_cast<Enum>(count - 1);
        if (value == last) return visit(std::integral_constant<Enum, last>());
        return with_enumerator<count - 1>(value, std::forward<Visitor>(visit));
    }
}

}  // namespace phy::detail
