#include <string>

#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"
#include "support/test_files.hpp"

/// Options go before what a capture says, even where that cannot be read.
namespace phy::test {
namespace {

class OptionOrder : public AppTest {
protected:
    /// A demodulation that fails with these words, or none: then it succeeds.
    void expect(const std::string& file, const Arguments& options,
                const std::vector<std::string>& words) const {
        Arguments command = {demod_app, file, "--quiet", "--backend", "scalar"};
        command.insert(command.end(), options.begin(), options.end());
        if (!words.empty()) return expect_failure(command, 1, words);
        const Outcome outcome = run(command);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
    }
};

TEST_F(OptionOrder, SymbolsWhoseAttributesAreOfOtherTypes) {
    Hdf5File(path("a.h5"))
        .reals("iq", {200, 2}, 0.7F)
        .reals("noise_variance", {3})
        .attribute("modulation", 16.0)
        .attribute("noise_variance", std::string("low"));
    expect(path("a.h5"), {"--noise-variance", "0.1"}, {"attribute modulation"});
    expect(path("a.h5"), {"--modulation", "qpsk"}, {"noise_variance"});
    expect(path("a.h5"), {"--modulation", "qpsk", "--noise-variance", "0.1"}, {});
}

TEST_F(OptionOrder, NoiseThatIsEstimated) {
    Hdf5File(path("a.h5"))
        .reals("iq", {200, 2}, 0.7F)
        .reals("noise_variance", {3})
        .attribute("modulation", std::string("16qam"))
        .attribute("noise_variance", std::string("low"));
    expect(path("a.h5"), {}, {"noise_variance"});
    expect(path("a.h5"), {"--noise-variance", "estimate"}, {});
}

TEST_F(OptionOrder, LinkThatIsNoText) {
    Hdf5File(path("grid.h5")).reals("grid", {14, 132, 2}).attribute("link", 1.0);
    expect(path("grid.h5"), {}, {"attribute link", "one string"});
    expect(path("grid.h5"), {"--link", path("none.json")}, {"none.json"});
    expect(path("grid.h5"), {"--link", data_file("pdsch.json")}, {"grid.h5", "layers"});
}

TEST_F(OptionOrder, AllThatIsMissingIsNamedAtOnce) {
    Hdf5File(path("bare.h5")).reals("iq", {200, 2}, 0.7F);
    const std::string file = path("bare.h5");
    expect(file, {}, {"modulation", "noise_variance", "--modulation", "--noise-variance"});
    const auto without = [&](const Arguments& options, const std::string& word) {
        Arguments command = {demod_app, file};
        command.insert(command.end(), options.begin(), options.end());
        const Outcome outcome = run(command);
        EXPECT_EQ(outcome.status, 1);
        EXPECT_EQ(outcome.err.find(word), std::string::npos) << outcome.err;
    };
    without({"--modulation", "qpsk"}, "modulation");
    without({"--noise-variance", "1"}, "noise");
    without({"--noise-variance", "estimate"}, "noise");
}

}  // namespace
}  // namespace phy::test
