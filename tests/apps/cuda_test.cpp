#include <string>

#include "support/app_test.hpp"
#include "support/gpu.hpp"

namespace phy::test {
namespace {

class Cuda : public AppTest {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    /// The report of demod_app without what differs by nature, for comparing.
    static std::string counts(const JsonValue& report) {
        std::string result;
        for (const std::string name : {"symbols", "soft_bits", "erasures", "saturated", "bit_errors"})
            result += name + " " + std::to_string(report[name].number()) + " ";
        return result;
    }

    void expect_same_bytes(const std::string& capture, const Arguments& options) const {
        const auto with = [&options](Arguments backend) {
            backend.insert(backend.end(), options.begin(), options.end());
            return backend;
        };
        const auto scalar = soft_bits(capture, with({"--backend", "scalar"}));
        EXPECT_FALSE(scalar.empty());
        EXPECT_EQ(soft_bits(capture, with({"--backend", "cuda"})), scalar);
        EXPECT_EQ(soft_bits(capture, with({"--backend", "cuda[0]", "--chunk", "5003"})), scalar);
        EXPECT_EQ(counts(demod_json(with({capture, "--device", "0", "--chunk", "5003"}))),
                  counts(demod_json(with({capture, "--backend", "scalar"}))));
    }
};

/// As capture_gen made the sample captures of data/.
const std::vector<Arguments> sample_captures = {
    {"--modulation", "256qam", "--symbols", "38880", "--snr-db", "28"},
    {"--modulation", "64qam", "--symbols", "38880", "--snr-db", "22", "--per-symbol-noise", "--layout",
     "gzip"},
    {"--modulation", "qpsk", "--symbols", "38880", "--snr-db", "8", "--type", "ci16"}};

TEST_F(Cuda, WritesTheBytesOfTheScalarReference) {
    for (Arguments how : sample_captures) {
        how.insert(how.end(), {"--quiet", "--force"});
        const std::string capture = generate("c.h5", how);
        for (const std::string method : {"maxlog", "logmap"}) {
            for (const std::string evaluator : {"auto", "arithmetic", "table"}) {
                SCOPED_TRACE(how[1] + " " + method + " " + evaluator);
                expect_same_bytes(capture, {"--method", method, "--evaluator", evaluator});
            }
        }
        for (const std::string llr : {"float16", "float32"}) {
            SCOPED_TRACE(how[1] + " " + llr);
            expect_same_bytes(capture, {"--llr", llr});
        }
    }
}

TEST_F(Cuda, KeepsTheParityOfTheRotationAcrossChunks) {
    expect_same_bytes(generate("c.h5", {"--modulation", "pi2-bpsk", "--symbols", "20001", "--quiet"}), {});
}

TEST_F(Cuda, ReportsBackendAndDevice) {
    const std::string capture = generate("c.h5", {"--modulation", "16qam", "--symbols", "1000", "--quiet"});
    const Arguments variable = {"PHY_BACKEND=cuda"};
    const gpu::Device device;
    for (const JsonValue& report :
         {demod_json({capture, "--backend", "cuda"}), demod_json({capture}, variable),
          demod_json({capture, "--device", "0"})}) {
        EXPECT_EQ(report["backend"].string(), "cuda[0]");
        EXPECT_EQ(report["device"].string(), device.name());
    }
}

TEST_F(Cuda, PhyInfoListsTheDevices) {
    const JsonValue info = parse_json(run({phy_info, "--json"}).out);
    const auto devices = gpu::Device::all();
    ASSERT_EQ(info["cuda"]["devices"].array().size(), devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const JsonValue& listed = info["cuda"]["devices"].array()[i];
        EXPECT_EQ(listed["ordinal"].number(), devices[i].ordinal());
        EXPECT_EQ(listed["name"].string(), devices[i].name());
        EXPECT_EQ(listed["compute_capability"].number(), devices[i].compute_capability());
        EXPECT_EQ(listed["multiprocessors"].number(), devices[i].multiprocessors());
        EXPECT_EQ(listed["memory_bytes"].number(), static_cast<double>(devices[i].memory()));
    }
}

class WithoutCuda : public AppTest {};

TEST_F(WithoutCuda, PhyInfoSaysWhy) {
    if (!gpu::Device::all().empty()) GTEST_SKIP() << "there is a device";
    const JsonValue cuda = parse_json(run({phy_info, "--json"}).out)["cuda"];
    EXPECT_FALSE(cuda["architectures"].array().empty());
    EXPECT_TRUE(cuda["devices"].array().empty());
    EXPECT_EQ(cuda["why_not"].string(), gpu::Device::why_not());
}

}  // namespace
}  // namespace phy::test
