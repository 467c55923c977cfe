#include <gtest/gtest.h>

#include <set>

#include "phy/core/error.hpp"
#include "phy/dmrs/dmrs.hpp"

namespace {

TEST(DmrsPort, IsThatOfTheTables) {
    // Port, CDM group, delta, w_f(1), w_t(1).
    constexpr int type_1[][5] = {{0, 0, 0, 1, 1},  {1, 0, 0, -1, 1},  {2, 1, 1, 1, 1},  {3, 1, 1, -1, 1},
                                 {4, 0, 0, 1, -1}, {5, 0, 0, -1, -1}, {6, 1, 1, 1, -1}, {7, 1, 1, -1, -1}};
    constexpr int type_2[][5] = {{0, 0, 0, 1, 1},  {1, 0, 0, -1, 1},  {2, 1, 2, 1, 1},   {3, 1, 2, -1, 1},
                                 {4, 2, 4, 1, 1},  {5, 2, 4, -1, 1},  {6, 0, 0, 1, -1},  {7, 0, 0, -1, -1},
                                 {8, 1, 2, 1, -1}, {9, 1, 2, -1, -1}, {10, 2, 4, 1, -1}, {11, 2, 4, -1, -1}};
    const auto expect = [](int type, const int(&row)[5]) {
        const phy::DmrsPort port = phy::dmrs_port(type, row[0]);
        EXPECT_EQ(port.cdm_group, row[1]) << type << ", " << row[0];
        EXPECT_EQ(port.delta, row[2]) << type << ", " << row[0];
        EXPECT_EQ(port.in_frequency, (std::array{1, row[3]})) << type << ", " << row[0];
        EXPECT_EQ(port.in_time, (std::array{1, row[4]})) << type << ", " << row[0];
    };
    for (const auto& row : type_1)
        expect(1, row);
    for (const auto& row : type_2)
        expect(2, row);
}

TEST(DmrsPort, PortsOfAGroupAreOrthogonal) {
    for (const int type : {1, 2}) {
        const int ports = type == 1 ? 8 : 12;
        for (int a = 0; a < ports; ++a) {
            for (int b = 0; b < ports; ++b) {
                const phy::DmrsPort p = phy::dmrs_port(type, a);
                const phy::DmrsPort q = phy::dmrs_port(type, b);
                if (p.cdm_group != q.cdm_group) continue;
                int product = 0;
                for (std::size_t f = 0; f < 2; ++f) {
                    for (std::size_t t = 0; t < 2; ++t)
                        product += p.in_frequency[f] * p.in_time[t] * q.in_frequency[f] * q.in_time[t];
                }
                EXPECT_EQ(product, a == b ? 4 : 0) << type << ", " << a << ", " << b;
            }
        }
    }
}

TEST(PilotSubcarrier, IsThatOfTheClause) {
    // k = 4 n + 2 k' + delta and 6 n + k' + delta, for pilot 2 n + k'.
    for (const int type : {1, 2}) {
        std::set<int> all;
        const int groups = type == 1 ? 2 : 3;
        for (int group = 0; group < groups; ++group) {
            int i = 0;
            for (int n = 0; n < 12 / (type == 1 ? 4 : 6); ++n) {
                for (const int k : {0, 1}) {
                    const int expected = type == 1 ? 4 * n + 2 * k + group : 6 * n + k + 2 * group;
                    EXPECT_EQ(phy::pilot_subcarrier(type, group, i), expected);
                    all.insert(expected);
                    ++i;
                }
            }
            EXPECT_EQ(phy::pilots_per_resource_block(type), i);
        }
        EXPECT_EQ(all.size(), 12U);
    }
}

TEST(DmrsAmplitude, FollowsFromTheGroupsWithoutData) {
    EXPECT_EQ(phy::dmrs_amplitude({.cdm_groups_without_data = 1}), 1.0F);
    EXPECT_NEAR(phy::dmrs_amplitude({.cdm_groups_without_data = 2}), 1.412538, 1e-6);
    EXPECT_NEAR(phy::dmrs_amplitude({.cdm_groups_without_data = 3}), 1.731809, 1e-6);
    EXPECT_NEAR(phy::dmrs_amplitude({.power_db = 6.0F}), 1.995262, 1e-6);
    EXPECT_NEAR(phy::dmrs_amplitude({.power_db = -6.0F}), 0.501187, 1e-6);
}

TEST(DmrsPort, RefusesWhatIsNone) {
    EXPECT_THROW(phy::dmrs_port(0, 0), phy::ArgumentError);
    EXPECT_THROW(phy::dmrs_port(3, 0), phy::ArgumentError);
    EXPECT_THROW(phy::dmrs_port(1, -1), phy::ArgumentError);
    EXPECT_THROW(phy::dmrs_port(1, 8), phy::ArgumentError);
    EXPECT_THROW(phy::dmrs_port(2, 12), phy::ArgumentError);
    EXPECT_THROW(phy::pilots_per_resource_block(0), phy::ArgumentError);
    EXPECT_THROW(phy::pilot_subcarrier(3, 0, 0), phy::ArgumentError);
    EXPECT_THROW(phy::dmrs_amplitude({.cdm_groups_without_data = 0}), phy::ArgumentError);
    EXPECT_THROW(phy::dmrs_amplitude({.cdm_groups_without_data = 4}), phy::ArgumentError);
}

}  // namespace
