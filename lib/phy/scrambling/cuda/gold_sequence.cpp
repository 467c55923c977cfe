#include "phy/scrambling/gold_sequence_cuda.hpp"

#include "phy/scrambling/cuda/launch.hpp"
#include "phy/scrambling/math/check.hpp"
#include "phy/scrambling/math/gold.hpp"
#include "phy/scrambling/signs.hpp"

namespace phy::gpu {
namespace {

/// The c_init of a call: an array in device memory, or one number on the host.
struct Beginnings {
    explicit Beginnings(DeviceSpan<const std::uint32_t> each) : array(each.data()), codewords(each.size()) {}
    explicit Beginnings(std::uint32_t number) : one(number), codewords(1) {
        phy::detail::check_c_init(number);
    }

    const std::uint32_t* array = nullptr;
    std::uint32_t one = 0;
    std::size_t codewords;
};

void write_words(const Device& device, const Beginnings& c_init, std::uint64_t first,
                 DeviceSpan<std::uint32_t> words, cudaStream_t stream, std::uint32_t kept = 0) {
    using phy::detail::FirstSequence;
    using phy::detail::power_of_x;
    phy::detail::check_codewords("words", words.size(), "words", words.size(), c_init.codewords);
    if (words.empty()) return;
    const std::uint64_t steps = phy::detail::steps_to(first);
    const CurrentDevice current(device);
    detail::launch_words({.c_init = c_init.array,
                          .one_c_init = c_init.one,
                          .first_state = phy::detail::advanced<FirstSequence>(
                              FirstSequence::start, power_of_x<FirstSequence>(steps)),
                          .second_polynomial = power_of_x<phy::detail::SecondSequence>(steps),
                          .codewords = c_init.codewords,
                          .length = 32 * words.size() / c_init.codewords,
                          .kept = kept},
                         words.data(), stream);
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

}  // namespace phy::gpu

void phy::detail::write_signs(const gpu::Device& device, std::uint32_t c_init, const SignBits& bits,
                              gpu::DeviceSpan<std::uint32_t> signs, cudaStream_t stream) {
    gpu::write_words(device, gpu::Beginnings(c_init), bits.first_of_words(),
                     signs.subspan(bits.first_word(), bits.words()), stream,
                     static_cast<std::uint32_t>(bits.begin % 32));
}
