// The blocks of built-in operators, compiled for every instruction set. The code has no vectors of its own:
// the compiler makes them, as wide as they may be.

#include <array>
#include <cstddef>

#include "phy/reduce/reduce_block.hpp"
#include "phy/reduce/reduce_built_in.hpp"
#include "phy/simd/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/reduce/reduce_targets.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef PHY_MEASURE_BLOCK_ROOTS
#define PHY_MEASURE_BLOCK_ROOTS
namespace phy::detail {

template <class Op>
struct BlockRootOf {
    BlockRoot<Op> root;
};

template <class List>
struct BlockRootsOf;
template <class... Ops>
struct BlockRootsOf<TypeList<Ops...>> : BlockRootOf<Ops>... {};

using BlockRoots = BlockRootsOf<BuiltInReductions>;

}  // namespace phy::detail
#endif

#if PHY_IS_SIMD_TARGET
HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
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

}  // namespace

extern constinit const BlockRoots block_roots_of_target;
constinit const BlockRoots block_roots_of_target = make_block_roots(BuiltInReductions());

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {
namespace {

template <class Op>
typename Op::Node root_of_scalar(const Op& op, const typename Op::Element* in, std::size_t count,
                                 std::uint64_t first) {
    return block_root(op, in, count, first);
}

template <class... Ops>
constexpr BlockRootsOf<TypeList<Ops...>> make_scalar_block_roots(TypeList<Ops...>) {
    return {BlockRootOf<Ops>{&root_of_scalar<Ops>}...};
}
constexpr BlockRoots scalar_block_roots = make_scalar_block_roots(BuiltInReductions());

using Erase = AnyFunction (*)(const BlockRoots&);
template <class... Ops>
constexpr auto erasing(TypeList<Ops...>) {
    return std::array<Erase, sizeof...(Ops)>{[](const BlockRoots& roots) {
        return reinterpret_cast<AnyFunction>(static_cast<const BlockRootOf<Ops>&>(roots).root);
    }...};
}

}  // namespace

AnyFunction built_in_block_root(std::size_t index, const Backend& backend) {
    static constexpr KernelsByTarget<BlockRoots> by_target = PHY_ADDRESSES_BY_TARGET(block_roots_of_target);
    static constexpr auto erase = erasing(BuiltInReductions());
    return erase[index](kernels_of(backend, scalar_block_roots, by_target));
}

}  // namespace phy::detail
#endif
