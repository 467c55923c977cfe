#include "phy/demapper/slot_demapper.hpp"

#include <optional>
#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"

namespace phy::gpu {
namespace {

/// The arguments that identify a call.
struct Call {
    std::size_t symbols;
    std::optional<float> noise_variance;  ///< none: one N0 per symbol

    friend bool operator==(const Call&, const Call&) = default;
};

SlotDemapper::Config checked(const SlotDemapper::Config& config) {
    phy::detail::check_enum("sample format", config.input, all_sample_formats.back());
    phy::detail::check_enum("soft-bit format", config.output, all_soft_bit_formats.back());
    return config;
}

}  // namespace

struct PHY_HIDDEN SlotDemapper::Impl {
    Impl(const Device& device, const Config& config_of_user)
        : config(checked(config_of_user)),
          demapper(device, config.demapper),
          stream(device),
          input(detail::bytes_of(config.symbols, size_of(config.input))),
          noise(config.symbols),
          output(detail::bytes_of(config.symbols, bytes_out(1))) {}

    /// A call that threw may have left work on the stream that still uses the memory.
    ~Impl() {
        try {
            stream.synchronize();
        } catch (...) {
            // The device has failed; nothing runs there any more.
        }
    }

    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    [[nodiscard]] std::size_t bytes_out(std::size_t symbols) const {
        return symbols * bits_per_symbol(config.demapper.modulation) * size_of(config.output);
    }

    void start(const Call& call, cudaStream_t on) {
        const NoiseVariance n0 = call.noise_variance ? NoiseVariance(*call.noise_variance)
                                                     : NoiseVariance(noise.on_device().first(call.symbols));
        demapper({config.input, input.on_device().first(call.symbols * size_of(config.input))}, n0,
                 {config.output, output.on_device().first(bytes_out(call.symbols))}, on);
    }

    void clear_tables() {
        graph.reset();
        last.reset();
        demapper.clear_tables();
    }

    /// Only the second call in a row with the same arguments is worth a graph.
    std::span<const std::byte> run(const Call& call) {
        if (call.symbols > config.symbols)
            throw ArgumentError("slot: " + std::to_string(call.symbols) + " symbols: expected at most " +
                                std::to_string(config.symbols));
        const CurrentDevice current(demapper.device());
        const bool is_repeated = last == call;
        if (!is_repeated) graph.reset();
        last.reset();
        if (is_repeated && !graph) {
            graph.emplace(demapper.device(), [&](cudaStream_t on) { start(call, on); });
        } else {
            is_repeated ? (*graph)(stream) : start(call, stream);
            stream.synchronize();
        }
        last = call;
        return std::span<const std::byte>(output).first(bytes_out(call.symbols));
    }

    Config config;
    SoftDemapper demapper;
    Stream stream;
    PinnedBuffer<std::byte> input;
    PinnedBuffer<float> noise;
    PinnedBuffer<std::byte> output;
    std::optional<Call> last;  ///< latest completed call
    std::optional<Graph> graph;
};

SlotDemapper::SlotDemapper(const Device& device, const Config& config) {
    const CurrentDevice current(device);
    impl_ = std::make_unique<Impl>(device, config);
}

void SlotDemapper::prepare(NoiseVariance noise) {
    // Makes the table of the graph the newest, so that it is not replaced.
    const bool has_table = impl_->last && impl_->last->noise_variance;
    if (has_table) impl_->demapper.prepare(*impl_->last->noise_variance, impl_->config.output);
    impl_->demapper.prepare(noise, impl_->config.output);
}

void SlotDemapper::clear_tables() {
    impl_->clear_tables();
}

std::span<std::byte> SlotDemapper::input() {
    return impl_->input;
}

std::span<float> SlotDemapper::noise() {
    return impl_->noise;
}

std::span<const std::byte> SlotDemapper::demap(std::size_t symbols, float noise_variance) {
    return impl_->run({symbols, noise_variance});
}

std::span<const std::byte> SlotDemapper::demap_per_symbol(std::size_t symbols) {
    return impl_->run({symbols, std::nullopt});
}

const SlotDemapper::Config& SlotDemapper::config() const {
    return impl_->config;
}

}  // namespace phy::gpu
