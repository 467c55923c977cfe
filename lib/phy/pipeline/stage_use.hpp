#pragma once

#include <memory>
#include <vector>

#include "phy/pipeline/stage.hpp"

namespace phy::detail {

/// As long as it lives, the stage and all that it consists of work for one pipeline.
class StageUse {
public:
    /// Throws ArgumentError where one of them works for another.
    explicit StageUse(Stage& stage) { take(stage); }

private:
    struct Clear {
        void operator()(UseMark* mark) const noexcept { mark->clear(); }
    };

    void take(Stage& stage);

    std::vector<std::unique_ptr<UseMark, Clear>> marks_;
};

}  // namespace phy::detail
