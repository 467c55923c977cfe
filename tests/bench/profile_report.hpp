#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/json.hpp"
#include "estimator/profile_loss.hpp"

/// What profile_bench has measured, in groups.
namespace phy::bench {

struct ProfileOptions {
    std::uint64_t seed = 0;
    int channels = 1000;  ///< per number of layers
    std::vector<int> layers = {1, 2, 4};
    std::vector<double> snr_db = {0.0, 10.0, 20.0, 30.0, 40.0, 45.0};
    std::pair<int, int> resource_blocks = {6, 273};
    int threads = 1;
};

/// A case at all SNRs of the options; none if the estimator refused the allocation.
struct ProfileOutcome {
    phy_test::ProfileCase drawn;
    std::vector<phy_test::ProfileLoss> losses;
};

apps::Json json_of(const ProfileOptions& options, const std::vector<ProfileOutcome>& outcomes,
                   double seconds);
std::string text_of(const ProfileOptions& options, const std::vector<ProfileOutcome>& outcomes);

/// One case, for people.
std::string text_of(const ProfileOptions& options, const ProfileOutcome& outcome);

}  // namespace phy::bench
