#include <gtest/gtest.h>

#include <string>

#include "support/app_test.hpp"
#include "support/npz.hpp"
#include "support/test_files.hpp"

namespace {

using phy::test::AppTest;

/// A Python that has h5py, or nothing.
std::string python_with_h5py() {
    for (const char* const python : {"/usr/bin/python3", "python3"}) {
        try {
            if (phy::test::run({python, "-c", "import h5py, numpy"}).status == 0) return python;
        } catch (const std::runtime_error&) {
        }
    }
    return "";
}

/// Captures that h5py writes of what Sionna transmits and NumPy puts on the air, received by demod_app: the
/// script says what is checked.
TEST_F(AppTest, ReceivesRecordingsOfSionna) {
    const std::string python = python_with_h5py();
    if (python.empty()) GTEST_SKIP() << "no python3 with h5py was found";
    const phy::test::Outcome outcome =
        phy::test::run({python, phy::test::path_of("PHY_RECEIVE_VECTORS_SCRIPT", PHY_RECEIVE_VECTORS_SCRIPT),
                        demod_app, phy_test::vectors_directory(), "--only", "qpsk"});
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

}  // namespace
