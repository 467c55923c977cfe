#pragma once

#include <cstdlib>
#include <string>

#include "support/app_test.hpp"

namespace phy::test {

/// link_sim where it was built, or in the folder PHY_APPS_DIR of an installation.
inline std::string link_sim_program() {
    const char* const folder = std::getenv("PHY_APPS_DIR");
    return folder == nullptr ? LINK_SIM : folder + std::string("/link_sim");
}

/// The report of link_sim, which must succeed.
inline JsonValue simulate(Arguments arguments) {
    arguments.insert(arguments.begin(), link_sim_program());
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return parse_json(outcome.out);
}

using Points = JsonValue::Array;

/// The points of that report.
inline Points points(const Arguments& arguments) {
    return simulate(arguments)["points"].array();
}

}  // namespace phy::test
