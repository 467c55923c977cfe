#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/subprocess.hpp"
#include "support/temporary_directory.hpp"

// LLVMFuzzerTestOneInput() of each target: in this program each is called as its file is.
extern "C" {
int fuzz_capture(const std::uint8_t* data, std::size_t size);
int fuzz_damaged(const std::uint8_t* data, std::size_t size);
int fuzz_hdf5(const std::uint8_t* data, std::size_t size);
int fuzz_link(const std::uint8_t* data, std::size_t size);
int fuzz_npy(const std::uint8_t* data, std::size_t size);
int fuzz_options(const std::uint8_t* data, std::size_t size);
int fuzz_sigmf(const std::uint8_t* data, std::size_t size);
}

/// Seeds, and cases in which fuzzing found a fault, which end the program or throw where a fault is.
namespace {

struct Target {
    std::string name;
    int (*run)(const std::uint8_t*, std::size_t);
};

std::filesystem::path fuzz_folder() {
    const char* const installed = std::getenv("PHY_FUZZ_DIRECTORY");
    return installed == nullptr ? PHY_FUZZ_DIRECTORY : installed;
}

/// Runs the target on every file, and returns how many there are.
int replay(const Target& target, const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    if (std::filesystem::exists(folder))
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            files.push_back(entry.path());
    std::ranges::sort(files);
    for (const auto& path : files) {
        SCOPED_TRACE(path.string());
        std::ifstream file(path, std::ios::binary);
        const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
        EXPECT_NO_THROW(target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    }
    return static_cast<int>(files.size());
}

std::string python_with_h5py() {
    for (const char* const python : {"python3", "/usr/bin/python3"}) {
        if (phy::test::run({"/bin/sh", "-c", std::string(python) + " -c 'import h5py'"}).status == 0)
            return python;
    }
    return "";
}

class Replay : public testing::TestWithParam<Target> {};

TEST_P(Replay, FoundCases) {
    replay(GetParam(), fuzz_folder() / "found" / GetParam().name);
}

TEST_P(Replay, Seeds) {
    const std::string python = python_with_h5py();
    if (python.empty()) {
        const char* const required = std::getenv("PHY_REQUIRE_H5PY");
        if (required != nullptr && std::string(required) == "1") FAIL() << "no python3 with h5py was found";
        GTEST_SKIP() << "no python3 with h5py was found";
    }
    const phy_test::TemporaryDirectory seeds;
    const auto made = phy::test::run(
        {"/usr/bin/env", python, (fuzz_folder() / "make_seeds.py").string(), seeds.path().string()});
    ASSERT_EQ(made.status, 0) << made.err;
    EXPECT_GE(replay(GetParam(), seeds / GetParam().name), 5);
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, Replay,
                         testing::Values(Target{"capture", fuzz_capture}, Target{"damaged", fuzz_damaged},
                                         Target{"hdf5", fuzz_hdf5}, Target{"link", fuzz_link},
                                         Target{"npy", fuzz_npy}, Target{"options", fuzz_options},
                                         Target{"sigmf", fuzz_sigmf}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
