#include <array>
#include <cstddef>

#include "phy/reduce/block_roots.hpp"

#define PHY_KERNELS "phy/reduce/block_roots-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy::detail {
namespace {

using Erase = AnyFunction (*)(const BlockRoots&);
template <class... Ops>
constexpr auto erasing(TypeList<Ops...>) {
    return std::array<Erase, sizeof...(Ops)>{[](const BlockRoots& roots) {
        return reinterpret_cast<AnyFunction>(static_cast<const BlockRootOf<Ops>&>(roots).root);
    }...};
}

}  // namespace

AnyFunction built_in_block_root(std::size_t index, const Backend& backend) {
    static constexpr auto erase = erasing(BuiltInReductions());
    return erase[index](PHY_KERNELS_FOR(backend, BlockRoots));
}

}  // namespace phy::detail
