#pragma once

namespace phy::detail {

// Without CUDA they do nothing.
void push_range(const char* name);
void pop_range();

/// Names what the calling thread does in this scope to NVIDIA's profilers.
class Range {
public:
    explicit Range(const char* name) { push_range(name); }
    ~Range() { pop_range(); }
    Range(const Range&) = delete;  ///< the scope is this object's
    Range& operator=(const Range&) = delete;
};

}  // namespace phy::detail
