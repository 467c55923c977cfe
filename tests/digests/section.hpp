#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "digests/signal.hpp"

/// digests.txt: the digests of what phy wrote when the file was made. Whoever means to change what phy writes
/// makes it anew: with the environment variable PHY_WRITE_DIGESTS=FILE the tests write FILE and compare
/// nothing.
namespace phy_test {

using Digests = std::map<std::string, std::uint64_t>;

/// Empty if there is no such file. Throws std::runtime_error where a line is not a name and a digest, or out
/// of order.
Digests read_digests(const std::string& file);

/// The file that PHY_DIGESTS_FILE names, else the one of the source tree.
const Digests& recorded_digests();

/// Where PHY_WRITE_DIGESTS is set.
bool writes_digests();

/// The lines that begin with a prefix: compared, or written. Several ways to get the same bytes may be added.
class Section {
public:
    explicit Section(std::string prefix);

    void add(const std::string& name, const Bytes& output, const std::string& way);

    /// For a test that adds all lines of the section. Writes them, where digests are written.
    void finish();

    /// Lines that differ or lack; empty if all is well.
    [[nodiscard]] std::string differences() const;

private:
    void complain(const std::string& what);

    std::string prefix_;
    Digests expected_;
    Digests added_;
    std::vector<std::string> complaints_;
};

}  // namespace phy_test

/// At the end of a test.
#define PHY_EXPECT_NO_DIFFERENCES(section)  \
    EXPECT_EQ((section).differences(), ""); \
    if (phy_test::writes_digests() && !HasFailure()) GTEST_SKIP() << "written"
