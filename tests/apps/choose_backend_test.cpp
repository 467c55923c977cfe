#include <optional>
#include <string>

#include "common/places.hpp"
#include "phy/core/backend.hpp"
#include "phy/core/version.hpp"
#include "phy/cuda/device.hpp"
#include "support/app_test.hpp"

namespace phy::test {
namespace {

class ChooseBackend : public AppTest {
protected:
    const std::string capture_ = generate("c.h5", {"--modulation", "64qam", "--symbols", "1000", "--quiet"});

    static std::optional<Backend> first_device() { return first(true); }
    static Backend fastest_of_host() { return first(false).value(); }

    void expect_no_backend(const Arguments& options, const std::vector<std::string>& words,
                           const Arguments& environment = {}) const {
        Arguments command = {demod_app, capture_, "-o", path("out.h5")};
        command.insert(command.end(), options.begin(), options.end());
        expect_failure(command, 3, words, environment);
    }

    /// What "auto" prints if it takes the CPU.
    static std::string warning_of(const std::string& cpu) {
        if constexpr (built_with_cuda) {
            const std::string warning =
                apps::cpu_warning(gpu::Device::installed(), Backend::all().front().description(), cpu);
            return warning.empty() ? "" : "demod_app: warning: " + warning + "\n";
        }
        return "";
    }

private:
    static std::optional<Backend> first(bool cuda) {
        for (const Backend& backend : Backend::all()) {
            if ((backend.kind() == Backend::Kind::cuda) == cuda && backend.supported()) return backend;
        }
        return std::nullopt;
    }
};

TEST(CpuWarning, IsOfAGpuThatIsInstalled) {
    EXPECT_EQ(apps::cpu_warning(false, "no NVIDIA GPU", "cpu[avx2]"), "");
    EXPECT_EQ(
        apps::cpu_warning(true, "no CUDA driver", "cpu[avx2]"),
        "this machine has an NVIDIA GPU that cannot be used: no CUDA driver. Using cpu[avx2] (--backend "
        "cpu avoids this warning)");
}

TEST_F(ChooseBackend, AutoIsCudaOrElseTheCpu) {
    const std::string cpu = fastest_of_host().name();
    for (const Arguments& environment : {Arguments{"PHY_BACKEND="}, Arguments{"PHY_BACKEND=auto"}}) {
        const Outcome outcome = demod({capture_, "--json"}, environment);
        const JsonValue report = parse_json(outcome.out);
        EXPECT_EQ(report["device"].is_null(), !first_device());
        EXPECT_EQ(report["backend"].string(), first_device() ? first_device()->name() : cpu);
        EXPECT_EQ(outcome.err, first_device() ? "" : warning_of(cpu));
        EXPECT_EQ(demod({capture_, "--quiet"}, environment).err, "");
        EXPECT_EQ(demod({capture_, "--backend", "scalar"}, environment).err, "");
    }
}

TEST_F(ChooseBackend, AutoWarnsOfNothingWhereTheVariableDecides) {
    EXPECT_EQ(demod({capture_}, {"PHY_BACKEND=scalar"}).err, "");
    EXPECT_EQ(demod({capture_, "--backend", "scalar"}, {"PHY_BACKEND=cuda[9999]"}).err, "");
}

TEST_F(ChooseBackend, CudaThatIsNotThereIsRefused) {
    expect_no_backend({"--backend", "cuda[9999]"}, {"cuda[9999]"});
    expect_no_backend({"--device", "9999"}, {"--device 9999:", "cuda[9999]"});
    expect_no_backend({"--backend", "cuda", "--device", "9999"}, {"--device 9999:", "cuda[9999]"});
    expect_no_backend({}, {"PHY_BACKEND", "cuda[9999]"}, {"PHY_BACKEND=cuda[9999]"});
    expect_failure({measure_app, capture_}, 3, {"PHY_BACKEND", "cuda[9999]"}, {"PHY_BACKEND=cuda[9999]"});
    if (first_device()) return;
    expect_no_backend({"--backend", "cuda"},
                      {"'cuda'", built_with_cuda ? "not run" : "without CUDA", "phy_info"});
    expect_no_backend({"--device", "0"}, {"--device 0:", "cuda[0]"});
    expect_no_backend({}, {"PHY_BACKEND", "cuda"}, {"PHY_BACKEND=cuda"});
}

TEST_F(ChooseBackend, TheVariableMayNameADeviceWhereCapturesAreMeasured) {
    const auto measured = [&](Arguments options, const Arguments& environment) {
        options.insert(options.begin(), {capture_, "--by", "100"});
        const JsonValue report = measure_json(options, environment);
        std::vector<double> numbers = {report["gain"].number(), report["noise_variance"].number()};
        for (const JsonValue& row : report["rows"]["noise_variance"].array())
            numbers.push_back(row.number());
        return numbers;
    };
    const auto estimated = [&](Arguments options, const Arguments& environment) {
        options.insert(options.begin(), {capture_, "--gain", "auto", "--noise-variance", "estimate"});
        const JsonValue report = demod_json(options, environment);
        return std::vector{report["divided_by"].number(), report["noise_variance"].number(),
                           report["bit_errors"].number()};
    };
    const Arguments scalar = {"--backend", "scalar"};
    const Arguments sent = {"--backend", "scalar", "--reference", "sent"};
    const std::vector<double> by_decisions = measured(scalar, {});
    const std::vector<double> by_bits = measured(sent, {});
    const std::vector<double> estimate = estimated(scalar, {});
    for (const Arguments& environment :
         {Arguments{"PHY_BACKEND=cuda"}, Arguments{"PHY_BACKEND=cuda[9999]"}}) {
        SCOPED_TRACE(environment.front());
        EXPECT_EQ(measured(scalar, environment), by_decisions);
        EXPECT_EQ(measured(sent, environment), by_bits);
        EXPECT_EQ(estimated(scalar, environment), estimate);
    }
    if (!first_device()) return;
    const Arguments cuda = {"PHY_BACKEND=cuda"};
    EXPECT_EQ(measured({}, cuda), by_decisions);
    EXPECT_EQ(measured({"--reference", "sent"}, cuda), by_bits);
    EXPECT_EQ(estimated({}, cuda), estimate);
}

TEST_F(ChooseBackend, ADeviceAndAnotherBackendDoNotGoTogether) {
    for (const std::string backend : {"cpu", "scalar", "cuda[1]"})
        expect_failure({demod_app, capture_, "-o", path("out.h5"), "--device", "0", "--backend", backend}, 2,
                       {"--device 0:", backend});
}

}  // namespace
}  // namespace phy::test
