#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/app.hpp"
#include "phy/phy.hpp"

namespace {

using phy::Backend;
using phy::apps::Json;

std::string to_text() {
    const std::string best = Backend::best().name();
    std::string text = fmt::format("phy {}\n", phy::version);
    for (const Backend& backend : Backend::all()) {
        const char* state = !backend.supported()     ? "not on this machine"
                            : backend.name() == best ? "best"
                                                     : "";
        text += fmt::format("{:<14} {:<20} {}\n", backend.name(), state, backend.description());
    }
    return text;
}

Json to_json() {
    std::vector<Json> backends;
    for (const Backend& backend : Backend::all())
        backends.push_back(Json::object({{"name", backend.name()},
                                         {"description", backend.description()},
                                         {"supported", backend.supported()}}));
    return Json::object(
        {{"version", phy::version}, {"best", Backend::best().name()}, {"backends", Json::array(backends)}});
}

}  // namespace

int main(int argc, char** argv) {
    phy::apps::App app;
    app.name = "phy_info";
    app.summary = "Prints the version of phy, the backends that it has, and which of them run here.";
    app.body = [](const phy::apps::CommonOptions& common) { print_result(common, to_json(), to_text()); };
    return run_app(app, argc, argv);
}
