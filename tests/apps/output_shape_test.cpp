#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/app_test.hpp"
#include "support/hdf5_file.hpp"
#include "support/test_files.hpp"

namespace phy::test {
namespace {

using Dimensions = std::vector<std::uint64_t>;

/// What demod_app writes of symbols, and in which dimensions.
class OutputShape : public AppTest {
protected:
    [[nodiscard]] std::string written(const std::string& capture, const Arguments& options) const {
        std::string output = path("out.h5");
        Arguments all = {capture, "-o", output, "--force", "--quiet"};
        all.insert(all.end(), options.begin(), options.end());
        demod(all);
        return output;
    }
};

TEST_F(OutputShape, IsThatOfTheSourceWhereAsked) {
    const std::string capture = path("c.h5");
    Hdf5File(capture)
        .reals("iq", {3, 14, 5, 2})
        .attribute("modulation", "64qam")
        .attribute("noise_variance", 0.01);
    const std::string flat = written(capture, {});
    EXPECT_EQ(read_dimensions(flat, "/llr"), (Dimensions{210, 6}));
    const std::vector<std::byte> soft_bits = read_dataset(flat, "/llr");
    const std::string kept = written(capture, {"--keep-shape", "--chunk", "17"});
    EXPECT_EQ(read_dimensions(kept, "/llr"), (Dimensions{3, 14, 5, 6}));
    EXPECT_EQ(read_dataset(kept, "/llr"), soft_bits);
    EXPECT_EQ(read_dimensions(written(capture, {"--keep-shape", "--hard"}), "/bits"),
              (Dimensions{3, 14, 5, 6}));
}

TEST_F(OutputShape, OfDecisionsIsThatOfSoftBitsWithTheirSigns) {
    const std::string capture =
        generate("c.h5", {"--modulation", "256qam", "--symbols", "3000", "--snr-db", "18", "--quiet"});
    std::vector<std::uint8_t> signs;
    const std::vector<std::byte> soft_bits = read_dataset(written(capture, {"--llr", "float32"}), "/llr");
    for (std::size_t n = 0; n < soft_bits.size(); n += sizeof(float)) {
        float value = 0.0F;
        std::memcpy(&value, soft_bits.data() + n, sizeof value);
        signs.push_back(value < 0.0F ? 1 : 0);
    }
    for (const Arguments& options :
         {Arguments{"--hard"}, {"--hard", "--llr", "float32"}, {"--hard", "--chunk", "77"}}) {
        const std::string file = written(capture, options);
        EXPECT_EQ(read_dimensions(file, "/bits"), (Dimensions{3000, 8}));
        const std::vector<std::byte> bits = read_dataset(file, "/bits");
        ASSERT_EQ(bits.size(), signs.size());
        EXPECT_EQ(std::memcmp(bits.data(), signs.data(), signs.size()), 0);
    }
}

TEST_F(OutputShape, OfDecisionsWithoutNoiseIsWhatWasSent) {
    const std::string capture = generate("c.h5", {"--modulation", "1024qam", "--symbols", "3000", "--snr-db",
                                                  "60", "--per-symbol-noise", "--quiet"});
    EXPECT_EQ(read_dataset(written(capture, {"--hard"}), "/bits"), read_dataset(capture, "/bits"));
}

TEST_F(OutputShape, OptionsAreForSymbols) {
    const std::string grid = data_file("pdsch_grid.h5");
    for (const std::string option : {"--hard", "--keep-shape", "--count-errors"})
        expect_failure({demod_app, grid, option}, 2, {option, "not for a capture of a grid"});
}

}  // namespace
}  // namespace phy::test
