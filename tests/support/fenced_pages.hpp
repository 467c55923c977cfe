#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace phy_test {

/// Memory between two pages that may be neither read nor written: an access ends the test with a segmentation
/// fault.
class FencedPages {
public:
    explicit FencedPages(std::size_t capacity)
        : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), pages_((capacity + page_ - 1) / page_) {
        void* memory = mmap(nullptr, (pages_ + 2) * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        memory_ = static_cast<std::byte*>(memory);
        if (mprotect(memory_ + page_, pages_ * page_, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    }
    ~FencedPages() { munmap(memory_, (pages_ + 2) * page_); }
    FencedPages(const FencedPages&) = delete;
    FencedPages& operator=(const FencedPages&) = delete;

    [[nodiscard]] std::byte* after_fence() const { return memory_ + page_; }
    [[nodiscard]] std::byte* before_fence(std::size_t size) const {
        return memory_ + (pages_ + 1) * page_ - size;
    }

private:
    std::size_t page_;
    std::size_t pages_;
    std::byte* memory_;
};

}  // namespace phy_test
