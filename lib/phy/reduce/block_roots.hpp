#pragma once

#include "phy/reduce/block.hpp"
#include "phy/reduce/reduce_built_in.hpp"

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
