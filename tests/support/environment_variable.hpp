#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace phy_test {

/// Sets or removes an environment variable until the end of a block.
class EnvironmentVariable {
public:
    EnvironmentVariable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        set(value);
    }
    ~EnvironmentVariable() { set(before_ ? before_->c_str() : nullptr); }
    EnvironmentVariable(const EnvironmentVariable&) = delete;
    EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

private:
    void set(const char* value) {
        if (value != nullptr) {
            setenv(name_, value, 1);
        } else {
            unsetenv(name_);
        }
    }

    const char* name_;
    std::optional<std::string> before_;
};

struct BackendVariable : EnvironmentVariable {
    explicit BackendVariable(const char* value) : EnvironmentVariable("PHY_BACKEND", value) {}
};

}  // namespace phy_test
