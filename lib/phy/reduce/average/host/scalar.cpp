// One number at a time: the reference that every instruction set is compared with.

#include "phy/reduce/average/host/kernels.hpp"
#include "phy/reduce/average/math/products-inl.h"

namespace phy::detail {
namespace scalar {
namespace {

template <class T>
T output(const Multiplication<T>& job, const typename Multiplication<T>::Component* means, const T* row) {
    using R = typename Multiplication<T>::Component;
    constexpr std::size_t step = Multiplication<T>::step;
    if constexpr (ComponentOfNumber<T>::is_complex) {
        ComplexSum<R> sum{};
        for (std::size_t k = 0; k < job.length; ++k)
            sum.add(row[k].real(), row[k].imag(), means[k * step], means[k * step + panel_batches<T>()]);
        return {finished(sum.re), finished(sum.im)};
    } else {
        RealSum<R> sum{};
        for (std::size_t k = 0; k < job.length; ++k)
            sum.add(row[k], means[k * step]);
        return finished(sum.value);
    }
}

template <class T>
void multiply(const Multiplication<T>& job, std::size_t panel, std::size_t first, std::size_t end) {
    for (std::size_t l = first; l < end; ++l) {
        for (std::size_t batch = 0; batch < job.used(panel); ++batch)
            job.result(panel, batch, l) = output(job, job.panel(panel) + batch, job.matrix + l * job.length);
    }
}

}  // namespace
}  // namespace scalar

constinit const AverageKernels scalar_average_kernels = {&scalar::multiply<float>, &scalar::multiply<double>,
                                                         &scalar::multiply<std::complex<float>>,
                                                         &scalar::multiply<std::complex<double>>};

}  // namespace phy::detail
