#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace phy_test {

/// Sets PHY_BACKEND, or removes it, until the end of a block.
class BackendVariable {
public:
    explicit BackendVariable(const char* value) {
        if (const char* before = std::getenv(name)) before_ = before;
        set(value);
    }
    ~BackendVariable() { set(before_ ? before_->c_str() : nullptr); }
    BackendVariable(const BackendVariable&) = delete;
    BackendVariable& operator=(const BackendVariable&) = delete;

private:
    static constexpr const char* name = "PHY_BACKEND";

    static void set(const char* value) {
        if (value != nullptr) {
            setenv(name, value, 1);
        } else {
            unsetenv(name);
        }
    }

    std::optional<std::string> before_;
};

}  // namespace phy_test
