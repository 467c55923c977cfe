#pragma once

#include <string>

#include "phy/pipeline/stage.hpp"

namespace phy_test {

/// The first mistake of a pipeline. Each thread that a pipeline calls has its own.
class Mistake {
public:
    void expect(bool holds, const char* what, const phy::Chunk& chunk) {
        if (!holds && text_.empty()) text_ = std::string(what) + ": chunk " + std::to_string(chunk.index);
    }
    [[nodiscard]] bool is_none() const { return text_.empty(); }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

}  // namespace phy_test
