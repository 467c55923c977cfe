#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "phy/dmrs/slot_allocation.hpp"
#include "transmission/channel_model.hpp"

/// Channels and allocations drawn at random, for measuring a channel estimator on profiles that it was not
/// tuned with.
namespace phy_test {

inline constexpr double profile_spacing = 30000.0;  ///< Hz; delays scale with it
/// A normal cyclic prefix, as a share of the useful symbol.
inline constexpr double prefix_share = 9.0 / 128.0;
/// In s.
inline constexpr double profile_prefix = prefix_share / profile_spacing;

/// sparse: 2 to 6 taps of any powers. late: a cluster stronger than the first path. precursor: a weak path
/// before a cluster. single: one tap. tdl: TDL-A, B or C of any delay spread that ends within a prefix. The
/// others end within half a prefix.
enum class ProfileKind { sparse, late, precursor, single, tdl };

inline constexpr ProfileKind all_profile_kinds[] = {
    ProfileKind::sparse, ProfileKind::late, ProfileKind::precursor, ProfileKind::single, ProfileKind::tdl};

std::string_view to_string(ProfileKind kind);

/// What a case is drawn from.
struct ProfileChoice {
    int layers = 1;
    std::vector<int> antennas = {1, 2, 4, 8, 16};  ///< one of these that is not below layers
    std::pair<int, int> resource_blocks = {6, 273};
    std::vector<ProfileKind> kinds = {std::begin(all_profile_kinds), std::end(all_profile_kinds)};
};

/// A channel and an allocation. Delays are relative to the FFT window and from -1/2 to 1/2 prefix.
struct ProfileCase {
    std::uint64_t seed = 0;
    ProfileKind kind = ProfileKind::sparse;
    phy::apps::ChannelModel channel;
    int antennas = 1;
    phy::SlotAllocation allocation;  ///< all of its carrier; data in a few symbols
};

/// The same seed and choice give the same case. Resource blocks are drawn log-uniformly; DM-RS have any type,
/// length and ports.
ProfileCase draw_profile(std::uint64_t seed, const ProfileChoice& choice);

/// For people: seed, channel, allocation.
std::string to_string(const ProfileCase& drawn);

}  // namespace phy_test
