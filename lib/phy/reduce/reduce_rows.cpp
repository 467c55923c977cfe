#include "phy/machine/thread_pool.hpp"
#include "phy/reduce/reduce_host.hpp"

namespace phy::detail {

void share_items(const Host& host, std::size_t items,
                 void (*work)(const void* job, std::size_t item) noexcept, const void* job) {
    host.pool().for_each(items, [=](int /*part*/, std::size_t item) noexcept { work(job, item); });
}

}  // namespace phy::detail
