#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "phy/core/version.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "support/gpu.hpp"

namespace phy_test {

inline constexpr std::array all_orders = {phy::IssueOrder::sequential, phy::IssueOrder::parallel,
                                          phy::IssueOrder::serial};

inline phy::Host scalar_host() {
    return phy::Host({.backend = phy::Backend::scalar()});
}

/// The places of one pipeline.
struct PlaceSet {
    std::string name;
    std::vector<phy::Place> places;  ///< empty without such devices
    bool on_cuda = false;

    [[nodiscard]] bool is_cuda() const { return on_cuda; }
};

/// For gtest, which would print bytes.
inline void PrintTo(const PlaceSet& set, std::ostream* out) {  // NOLINT(readability-identifier-naming)
    *out << set.name;
}

/// Every pipeline test runs on each set. One CPU backend is enough, as FakeStage does not depend on it.
inline std::vector<PlaceSet> place_sets() {
    std::vector<PlaceSet> sets = {{"host", {scalar_host()}}};
    if constexpr (phy::built_with_cuda) {
        const std::vector<phy::gpu::Device> devices = phy::gpu::Device::all();
        const std::vector<phy::Place> all(devices.begin(), devices.end());
        const bool several = all.size() > 1;
        sets.push_back({"cuda", {all.begin(), all.begin() + (all.empty() ? 0 : 1)}, true});
        sets.push_back({"several_cuda", several ? all : std::vector<phy::Place>(), true});
    }
    return sets;
}

inline std::string name_of_set(const testing::TestParamInfo<PlaceSet>& info) {
    return info.param.name;
}

class OnPlaces : public testing::TestWithParam<PlaceSet> {
protected:
    void SetUp() override {
        if constexpr (phy::built_with_cuda) {
            if (!GetParam().is_cuda()) return;
            PHY_NEEDS_GPU();
            if (GetParam().places.empty()) GTEST_SKIP() << "there is one GPU only";
        }
    }

    static const std::vector<phy::Place>& places() { return GetParam().places; }
};

}  // namespace phy_test
