#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "phy/core/backend.hpp"
#include "phy/machine/host.hpp"
#include "phy/reduce/reduce_rows.hpp"

namespace phy_test {

/// The host backends of this machine.
inline std::vector<phy::Backend> host_backends() {
    std::vector<phy::Backend> backends;
    for (const phy::Backend& backend : phy::Backend::all()) {
        if (backend.kind() != phy::Backend::Kind::cuda && backend.supported()) backends.push_back(backend);
    }
    return backends;
}

/// The results, computed in memory of the exact sizes with other bytes in it.
template <class Op>
std::vector<typename Op::Result> reduced(const phy::Host& host, std::span<const typename Op::Element> in,
                                         std::size_t rows, const Op& op = {}) {
    using Result = typename Op::Result;
    const std::size_t length = rows == 0 ? 0 : in.size() / rows;
    std::vector<Result> out(rows);
    if (rows > 0) std::memset(static_cast<void*>(out.data()), 0x5A, rows * sizeof(Result));
    std::vector<std::byte> workspace(phy::reduce_rows_workspace_bytes<Op>(rows, length), std::byte{0xA5});
    phy::reduce_rows(host, in, rows, std::span(out), workspace, op);
    return out;
}

}  // namespace phy_test
