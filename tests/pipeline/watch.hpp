#pragma once

#include <array>
#include <functional>

#include "phy/pipeline/pipeline.hpp"

namespace phy_test {

/// Where a pipeline calls its user, in the order in which it does so for a chunk.
enum class Call { source_view, fill, sink_view, work, take };

inline constexpr std::array all_calls = {Call::source_view, Call::fill, Call::sink_view, Call::work,
                                         Call::take};

inline const char* name_of(Call call) {
    constexpr std::array names = {"Source::view", "Source::fill", "Sink::view", "Stage::run", "Sink::take"};
    return names[static_cast<std::size_t>(call)];
}

class Observer {
public:
    virtual ~Observer() = default;
    virtual void begin(Call call, const phy::Chunk& chunk) = 0;
    virtual void end(Call call, const phy::Chunk& chunk) = 0;
};

using Hook = std::function<void(Call, const phy::Chunk&)>;

/// Sees the calls of a run, in the threads that make them; the hook may throw. An observer that locks orders
/// those threads, so that the thread sanitizer no longer sees whether the pipeline does: many tests have
/// none.
struct Watch {
    Observer* observer = nullptr;
    Hook hook = {};

    template <typename Body>
    auto during(Call call, const phy::Chunk& chunk, Body body) const {
        const Visit visit{observer, call, chunk};
        if (hook) hook(call, chunk);
        return body();
    }

private:
    struct Visit {
        Visit(Observer* who, Call what, const phy::Chunk& where) : observer(who), call(what), chunk(where) {
            if (observer != nullptr) observer->begin(call, chunk);
        }
        ~Visit() {
            if (observer != nullptr) observer->end(call, chunk);
        }
        Visit(const Visit&) = delete;
        Visit& operator=(const Visit&) = delete;

        Observer* observer;
        Call call;
        phy::Chunk chunk;
    };
};

}  // namespace phy_test
