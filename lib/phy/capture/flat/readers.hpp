#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace phy::detail {

/// Threads that read pieces of a file together, the caller among them. For one caller at a time.
class Readers {
public:
    /// As many as can be started.
    explicit Readers(int threads);
    ~Readers();
    Readers(const Readers&) = delete;  // threads refer to it
    Readers& operator=(const Readers&) = delete;

    /// Calls read(piece) once for every piece and returns when all have returned. It must not throw. Threads
    /// that wake up late are not waited for.
    void for_each(std::size_t pieces, const std::function<void(std::size_t)>& read);

private:
    void work();
    void read_pieces();

    const std::function<void(std::size_t)>* read_ = nullptr;

    /// Pieces of the call, then which is next, 32 bits each: who takes a piece knows that its call still
    /// runs.
    std::atomic<std::uint64_t> tickets_ = 0;
    std::atomic<std::size_t> left_ = 0;
    std::atomic<std::uint32_t> calls_ = 0;
    std::atomic<bool> ends_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace phy::detail
