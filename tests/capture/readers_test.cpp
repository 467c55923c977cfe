#include "phy/capture/flat/readers.hpp"

#include <fcntl.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/core/error.hpp"
#include "support/temporary_directory.hpp"

namespace {

/// Calls follow each other at once, so that threads come late to one and meet the next.
TEST(ReadersTest, EveryPieceIsReadOnce) {
    for (const int threads : {1, 2, 4, 7}) {
        phy::detail::Readers readers(threads);
        for (std::size_t call = 0; call < 20'000; ++call) {
            const std::size_t pieces = call % 9;
            std::vector<std::atomic<int>> reads(pieces);
            readers.for_each(pieces, [&](std::size_t piece) { ++reads[piece]; });
            for (const std::atomic<int>& each : reads)
                ASSERT_EQ(each, 1) << "call " << call << ", " << threads << " threads";
        }
    }
}

TEST(ReadersTest, ReadTheBytesOfAFile) {
    const phy_test::TemporaryDirectory folder;
    const std::string path = (folder / "bytes").string();
    std::vector<char> written(5'000'003);
    std::mt19937 random(1);
    for (char& byte : written)
        byte = static_cast<char>(random());
    std::ofstream(path, std::ios::binary).write(written.data(), static_cast<std::streamsize>(written.size()));
    for (const int readers : {1, 2, 4}) {
        // One file each, as it keeps the threads that it begins with.
        const phy::hdf5::PosixFile file(path, O_RDONLY, 0, path);
        for (const std::size_t offset : {0U, 1U, 4096U, 777'777U}) {
            for (const std::size_t size : {0U, 5U, 600'000U, 1U << 20U, 4'000'001U}) {
                std::vector<std::byte> read(size);
                file.read_at(offset, read, readers);
                const auto expected = std::as_bytes(std::span(written).subspan(offset, size));
                EXPECT_TRUE(std::ranges::equal(read, expected)) << offset << ", " << size << ", " << readers;
            }
        }
    }
    std::vector<std::byte> beyond(written.size() + 1'000'000);
    for (const int readers : {1, 4}) {
        const phy::hdf5::PosixFile file(path, O_RDONLY, 0, path);
        try {
            file.read_at(0, beyond, readers);
            ADD_FAILURE() << "no error";
        } catch (const phy::FileError& error) {
            EXPECT_NE(std::string(error.what()).find("ends at byte 5000003"), std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
