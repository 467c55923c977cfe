// One number at a time: the reference for all instruction sets.

#include <cstring>

#include "phy/equalizer/host/kernels.hpp"
#include "phy/equalizer/math/solve-inl.h"

namespace phy::detail {
namespace scalar {
namespace {

constexpr std::size_t lanes = 1;

float load(const float* from) {
    return *from;
}

void store(float value, float* to) {
    *to = value;
}

void keep_loaded(const float& /*v*/) {}

void load_complex(const float* from, float& re, float& im) {
    re = from[0];
    im = from[1];
}

void store_complex(float re, float im, float* to) {
    to[0] = re;
    to[1] = im;
}

template <int layers>
void store_layers(const Column<Ops, layers>& x, float* to) {
    for (int i = 0; i < layers; ++i)
        store_complex(x.re[i], x.im[i], to + 2 * i);
}

template <int layers>
void store_noise(const float* noise, float* to) {
    for (int i = 0; i < layers; ++i)
        to[i] = noise[i];
}

#include "phy/equalizer/host/rows.inc"

}  // namespace
}  // namespace scalar

constinit const EqualizerKernels scalar_equalizer_kernels = scalar::make_equalizer_kernels();

}  // namespace phy::detail
