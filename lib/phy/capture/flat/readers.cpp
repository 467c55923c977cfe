#include "phy/capture/flat/readers.hpp"

#include <algorithm>
#include <new>
#include <system_error>

namespace phy::detail {

Readers::Readers(int threads) {
    try {
        // What throws once threads run leaves them waiting for calls, and the vector for them.
        threads_.reserve(static_cast<std::size_t>(std::max(threads, 1)) - 1);
        for (int i = 1; i < threads; ++i)
            threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
        // The caller can read alone.
    } catch (const std::bad_alloc&) {
        // So it can here.
    }
}

Readers::~Readers() {
    ends_ = true;
    ++calls_;
    calls_.notify_all();
}

void Readers::for_each(std::size_t pieces, const std::function<void(std::size_t)>& read) {
    read_ = &read;
    left_ = pieces;
    tickets_ = std::uint64_t{pieces} << 32;
    ++calls_;
    calls_.notify_all();
    read_pieces();
    for (std::size_t left = left_; left != 0; left = left_)
        left_.wait(left);
}

void Readers::work() {
    for (std::uint32_t seen = 0; !ends_;) {
        calls_.wait(seen);
        seen = calls_;
        read_pieces();
    }
}

void Readers::read_pieces() {
    for (;;) {
        const std::uint64_t ticket = tickets_++;
        const std::uint64_t piece = ticket & 0xFFFFFFFFU;
        if (piece >= ticket >> 32) return;
        (*read_)(piece);
        if (--left_ == 0) left_.notify_one();
    }
}

}  // namespace phy::detail
