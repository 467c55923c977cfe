#pragma once

namespace phy::detail {

// Both do nothing without CUDA.
void push_range(const char* name);
void pop_range();

/// Names a scope of the calling thread for NVIDIA's profilers.
class Range {
public:
    explicit Range(const char* name) { push_range(name); }
    ~Range() { pop_range(); }
    Range(const Range&) = delete;  ///< the scope is this object's
    Range& operator=(const Range&) = delete;
};

}  // namespace phy::detail
