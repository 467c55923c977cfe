#include "phy/core/backend.hpp"

#include <algorithm>
#include <cstdlib>

#include "phy/core/error.hpp"
#include "phy/core/instruction_sets.hpp"

namespace phy {
namespace {

std::string list_names() {
    std::string names = "auto, cpu";
    for (const Backend& backend : Backend::all())
        names += ", " + backend.name();
    return names + ", cuda";
}

// "cuda" or "cuda[N]".
bool names_cuda(std::string_view name) {
    if (name == "cuda") return true;
    if (!name.starts_with("cuda[") || !name.ends_with("]")) return false;
    const std::string_view number = name.substr(5, name.size() - 6);
    return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

const detail::InstructionSet* find_instruction_set(std::string_view name) {
    const auto& sets = detail::instruction_sets;
    const auto found =
        std::find_if(sets.begin(), sets.end(), [&](const auto& set) { return set.name == name; });
    return found == sets.end() ? nullptr : &*found;
}

BackendError not_built_in(std::string_view name) {
    return BackendError("backend '" + std::string(name) + "' is not in this build of phy");
}

Backend fastest(std::string_view wanted, auto matches) {
    const auto& all = Backend::all();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Backend& b) { return matches(b) && b.supported(); });
    if (found == all.end()) {
        throw BackendError("backend '" + std::string(wanted) + "' does not run on this machine");
    }
    return *found;
}

}  // namespace

const std::vector<Backend>& Backend::all() {
    static const std::vector<Backend> backends = [] {
        std::vector<Backend> list;
        for (const auto& set : detail::instruction_sets) {
            if (set.built_in()) list.push_back({Kind::cpu, set.name, 0});
        }
        list.push_back(scalar());
        return list;
    }();
    return backends;
}

Backend Backend::best() {
    const char* forced = std::getenv("PHY_BACKEND");
    if (forced != nullptr && *forced != '\0' && std::string_view(forced) != "auto") {
        try {
            return parse(forced);
        } catch (const Error& error) {
            throw BackendError("environment variable PHY_BACKEND: " + std::string(error.what()));
        }
    }
    return fastest("auto", [](const Backend&) { return true; });
}

Backend Backend::parse(std::string_view name) {
    if (name == "auto") return best();
    if (name == "cpu") return fastest(name, [](const Backend& b) { return b.kind() == Kind::cpu; });
    if (names_cuda(name)) {
        throw not_built_in(name);
    }
    const auto is_named = [&](const Backend& b) { return b.name() == name; };
    if (std::none_of(all().begin(), all().end(), is_named)) {
        const bool of_cpu = name.starts_with("cpu[") && name.ends_with("]");
        if (of_cpu && find_instruction_set(name.substr(4, name.size() - 5)) != nullptr)
            throw not_built_in(name);
        throw ArgumentError("unknown backend '" + std::string(name) + "': expected one of " + list_names());
    }
    return fastest(name, is_named);
}

std::string Backend::name() const {
    switch (kind_) {
        case Kind::scalar:
            return "scalar";
        case Kind::cpu:
            return "cpu[" + std::string(instruction_set_) + "]";
        case Kind::cuda:
            break;
    }
    return "cuda[" + std::to_string(device_) + "]";
}

std::string Backend::description() const {
    if (kind_ == Kind::scalar) return "one number at a time, the reference";
    const auto* set = find_instruction_set(instruction_set_);
    return set == nullptr ? name() : std::string(set->description);
}

bool Backend::supported() const {
    if (kind_ == Kind::scalar) return true;
    const auto* set = find_instruction_set(instruction_set_);
    return set != nullptr && set->supported();
}

}  // namespace phy
