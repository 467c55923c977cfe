#pragma once

#include <algorithm>
#include <cstring>
#include <sstream>

#include "demapper/awkward_symbols.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/demapper.hpp"

/// Calls whose results are compared together at the end, so they may be a batch or run on a device.
namespace phy_test {

/// A call without its data.
struct CallShape {
    phy::Modulation modulation;
    phy::SampleFormat in;
    phy::SoftBitFormat out;
    NoiseKind noise;
    std::uint64_t first_symbol = 0;
    std::size_t in_offset = 0;   ///< bytes of its symbols beyond a multiple of 64
    std::size_t out_offset = 0;  ///< of its soft bits
};

/// The arrays of many calls side by side in one block of memory, with guard bytes in between: before the
/// calls, and as expected after them.
class RecordedCalls {
public:
    static constexpr std::size_t line = 64;

    void add(const CallShape& shape, std::span<const std::byte> symbols, std::span<const float> noise,
             std::span<const std::byte> expected) {
        Call call{shape, symbols.size() / size_of(shape.in), place(symbols, symbols, shape.in_offset), 0, 0};
        const std::span n0 = std::as_bytes(noise);
        if (shape.noise.per_symbol) call.noise = place(n0, n0, sizeof(float) * (calls_.size() % 16));
        call.soft_bits = place(Bytes(expected.size(), canary), expected, shape.out_offset);
        calls_.push_back(call);
    }

    [[nodiscard]] std::size_t size() const { return calls_.size(); }
    [[nodiscard]] const Bytes& before() const { return before_; }
    [[nodiscard]] const Bytes& after() const { return after_; }

    /// The calls on a copy of before() in the given memory, which begins at a multiple of 64.
    [[nodiscard]] std::vector<phy::Allocation> calls(std::span<std::byte> memory) const {
        return calls_in<phy::Allocation>(memory, [](std::span<const std::byte> bytes) {
            return std::span(reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float));
        });
    }
    [[nodiscard]] std::vector<phy::gpu::Allocation> calls(phy::gpu::DeviceSpan<std::byte> memory) const {
        return calls_in<phy::gpu::Allocation>(memory, [](phy::gpu::DeviceSpan<const std::byte> bytes) {
            return phy::gpu::elements_of<float>(bytes);
        });
    }

    /// The counters of all calls by their definition.
    [[nodiscard]] phy::DemapCounters counters(int llr_clip = 127) const {
        phy::DemapCounters sum;
        for (const Call& call : calls_) {
            const std::vector<float> noise =
                call.shape.noise.per_symbol ? noise_of(call) : std::vector<float>();
            const phy::DemapCounters one = counted(call.shape.in, symbols_of(call), noise, call.shape.out,
                                                   part(after_, call.soft_bits, call.bytes()), llr_clip);
            sum.erasures += one.erasures;
            sum.saturated += one.saturated;
        }
        return sum;
    }

    /// Describes how the memory differs from after(); empty if it does not.
    [[nodiscard]] std::string difference(std::span<const std::byte> memory) const {
        if (memory.size() != after_.size()) return "the memory has another size";
        if (memory.empty() || std::memcmp(memory.data(), after_.data(), memory.size()) == 0) return "";
        const auto at = static_cast<std::size_t>(std::ranges::mismatch(memory, after_).in1 - memory.begin());
        const auto next =
            std::ranges::find_if(calls_, [&](const Call& call) { return call.symbols > at + line; });
        const auto call = next == calls_.begin() ? next : next - 1;
        std::ostringstream text;
        text << "call " << call - calls_.begin() << " of " << calls_.size() << ": " << *call;
        if (at < call->soft_bits || at >= call->soft_bits + call->bytes()) {
            text << "; a byte of its input, or beside its arrays, changed";
        } else {
            describe_soft_bit(text, *call, memory, (at - call->soft_bits) / size_of(call->shape.out));
        }
        return text.str();
    }

private:
    static constexpr std::byte canary{0xA5};

    struct Call {
        CallShape shape;
        std::size_t count;
        std::size_t symbols;
        std::size_t noise;
        std::size_t soft_bits;

        [[nodiscard]] std::size_t bits() const { return count * bits_per_symbol(shape.modulation); }
        [[nodiscard]] std::size_t bytes() const { return bits() * size_of(shape.out); }

        friend std::ostream& operator<<(std::ostream& stream, const Call& call) {
            return stream << to_string(call.shape.modulation) << ", " << to_string(call.shape.in) << " to "
                          << to_string(call.shape.out) << ", " << name_of(call.shape.noise) << ", "
                          << call.count << " symbols from " << call.shape.first_symbol << ", input at "
                          << call.shape.in_offset << ", output at " << call.shape.out_offset;
        }
    };

    template <class Allocation, class Memory, typename AsFloats>
    [[nodiscard]] std::vector<Allocation> calls_in(Memory memory, AsFloats as_floats) const {
        std::vector<Allocation> result;
        result.reserve(calls_.size());
        for (const Call& call : calls_) {
            const CallShape& shape = call.shape;
            const std::size_t noise_bytes = shape.noise.per_symbol ? call.count * sizeof(float) : 0;
            result.push_back({shape.modulation,
                              {shape.in, memory.subspan(call.symbols, call.count * size_of(shape.in))},
                              shape.noise.of<decltype(Allocation::noise)>(
                                  as_floats(memory.subspan(call.noise, noise_bytes))),
                              {shape.out, memory.subspan(call.soft_bits, call.bytes())},
                              shape.first_symbol});
        }
        return result;
    }

