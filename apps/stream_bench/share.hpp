#pragma once

#include <cstddef>
#include <span>

namespace phy::apps {

/// One of several shares of memory, in order, as equal as whole pages allow.
template <typename Byte>
std::span<Byte> share_of(std::span<Byte> all, std::size_t one, std::size_t several) {
    constexpr std::size_t page = 4096;
    const auto begin = [&](std::size_t share) {
        return share == several ? all.size() : all.size() / several * share / page * page;
    };
    return all.subspan(begin(one), begin(one + 1) - begin(one));
}

}  // namespace phy::apps
