#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "phy/core/error.hpp"
#include "phy/core/integers.hpp"
#include "phy/core/version.hpp"
#include "phy/cuda/device.hpp"
#include "phy/pipeline/stage.hpp"

/// How an operator becomes a stage: what it does with a chunk is written once for both places.
namespace phy::detail {

/// An array of a chunk as elements. Lent host memory may begin at any address: throws ArgumentError, which
/// begins with the port, if it is not aligned for the elements.
template <typename T, typename Byte>
auto elements_of(std::span<Byte> bytes, const char* port) {
    using Element = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    if (!is_aligned(bytes.data(), alignof(T)))
        throw ArgumentError(std::string(port) + ": expected memory aligned to " + std::to_string(alignof(T)) +
                            " bytes");
    return std::span(reinterpret_cast<Element*>(bytes.data()), bytes.size() / sizeof(T));
}
template <typename T, typename Byte>
auto elements_of(gpu::DeviceSpan<Byte> bytes, const char* /*port*/) {
    return gpu::elements_of<T>(bytes);
}

/// OnHost(host, arguments...) or OnDevice(device, arguments...), whichever the place is. A build without CUDA
/// does not instantiate OnDevice, which should therefore be a template.
template <class OnHost, class OnDevice, typename... Arguments>
std::unique_ptr<StageRunner> runner_at(const Place& place, Arguments&... arguments) {
    if constexpr (built_with_cuda) {
        if (place.is_cuda()) return std::make_unique<OnDevice>(gpu::Device(place.device()), arguments...);
    }
    return std::make_unique<OnHost>(place.host(), arguments...);
}

template <class Operator, class Run>
class HostOperatorRunner : public StageRunner {
public:
    template <typename... OfDevice>
    HostOperatorRunner(const Host& host, const typename Operator::Config& config, const Run& run,
                       const OfDevice&... /*of_device*/)
        : operator_(host, config), run_(run) {}

    void run_on_host(const HostWork& work) override { run_(operator_, work); }

private:
    Operator operator_;
    Run run_;
};

template <class Operator, class Run>
class DeviceOperatorRunner : public StageRunner {
public:
    template <typename... OfDevice>
    DeviceOperatorRunner(const gpu::Device& device, const typename Operator::Config& config, const Run& run,
                         const OfDevice&... of_device)
        : operator_(device, config, of_device...), run_(run) {}

    void run_on_device(const DeviceWork& work) override { run_(operator_, work, work); }

private:
    Operator operator_;
    Run run_;
};

/// The runner of a stage that is one operator. For each chunk it calls run(operator, work, device...), where
/// device... is nothing on a host and the work again on a device: "device.stream..." is the argument that an
/// operator has only there. The operator is OnHost(host, config) or OnDevice(device, config, of_device...).
template <class OnHost, class OnDevice, class Run, typename... OfDevice>
std::unique_ptr<StageRunner> operator_runner(const Place& place, const typename OnHost::Config& config,
                                             const Run& run, const OfDevice&... of_device) {
    return runner_at<HostOperatorRunner<OnHost, Run>, DeviceOperatorRunner<OnDevice, Run>>(place, config, run,
                                                                                           of_device...);
}

}  // namespace phy::detail
