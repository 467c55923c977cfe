#include "phy/core/check_enum.hpp"
#include "phy/scrambling/cuda/launch.hpp"
#include "phy/scrambling/math/check.hpp"
#include "phy/scrambling/math/gold.hpp"
#include "phy/scrambling/scrambler_cuda.hpp"

namespace phy::gpu {
namespace {

using detail::GoldJob;

/// The c_init of a call: an array in device memory, or one number.
struct Beginnings {
    explicit Beginnings(DeviceSpan<const std::uint32_t> each) : array(each.data()), codewords(each.size()) {}
    explicit Beginnings(std::uint32_t number) : one(number), codewords(1) {
        phy::detail::check_c_init(number);
    }

    const std::uint32_t* array = nullptr;
    std::uint32_t one = 0;
    std::size_t codewords;
};

/// bits is not 0.
GoldJob job_of(const Beginnings& c_init, std::uint64_t bits, std::uint64_t first) {
    using phy::detail::FirstSequence;
    using phy::detail::power_of_x;
    const std::uint64_t steps = phy::detail::steps_to(first);
    return {.c_init = c_init.array,
            .one_c_init = c_init.one,
            .first_state =
                phy::detail::advanced<FirstSequence>(FirstSequence::start, power_of_x<FirstSequence>(steps)),
            .second_polynomial = power_of_x<phy::detail::SecondSequence>(steps),
            .codewords = c_init.codewords,
            .length = bits / c_init.codewords};
}

void write_words(const Device& device, const Beginnings& c_init, std::uint64_t first,
                 DeviceSpan<std::uint32_t> words, cudaStream_t stream) {
    phy::detail::check_codewords("words", words.size(), "words", words.size(), c_init.codewords);
    if (words.empty()) return;
    const CurrentDevice current(device);
    detail::launch_words(job_of(c_init, 32 * words.size(), first), words.data(), stream);
}

void scramble(const Device& device, const Beginnings& c_init, DeviceSpan<const std::uint8_t> bits,
              DeviceSpan<std::uint8_t> scrambled, std::uint64_t first, cudaStream_t stream) {
    phy::detail::check_codewords("bits", bits.size(), "scrambled", scrambled.size(), c_init.codewords);
    if (bits.empty()) return;
    const CurrentDevice current(device);
    detail::launch_scramble(job_of(c_init, bits.size(), first), as_bytes(bits).data(),
                            as_bytes(scrambled).data(), stream);
}

void descramble(const Device& device, const Beginnings& c_init, SoftBitView scrambled, SoftBitSpan llr,
                std::uint64_t first, cudaStream_t stream) {
    phy::detail::check_formats(scrambled.format(), llr.format());
    phy::detail::check_codewords("scrambled", scrambled.size(), "llr", llr.size(), c_init.codewords);
    if (llr.size() == 0) return;
    const CurrentDevice current(device);
    detail::launch_descramble(job_of(c_init, llr.size(), first), llr.format(), scrambled.data(), llr.data(),
                              stream);
}

}  // namespace

void gold_sequence(const Device& device, DeviceSpan<const std::uint32_t> c_init, std::uint64_t first,
                   DeviceSpan<std::uint32_t> words, cudaStream_t stream) {
    write_words(device, Beginnings(c_init), first, words, stream);
}

void gold_sequence(const Device& device, std::uint32_t c_init, std::uint64_t first,
                   DeviceSpan<std::uint32_t> words, cudaStream_t stream) {
    write_words(device, Beginnings(c_init), first, words, stream);
}

void Scrambler::operator()(DeviceSpan<const std::uint32_t> c_init, DeviceSpan<const std::uint8_t> bits,
                           DeviceSpan<std::uint8_t> scrambled, cudaStream_t stream,
                           std::uint64_t first) const {
    scramble(device_, Beginnings(c_init), bits, scrambled, first, stream);
}

void Scrambler::operator()(std::uint32_t c_init, DeviceSpan<const std::uint8_t> bits,
                           DeviceSpan<std::uint8_t> scrambled, cudaStream_t stream,
                           std::uint64_t first) const {
    scramble(device_, Beginnings(c_init), bits, scrambled, first, stream);
}

void Descrambler::operator()(DeviceSpan<const std::uint32_t> c_init, SoftBitView scrambled, SoftBitSpan llr,
                             cudaStream_t stream, std::uint64_t first) const {
    descramble(device_, Beginnings(c_init), scrambled, llr, first, stream);
}

void Descrambler::operator()(std::uint32_t c_init, SoftBitView scrambled, SoftBitSpan llr,
                             cudaStream_t stream, std::uint64_t first) const {
    descramble(device_, Beginnings(c_init), scrambled, llr, first, stream);
}

}  // namespace phy::gpu
