// The blocks of built-in operators. The code has no vectors of its own: the compiler vectorises it.
#if defined(PHY_REDUCE_BLOCK_ROOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_REDUCE_BLOCK_ROOTS_INL_H_
#undef PHY_REDUCE_BLOCK_ROOTS_INL_H_
#else
#define PHY_REDUCE_BLOCK_ROOTS_INL_H_
#endif

#include "phy/reduce/block.hpp"
#include "phy/reduce/block_roots.hpp"
#include "phy/simd/target-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

template <class Op>
typename Op::Node root_on_target(const Op& op, const typename Op::Element* in, std::size_t count,
                                 std::uint64_t first) {
    return block_root(op, in, count, first);
}

template <class... Ops>
constexpr BlockRootsOf<TypeList<Ops...>> make_block_roots(TypeList<Ops...>) {
    return {BlockRootOf<Ops>{&root_on_target<Ops>}...};
}

constexpr BlockRoots kernels = make_block_roots(BuiltInReductions());

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
