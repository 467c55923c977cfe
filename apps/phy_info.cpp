#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/app.hpp"
#include "common/cuda_info.hpp"
#include "phy/phy.hpp"

namespace {

using phy::Backend;
using phy::apps::Json;

const char* state_of(const Backend& backend) {
    if (!backend.supported()) return "not on this machine";
    if (backend != Backend::best()) return "";
    return Backend::forced() ? "forced by PHY_BACKEND" : "best of the CPU";
}

std::string to_text() {
    std::string text =
        fmt::format("phy {}, {}\n", phy::version,
                    phy::built_with_cuda ? fmt::format("built with CUDA for {}", phy::cuda_architectures)
                                         : "built without CUDA");
    for (const Backend& backend : Backend::all())
        text += fmt::format("{:<14} {:<22} {}\n", backend.name(), state_of(backend), backend.description());
    return text;
}

Json cuda_json() {
    if constexpr (phy::built_with_cuda) return phy::apps::cuda_info();
    return {};
}

Json to_json() {
    std::vector<Json> backends;
    for (const Backend& backend : Backend::all())
        backends.push_back(Json::object({{"name", backend.name()},
                                         {"description", backend.description()},
                                         {"supported", backend.supported()}}));
    const auto forced = Backend::forced();
    return Json::object({{"phy_version", phy::version},
                         {"best", Backend::best().name()},
                         {"forced", forced ? Json(forced->name()) : Json()},
                         {"backends", Json::array(backends)},
                         {"cuda", cuda_json()}});
}

}  // namespace

int main(int argc, char** argv) {
    phy::apps::App app;
    app.name = "phy_info";
    app.summary = "Prints the version of phy, the backends that it has, and which of them run here.";
    app.examples = {{"phy_info", "backends, and which of them run here"},
                    {"phy_info --json", "the same for a script"}};
    app.body = [](const phy::apps::CommonOptions& common) { print_result(common, to_json(), to_text()); };
    return run_app(app, argc, argv);
}
