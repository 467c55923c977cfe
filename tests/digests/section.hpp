#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "digests/signal.hpp"

/// digests.txt has the digests of phy's outputs when the file was made. To change outputs on purpose, make it
/// anew: with PHY_WRITE_DIGESTS=FILE in the environment the tests write FILE and compare nothing.
namespace phy_test {

using Digests = std::map<std::string, std::uint64_t>;

/// Empty without the file. Throws std::runtime_error if a line is not a name and a digest, or is out of
/// order.
Digests read_digests(const std::string& file);

/// From the file PHY_DIGESTS_FILE, else from the source tree.
const Digests& recorded_digests();

/// True if PHY_WRITE_DIGESTS is set.
bool writes_digests();

/// Compares or writes the lines that begin with a prefix. The same line may be added by several backends.
class Section {
public:
    explicit Section(std::string prefix);

    void add(const std::string& name, const Bytes& output, const std::string& way);

    /// For a test that adds all lines of the section. Writes them if digests are written.
    void finish();

    /// Lines that differ or are missing; empty if there are none.
    [[nodiscard]] std::string differences() const;

private:
    void complain(const std::string& what);

    std::string prefix_;
    Digests expected_;
    Digests added_;
    std::vector<std::string> complaints_;
};

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

}  // namespace phy_test

/// At the end of a test.
#define PHY_EXPECT_NO_DIFFERENCES(section)  \
    EXPECT_EQ((section).differences(), ""); \
    if (phy_test::writes_digests() && !HasFailure()) GTEST_SKIP() << "written"
