#include "phy/core/backend.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <optional>

#include "phy/core/error.hpp"
#include "phy/core/machine.hpp"
#include "phy/core/version.hpp"

namespace phy {
namespace {

std::string list_names() {
    std::string names = "auto, cpu, cuda";
    for (const Backend& backend : Backend::all())
        names += ", " + backend.name();
    return names;
}

// The ordinal in "cuda" or "cuda[N]". Ordinals too large for int become the largest int.
std::optional<int> parse_cuda(std::string_view name) {
    if (name == "cuda") return 0;
    if (!name.starts_with("cuda[") || !name.ends_with("]")) return std::nullopt;
    const std::string_view number = name.substr(5, name.size() - 6);
    if (number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos)
        return std::nullopt;
    int ordinal = std::numeric_limits<int>::max();
    std::from_chars(number.data(), number.data() + number.size(), ordinal);
    return ordinal;
}

const std::vector<detail::InstructionSetFacts>& instruction_sets() {
    static const std::vector<detail::InstructionSetFacts> sets = detail::list_instruction_sets();
    return sets;
}

const detail::InstructionSetFacts* find_instruction_set(std::string_view name) {
    const auto& sets = instruction_sets();
    const auto found =
        std::find_if(sets.begin(), sets.end(), [&](const auto& set) { return set.name == name; });
    return found == sets.end() ? nullptr : &*found;
}

/// True if parse() accepts the name, whether or not the backend is built in.
bool is_known(std::string_view name) {
    if (name == "auto" || name == "cpu" || name == "scalar" || parse_cuda(name)) return true;
    const bool of_cpu = name.starts_with("cpu[") && name.ends_with("]");
    return of_cpu && find_instruction_set(name.substr(4, name.size() - 5)) != nullptr;
}

std::string unknown(std::string_view name) {
    return "unknown backend '" + std::string(name) + "': expected one of " + list_names();
}

/// The value of PHY_BACKEND; empty if it is not set.
std::string variable() {
    const char* name = std::getenv("PHY_BACKEND");
    return name == nullptr ? "" : name;
}

BackendError not_built_in(std::string_view name) {
    return BackendError("backend '" + std::string(name) + "' is not in this build of phy" +
                        (parse_cuda(name) ? ", which is without CUDA" : ""));
}

BackendError does_not_run(std::string_view name, const std::string& why) {
    return BackendError("backend '" + std::string(name) + "' does not run on this machine" +
                        (why.empty() ? "" : ": " + why));
}

Backend fastest(const std::vector<Backend>& backends, std::string_view wanted, auto matches) {
    const auto found = std::find_if(backends.begin(), backends.end(),
                                    [&](const Backend& b) { return matches(b) && b.supported(); });
    if (found == backends.end()) throw does_not_run(wanted, "");
    return *found;
}

}  // namespace

const std::vector<Backend>& Backend::all_of_host() {
    static const std::vector<Backend> backends = [] {
        std::vector<Backend> list;
        for (const auto& set : instruction_sets()) {
            if (set.built_in) list.push_back({Kind::cpu, set.name, 0});
        }
        list.push_back(scalar());
        return list;
    }();
    return backends;
}

const std::vector<Backend>& Backend::all() {
    static const std::vector<Backend> backends = [] {
        std::vector<Backend> list;
        const int devices = built_with_cuda ? std::max(1, detail::count_cuda_devices()) : 0;
        for (int ordinal = 0; ordinal < devices; ++ordinal)
            list.push_back({Kind::cuda, "", ordinal});
        list.insert(list.end(), all_of_host().begin(), all_of_host().end());
        return list;
    }();
    return backends;
}

std::optional<Backend> Backend::forced() {
    check_variable();
    const std::string name = variable();
    if (name.empty() || name == "auto") return std::nullopt;
    try {
        return parse(name);
    } catch (const BackendError& error) {
        throw BackendError("environment variable PHY_BACKEND: " + std::string(error.what()));
    }
}

void Backend::check_variable() {
    const std::string name = variable();
    if (!name.empty() && !is_known(name))
        throw ArgumentError("environment variable PHY_BACKEND: " + unknown(name));
}

Backend Backend::best() {
    if (const auto backend = forced()) return *backend;
    return fastest(all_of_host(), "auto", [](const Backend&) { return true; });
}

Backend Backend::parse(std::string_view name) {
    if (name == "auto") return best();
    if (const std::optional<int> ordinal = parse_cuda(name)) {
        if (!built_with_cuda) throw not_built_in(name);
        const std::string why = detail::why_not_on_cuda_device(*ordinal);
        if (!why.empty()) throw does_not_run(name, why);
        return {Kind::cuda, "", *ordinal};
    }
    const auto& host = all_of_host();
    if (name == "cpu") return fastest(host, name, [](const Backend& b) { return b.kind() == Kind::cpu; });
    if (!is_known(name)) throw ArgumentError(unknown(name));
    const auto is_named = [&](const Backend& b) { return b.name() == name; };
    if (std::none_of(host.begin(), host.end(), is_named)) throw not_built_in(name);
    return fastest(host, name, is_named);
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
    if (kind_ == Kind::cuda) {
        const std::string why_not = detail::why_not_on_cuda_device(device_);
        return why_not.empty() ? detail::describe_cuda_device(device_) : why_not;
    }
    const auto* set = find_instruction_set(instruction_set_);
    return set == nullptr ? name() : std::string(set->description);
}

bool Backend::supported() const {
    if (kind_ == Kind::scalar) return true;
    if (kind_ == Kind::cuda) return detail::why_not_on_cuda_device(device_).empty();
    const auto* set = find_instruction_set(instruction_set_);
    return set != nullptr && set->supported;
}

}  // namespace phy