    static Bytes part(std::span<const std::byte> bytes, std::size_t first, std::size_t size) {
        const std::span found = bytes.subspan(first, size);
        return {found.begin(), found.end()};
    }

    std::size_t place(std::span<const std::byte> before, std::span<const std::byte> after,
                      std::size_t offset) {
        const std::size_t first = (before_.size() + line - 1) / line * line + line + offset;
        for (const auto& [bytes, image] : {std::pair(before, &before_), {after, &after_}}) {
            image->resize(first + bytes.size() + line, canary);
            std::ranges::copy(bytes, image->begin() + static_cast<std::ptrdiff_t>(first));
        }
        return first;
    }

    [[nodiscard]] Bytes symbols_of(const Call& call) const {
        return part(before_, call.symbols, call.count * size_of(call.shape.in));
    }

    [[nodiscard]] std::vector<float> noise_of(const Call& call) const {
        std::vector<float> values(call.count);
        std::ranges::copy(std::span(before_).subspan(call.noise, call.count * sizeof(float)),
                          std::as_writable_bytes(std::span(values)).begin());
        return values;
    }

    void describe_soft_bit(std::ostream& text, const Call& call, std::span<const std::byte> memory,
                           std::size_t bit) const {
        const CallShape& shape = call.shape;
        const std::size_t qm = bits_per_symbol(shape.modulation);
        const auto value = [&](std::span<const std::byte> bytes) {
            return soft_bit(shape.out, part(bytes, call.soft_bits, call.bytes()), bit);
        };
        const auto y = [&](std::size_t n) {
            return component(shape.in, symbols_of(call), 2 * (bit / qm) + n, default_full_scale(shape.in));
        };
        text.precision(9);
        text << "; bit " << bit % qm << " of symbol " << bit / qm << " is " << value(memory) << " and not "
             << value(after_) << ", y = " << y(0) << ", " << y(1);
        if (shape.noise.per_symbol) text << ", its own N0 " << noise_of(call)[bit / qm];
    }

    Bytes before_;
    Bytes after_;
    std::vector<Call> calls_;
};

/// A copy of bytes, aligned to 64.
class AlignedBytes {
public:
    explicit AlignedBytes(std::span<const std::byte> bytes)
        : lines_((bytes.size() + RecordedCalls::line - 1) / RecordedCalls::line), size_(bytes.size()) {
        std::ranges::copy(bytes, this->bytes().begin());
    }

    [[nodiscard]] std::span<std::byte> bytes() {
        return {reinterpret_cast<std::byte*>(lines_.data()), size_};
    }

private:
    struct alignas(RecordedCalls::line) Line {
        std::byte bytes[RecordedCalls::line];
    };

    std::vector<Line> lines_;
    std::size_t size_;
};

/// A part of an input, and the misalignment of its symbols and soft bits.
struct Window {
    std::size_t first;
    std::size_t count;
    std::size_t in_offset = 0;
    std::size_t out_offset = 0;
};

/// Windows of an input as calls. The expected bytes are parts of one call on the scalar backend.
inline RecordedCalls recorded_calls(phy::SoftDemapper& scalar, const Input& input, const NoiseKind& noise,
                                    phy::SoftBitFormat format, std::span<const Window> windows) {
    const phy::Modulation modulation = scalar.config().modulation;
    const std::size_t sample = size_of(input.format());
    const std::size_t symbol = bits_per_symbol(modulation) * size_of(format);
    const Bytes whole = demapped(scalar, input, noise, format);
    RecordedCalls recorded;
    for (const Window& window : windows) {
        recorded.add(
            {modulation, input.format(), format, noise, window.first, window.in_offset, window.out_offset},
            std::span(input.bytes()).subspan(window.first * sample, window.count * sample),
            std::span(input.noise()).subspan(window.first, window.count),
            std::span(whole).subspan(window.first * symbol, window.count * symbol));
    }
    return recorded;
}

/// For an input of 262 symbols or more.
inline std::vector<Window> windows_of_every_length() {
    std::vector<Window> windows;
    for (std::size_t count = 0; count <= 130; ++count)
        windows.push_back({.first = count, .count = count, .in_offset = count % 64});
    return windows;
}

/// For 80 symbols or more.
inline std::vector<Window> windows_of_every_misalignment() {
    std::vector<Window> windows;
    for (std::size_t offset = 0; offset < 64; ++offset) {
        windows.push_back({.first = 0, .count = 79, .in_offset = offset, .out_offset = 0});
        windows.push_back({.first = 1, .count = 79, .in_offset = 0, .out_offset = offset});
        windows.push_back({.first = 0, .count = 37, .in_offset = offset, .out_offset = 63 - offset});
    }
    return windows;
}

/// For 262 symbols: each symbol in the middle appears at every index of a call.
inline std::vector<Window> windows_of_every_place() {
    std::vector<Window> windows;
    for (std::size_t first = 0; first <= 130; ++first)
        windows.push_back({.first = first, .count = 131, .out_offset = first % 64});
    return windows;
}

/// For an input of 4104 symbols or more.
inline std::vector<Window> long_windows(std::size_t symbols) {
    return {{.first = 3, .count = 1000, .in_offset = 2, .out_offset = 1},
            {.first = 5, .count = 4099},
            {.first = 1, .count = symbols - 1, .in_offset = 1, .out_offset = 3}};
}

}  // namespace phy_test
