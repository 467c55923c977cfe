#include "phy/capture/flat/posix_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "support/temporary_directory.hpp"

namespace {

TEST(PosixFileTest, ThreadsReadTheBytesOfAFile) {
    const phy_test::TemporaryDirectory folder;
    const std::string path = (folder / "bytes").string();
    std::vector<char> written(5'000'003);
    std::mt19937 random(1);
    for (char& byte : written)
        byte = static_cast<char>(random());
    std::ofstream(path, std::ios::binary).write(written.data(), static_cast<std::streamsize>(written.size()));
    for (const int readers : {1, 2, 4}) {
        // One file each, as it keeps the threads that it begins with.
        const phy::detail::PosixFile file(path, O_RDONLY, 0, path);
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
        const phy::detail::PosixFile file(path, O_RDONLY, 0, path);
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
