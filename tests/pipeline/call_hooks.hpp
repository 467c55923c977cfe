#pragma once

#include <array>
#include <functional>

#include "phy/pipeline/pipeline.hpp"

namespace phy_test {

/// The calls of a pipeline to its user, in the order for one chunk.
enum class Call { source_view, fill, sink_view, work, take };

inline constexpr std::array all_calls = {Call::source_view, Call::fill, Call::sink_view, Call::work,
                                         Call::take};

inline const char* name_of(Call call) {
    constexpr std::array names = {"Source::view", "Source::fill", "Sink::view", "StageRunner::run",
                                  "Sink::take"};
    return names[static_cast<std::size_t>(call)];
}

class CallObserver {
public:
    virtual ~CallObserver() = default;
    virtual void begin(Call call, const phy::Chunk& chunk) = 0;
    virtual void end(Call call, const phy::Chunk& chunk) = 0;
};

using CallHook = std::function<void(Call, const phy::Chunk&)>;

/// Hooks that are called in the threads of a run's calls; a hook may throw. An observer with locks orders
/// these threads and so hides missing order in the pipeline from the thread sanitizer, so many tests have
/// none.
struct CallHooks {
    CallObserver* observer = nullptr;
    CallHook hook = {};

    template <typename Body>
    auto during(Call call, const phy::Chunk& chunk, Body body) const {
        const Scope scope{observer, call, chunk};
        if (hook) hook(call, chunk);
        return body();
    }

private:
    struct Scope {
        Scope(CallObserver* who, Call what, const phy::Chunk& where)
            : observer(who), call(what), chunk(where) {
            if (observer != nullptr) observer->begin(call, chunk);
        }
        ~Scope() {
            if (observer != nullptr) observer->end(call, chunk);
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

        CallObserver* observer;
        Call call;
        phy::Chunk chunk;
    };
};

}  // namespace phy_test
