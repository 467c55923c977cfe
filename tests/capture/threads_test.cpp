#include <gtest/gtest.h>

#include <hdf5.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "phy/capture/capture.hpp"
#include "support/temporary_directory.hpp"

// The linker is told to call these in place of the library's.
namespace {

std::atomic<bool> is_thread_safe = true;
std::atomic<int> reading = 0;
std::atomic<int> max_reading = 0;

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names are the linker's.
extern "C" {

herr_t __real_H5Dread(hid_t, hid_t, hid_t, hid_t, hid_t, void*);

herr_t __wrap_H5is_library_threadsafe(hbool_t* result) {
    *result = is_thread_safe;
    return 0;
}

herr_t __wrap_H5Dread(hid_t dataset, hid_t type, hid_t memory, hid_t space, hid_t properties,
                      void* elements) {
    const int now = ++reading;
    int most = max_reading;
    while (most < now && !max_reading.compare_exchange_weak(most, now)) {
    }
    // Long enough for another thread to come.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const herr_t result = __real_H5Dread(dataset, type, memory, space, properties, elements);
    --reading;
    return result;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace {

constexpr std::size_t symbols = 20000;

/// Packed, so that the library reads it.
void write_capture(const std::filesystem::path& file) {
    phy::CaptureWriter writer(
        file, {.symbols = symbols, .layout = phy::CaptureLayout::gzip, .noise_variance = 0.1F});
    std::vector<phy::cf32> samples(symbols);
    for (std::size_t i = 0; i < symbols; ++i)
        samples[i] = {static_cast<float>(i), -static_cast<float>(i)};
    writer.append(std::span<const phy::cf32>(samples));
    writer.commit();
}

/// Opens, reads and closes the capture again and again; counts symbols that are wrong.
std::size_t mistakes_of(const std::filesystem::path& file) {
    std::size_t mistakes = 0;
    for (int round = 0; round < 10; ++round) {
        phy::CaptureReader reader(file);
        std::vector<phy::cf32> samples(symbols);
        reader.read(0, std::span(samples));
        for (std::size_t i = 0; i < symbols; ++i)
            mistakes += samples[i] == phy::cf32{static_cast<float>(i), -static_cast<float>(i)} ? 0 : 1;
    }
    return mistakes;
}

/// How many threads were in the library at the same time, while four read captures of their own.
int max_at_once() {
    const phy_test::TemporaryDirectory directory;
    std::atomic<std::size_t> mistakes = 0;
    max_reading = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&, file = directory / std::to_string(i)] {
                write_capture(file);
                mistakes += mistakes_of(file);
            });
    }
    EXPECT_EQ(mistakes, 0U);
    return max_reading;
}

TEST(CaptureThreads, GoIntoAThreadSafeLibraryTogether) {
    is_thread_safe = true;
    EXPECT_GT(max_at_once(), 1);
}

TEST(CaptureThreads, TakeTurnsInALibraryThatIsNotThreadSafe) {
    is_thread_safe = false;
    EXPECT_EQ(max_at_once(), 1);
    is_thread_safe = true;
}

}  // namespace
