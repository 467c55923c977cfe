#include "phy/equalizer/equalizer.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "demapper/signals.hpp"
#include "equalizer/equalizer_cases.hpp"
#include "phy/core/error.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Equalization;
using phy::Equalizer;

Equalized equalize(const phy::Host& host, const EqualizerConfig& config, const Slots& slots) {
    return equalize(host, config, slots, slots.grid);
}

/// That of a slot: with a covariance its smallest eigenvalue is above this.
double smallest_noise(const Slots& slots, std::size_t slot) {
    return slots.covariance.empty() ? double{slots.estimates[slot].noise_variance} : 0.1;
}

/// The largest deviations, of symbols in the amplitude of their noise and 1, of noise relative to it.
void expect_near(const EqualizerConfig& config, const Slots& slots, const Equalized& out, double tolerance) {
    const auto elements = data_elements(config.allocation);
    const std::size_t layers = config.allocation.dmrs.ports.size();
    ASSERT_EQ(out.symbols.size(), slots.count * elements.size() * layers);
    for (std::size_t slot = 0; slot < slots.count; ++slot) {
        for (std::size_t e = 0; e < elements.size(); ++e) {
            const ElementResult expected =
                expected_element(config, slots, slot, elements[e].first, elements[e].second);
            for (std::size_t l = 0; l < layers; ++l) {
                const std::size_t i = (slot * elements.size() + e) * layers + l;
                const double scale = 1.0 + std::abs(expected.symbols[l]);
                // Equations that lose more digits than binary32 can spare are no matter of this test.
                if (expected.noise[l] > 20.0 * smallest_noise(slots, slot)) continue;
                ASSERT_LE(std::abs(Complex(out.symbols[i]) - expected.symbols[l]), tolerance * scale)
                    << "slot " << slot << ", element " << e << ", layer " << l;
                ASSERT_NEAR(out.noise[i] / expected.noise[l], 1.0, tolerance)
                    << "slot " << slot << ", element " << e << ", layer " << l;
            }
        }
    }
}

TEST(EqualizerTest, EveryPairOfLayersAndAntennas) {
    for (int layers = 1; layers <= 4; ++layers) {
        for (int antennas = layers; antennas <= 16; ++antennas) {
            for (const Equalization method : {Equalization::mmse, Equalization::zero_forcing}) {
                for (const bool linear : {false, true}) {
                    EqualizerConfig config = plain_config(layers, antennas, 2);
                    config.method = method;
                    if (linear) config.time_weights = linear_weights();
                    SCOPED_TRACE(std::to_string(layers) + "x" + std::to_string(antennas) +
                                 (linear ? ", linear" : ", one estimate") + ", method " +
                                 std::to_string(static_cast<int>(method)) + ", seed " +
                                 std::to_string(equalizer_seed));
                    const Slots slots = random_slots(config, 2, equalizer_seed);
                    expect_near(config, slots, equalize(phy::Host(), config, slots), 1e-4);
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

/// The same bytes from every backend and number of threads.
void expect_same_everywhere(const EqualizerConfig& config, const Slots& slots) {
    const Equalized expected = equalize(scalar_host(), config, slots);
    for (const phy::Backend& backend : host_backends())
        for (const int threads : {1, 3})
            EXPECT_TRUE(equalize(host_of(backend, threads), config, slots) == expected)
                << backend.name() << ", " << threads << " threads";
}

TEST(EqualizerTest, ScatteredAllocations) {
    for (int layers = 1; layers <= 4; ++layers) {
        for (const int antennas : {layers, 5}) {
            for (const Covariance covariance : all_covariances) {
                SCOPED_TRACE(std::to_string(layers) + "x" + std::to_string(antennas) + ", seed " +
                             std::to_string(equalizer_seed));
                const EqualizerConfig config = scattered_config(layers, antennas);
                const Slots slots = random_slots(config, 3, equalizer_seed, covariance);
                expect_near(config, slots, equalize(phy::Host(), config, slots), 1e-4);
                expect_same_everywhere(config, slots);
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST(EqualizerTest, SharedWeightsOfEveryPair) {
    for (int layers = 1; layers <= 4; ++layers) {
        for (const int antennas : {layers, layers + 1, 8, 13, 16}) {
            EqualizerConfig config = plain_config(layers, antennas, 1);
            for (int symbol = 0; symbol < 14; ++symbol)
                for (const float weight : {0.4F, 0.3F, 0.6F})
                    config.time_weights.push_back(symbol < 7 ? weight : 0.5F * weight);
            SCOPED_TRACE(std::to_string(layers) + "x" + std::to_string(antennas) + ", seed " +
                         std::to_string(equalizer_seed));
            const Slots slots = random_slots(config, 3, equalizer_seed);
            expect_near(config, slots, equalize(phy::Host(), config, slots), 1e-4);
            expect_same_everywhere(config, slots);
            if (HasFatalFailure()) return;
        }
    }
}

/// H^H R^-1 (H and y) of an element.
void expect_pair(const Element& element, const phy::LayerPair& pair) {
    const std::size_t antennas = element.y.size();
    std::vector<Complex> right(3 * antennas);
    for (std::size_t a = 0; a < antennas; ++a) {
        right[3 * a] = element.h[2 * a];
        right[3 * a + 1] = element.h[2 * a + 1];
        right[3 * a + 2] = element.y[a];
    }
    eliminate(element.noise, right, antennas, 3);
    const auto product = [&](std::size_t layer, std::size_t column) {
        Complex sum;
        for (std::size_t a = 0; a < antennas; ++a)
            sum += std::conj(element.h[2 * a + layer]) * right[3 * a + column];
        return sum;
    };
    const double scale = 1e-4 * (product(0, 0).real() + product(1, 1).real());
    for (std::size_t i = 0; i < 2; ++i) {
        ASSERT_NEAR(pair.power[i], product(i, i).real(), scale);
        ASSERT_LE(std::abs(Complex(pair.matched[i]) - product(i, 2)), 10.0 * scale);
    }
    ASSERT_LE(std::abs(Complex(pair.cross) - product(1, 0)), scale);
}

TEST(EqualizerTest, PairsHoldWhatAnElementSays) {
    for (const int antennas : {2, 3, 4, 8, 16}) {
        for (const Covariance covariance : all_covariances) {
            SCOPED_TRACE(std::to_string(antennas) + " antennas");
            EqualizerConfig config = scattered_config(2, antennas);
            config.pairs = true;
            const Slots slots = random_slots(config, 3, equalizer_seed, covariance);
            const Equalized out = equalize(phy::Host(), config, slots);
            expect_near(config, slots, out, 1e-4);
            expect_same_everywhere(config, slots);
            const auto elements = data_elements(config.allocation);
            ASSERT_EQ(out.pairs.size(), slots.count * elements.size());
            for (std::size_t i = 0; i < out.pairs.size(); ++i) {
                const auto& [symbol, subcarrier] = elements[i % elements.size()];
                expect_pair(element_of(config, slots, i / elements.size(), symbol, subcarrier), out.pairs[i]);
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST(EqualizerTest, PairsOfErasedElementsAreZeros) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    EqualizerConfig config = plain_config(2, 2, 3);
    config.pairs = true;
    Slots slots = random_slots(config, 3, equalizer_seed);
    slots.estimates[0].noise_variance = nan;
    slots.estimates[1].phase[4] = {nan, nan};
    slots.grid[2 * Dimensions(config).grid()] = {0.0F, nan};  // symbol 0, subcarrier 0
    const Equalized out = equalize(phy::Host(), config, slots);
    const auto elements = data_elements(config.allocation);
    for (std::size_t i = 0; i < out.pairs.size(); ++i) {
        const std::size_t slot = i / elements.size();
        const std::size_t e = i % elements.size();
        const bool is_erased = slot == 0 || (slot == 1 && elements[e].first == 4) || (slot == 2 && e == 0);
        ASSERT_EQ(out.pairs[i] == phy::LayerPair(), is_erased) << i;
    }
}

/// A slot alone gives what it gives in a batch, wherever its arrays end.
TEST(EqualizerTest, BatchesMayBeCut) {
    for (const Covariance covariance : all_covariances) {
        const EqualizerConfig config = scattered_config(3, 4);
        const Slots slots = random_slots(config, 3, equalizer_seed, covariance);
        const Equalized all = equalize(phy::Host(), config, slots);
        for (std::size_t s = 0; s < slots.count; ++s) {
            const Slots one = slot_of(slots, s);
            const Equalized alone = equalize(phy::Host(), config, one);
            EXPECT_TRUE(alone == part_of(all, s, slots.count)) << "slot " << s;
        }
        EXPECT_TRUE(equalize(phy::Host(), config, Slots()).symbols.empty());
    }
}

TEST(EqualizerTest, EverySampleFormat) {
    for (const Covariance covariance : all_covariances) {
        EqualizerConfig config = scattered_config(2, 3);
        for (const SampleFormat format : phy::all_sample_formats) {
            config.full_scale = format == SampleFormat::ci16 ? 4096.0F : 30.0F;
            const Slots slots = random_slots(config, 2, equalizer_seed, covariance);
            const std::vector<std::byte> samples = stored(slots.grid, format);
            Slots widened = slots;
            widened.grid = as_numbers(samples, format, config.full_scale.value_for(format));
            const Equalized expected = equalize(phy::Host(), config, widened);
            for (const phy::Backend& backend : host_backends())
                EXPECT_TRUE(equalize(host_of(backend), config, slots, {format, samples}) == expected)
                    << to_string(format) << " on " << backend.name();
            // At an odd address.
            std::vector<std::byte> shifted(samples.size() + 1);
            std::ranges::copy(samples, shifted.begin() + 1);
            EXPECT_TRUE(equalize(phy::Host(), config, slots, {format, std::span(shifted).subspan(1)}) ==
                        expected)
                << to_string(format);
        }
    }
}

/// A link with 16QAM: errors have the variance that is said, and symbols no bias.
TEST(EqualizerTest, NoiseVarianceIsThatOfTheErrors) {
    for (int layers = 1; layers <= 4; ++layers) {
        for (int antennas = layers; antennas <= 8; ++antennas) {
            const EqualizerConfig mmse = plain_config(layers, antennas, 60);
            std::mt19937 random(equalizer_seed);
            Slots slots = random_slots(mmse, 4, equalizer_seed);
            const std::vector<cf32> sent = transmit(mmse, slots, random);
            for (const Equalization method : {Equalization::mmse, Equalization::zero_forcing}) {
                EqualizerConfig config = mmse;
                config.method = method;
                const Equalized out = equalize(phy::Host(), config, slots);
                double measured = 0.0;
                double gain = 0.0;
                double weights = 0.0;
                for (std::size_t i = 0; i < sent.size(); ++i) {
                    const Complex error = Complex(out.symbols[i]) - Complex(sent[i]);
                    measured += std::norm(error) / double{out.noise[i]};
                    // So that symbols of little noise say more.
                    const double weight = 1.0 / double{out.noise[i]};
                    gain += weight * (Complex(out.symbols[i]) * std::conj(Complex(sent[i]))).real();
                    weights += weight * std::norm(Complex(sent[i]));
                }
                SCOPED_TRACE(std::to_string(layers) + "x" + std::to_string(antennas) + ", method " +
                             std::to_string(static_cast<int>(method)) + ", seed " +
                             std::to_string(equalizer_seed));
                EXPECT_NEAR(measured / static_cast<double>(sent.size()), 1.0, 0.02);
                EXPECT_NEAR(gain / weights, 1.0, 0.02);
            }
        }
    }
}

TEST(EqualizerTest, ErasesWhatSaysNothing) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const Equalization method : {Equalization::mmse, Equalization::zero_forcing}) {
        for (int layers = 1; layers <= 4; ++layers) {
            for (const bool linear : {false, true}) {
                EqualizerConfig config = plain_config(layers, 4, 4);
                config.method = method;
                if (linear) config.time_weights = linear_weights();
                const Slots good = random_slots(config, 1, equalizer_seed);
                const Equalized expected = equalize(phy::Host(), config, good);
                Slots bad = good;
                const Dimensions size(config);
                const auto set_channel = [&](std::size_t subcarrier, float value) {
                    for (std::size_t row = 0; row < size.channel() / size.subcarriers; ++row)
                        bad.channel[row * size.subcarriers + subcarrier] = value;
                };
                set_channel(3, 0.0F);
                set_channel(17, nan);
                set_channel(20, infinity);
                set_channel(22, 3e38F);
                set_channel(23, 1e-42F);
                for (const auto& [subcarrier, value] : {std::pair(30, nan), {33, infinity}, {34, 3e38F}})
                    for (std::size_t symbol = 0; symbol < 14; ++symbol)
                        bad.grid[symbol * size.subcarriers + static_cast<std::size_t>(subcarrier)] = value;
                const Equalized out = equalize(phy::Host(), config, bad);
                const auto elements = data_elements(config.allocation);
                const std::vector<std::size_t> spoilt = {3, 17, 20, 22, 23, 30, 33, 34};
                for (std::size_t i = 0; i < out.symbols.size(); ++i) {
                    const std::size_t k = elements[i / size.layers].second;
                    const bool is_erased = std::ranges::find(spoilt, k) != spoilt.end();
                    ASSERT_EQ(out.symbols[i], is_erased ? cf32(0.0F) : expected.symbols[i])
                        << layers << " layers, subcarrier " << k;
                    ASSERT_EQ(out.noise[i], is_erased ? infinity : expected.noise[i]) << layers << ", " << k;
                }
                expect_same_everywhere(config, bad);
            }
        }
    }
}

/// A symbol that is not erased has a noise variance that a demapper can use.
TEST(EqualizerTest, NoiseNeverBecomesZero) {
    for (const Equalization method : {Equalization::mmse, Equalization::zero_forcing}) {
        for (int layers = 1; layers <= 4; ++layers) {
            EqualizerConfig config = plain_config(layers, 4, 2);
            config.method = method;
            Slots slots = random_slots(config, 3, equalizer_seed);
            const float noises[] = {1e-45F, 1.5e-45F, 1e-37F};
            for (std::size_t i = 0; i < 3; ++i) {
                slots.estimates[i].noise_variance = noises[i];
                slots.estimates[i].channel_error = 0.0F;
            }
            for (float& h : slots.channel)
                h *= 4.0F;
            const Equalized out = equalize(phy::Host(), config, slots);
            for (const float noise : out.noise)
                ASSERT_GE(noise, 0x1p-126F) << layers << " layers";
            expect_same_everywhere(config, slots);
        }
    }
}

TEST(EqualizerTest, ErasesLayersThatCannotBeToldApart) {
    for (int layers = 2; layers <= 4; ++layers) {
        EqualizerConfig config = plain_config(layers, 4, 1);
        config.method = Equalization::zero_forcing;
        Slots slots = random_slots(config, 1, equalizer_seed);
        const Dimensions size(config);
        // The first two layers of all antennas.
        for (std::size_t a = 0; a < size.antennas; ++a) {
            const auto first =
                slots.channel.begin() + static_cast<std::ptrdiff_t>(2 * a * size.layers * size.subcarriers);
            const auto rows = static_cast<std::ptrdiff_t>(2 * size.subcarriers);
            std::copy(first, first + rows, first + rows);
        }
        const Equalized out = equalize(phy::Host(), config, slots);
        for (std::size_t i = 0; i < out.symbols.size(); ++i) {
            ASSERT_EQ(out.symbols[i], cf32(0.0F));
            ASSERT_EQ(out.noise[i], std::numeric_limits<float>::infinity());
        }
        expect_same_everywhere(config, slots);
    }
}

TEST(EqualizerTest, ErasesSlotsOfBadNoiseAndUnknownWeights) {
    for (const bool linear : {false, true}) {
        for (const int layers : {1, 2, 4}) {
            EqualizerConfig config = plain_config(layers, 4, 1);
            if (linear) config.time_weights = linear_weights();
            Slots slots = random_slots(config, 6, equalizer_seed);
            slots.estimates[0].noise_variance = std::numeric_limits<float>::quiet_NaN();
            slots.estimates[4].time_set = 1;
            slots.estimates[5].time_set = -1;
            slots.estimates[1].noise_variance = std::numeric_limits<float>::infinity();
            slots.estimates[2].channel_error = std::numeric_limits<float>::quiet_NaN();
            for (cf32& phase : slots.estimates[3].phase)
                phase = {std::numeric_limits<float>::quiet_NaN(), 0.0F};
            const Equalized out = equalize(phy::Host(), config, slots);
            for (const cf32& symbol : out.symbols)
                ASSERT_EQ(symbol, cf32(0.0F));
            for (const float noise : out.noise)
                ASSERT_EQ(noise, std::numeric_limits<float>::infinity());
            expect_same_everywhere(config, slots);
        }
    }
    // No covariance of anything.
    const EqualizerConfig config = plain_config(2, 4, 1);
    Slots slots = random_slots(config, 1, equalizer_seed, Covariance::of_slot);
    slots.covariance[5] = -1.0F;
    const Equalized out = equalize(phy::Host(), config, slots);
    EXPECT_EQ(out.symbols[0], cf32(0.0F));
    EXPECT_EQ(out.noise[0], std::numeric_limits<float>::infinity());
}

void expect_refused(const std::function<void(EqualizerConfig&)>& change) {
    EqualizerConfig config = plain_config(2, 4);
    change(config);
    EXPECT_THROW(Equalizer(phy::Host(), config), phy::ArgumentError);
}

TEST(EqualizerTest, WrongConfigurationsThrow) {
    static constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    expect_refused([](EqualizerConfig& config) { config.antennas = 1; });
    expect_refused([](EqualizerConfig& config) { config.antennas = 17; });
    expect_refused([](EqualizerConfig& config) { config.allocation.dmrs.ports.clear(); });
    expect_refused([](EqualizerConfig& config) {
        config.allocation.dmrs.length = 2;
        config.allocation.dmrs.symbols = {2, 3};
        config.allocation.dmrs.ports = {0, 1, 2, 3, 4};
        config.antennas = 8;
    });
    expect_refused([](EqualizerConfig& config) { config.time_weights.resize(13); });
    expect_refused([](EqualizerConfig& config) { config.time_weights.resize(15 * 14); });
    expect_refused([](EqualizerConfig& config) { config.time_weights.assign(14, nan); });
    for (const int sets : {-1, 0, 3, 65}) {
        expect_refused([sets](EqualizerConfig& config) {
            config.time_weights.resize(2 * 14);
            config.time_sets = sets;
        });
    }
    expect_refused([](EqualizerConfig& config) { config.time_weights.resize(2 * 15 * 14); });
    expect_refused([](EqualizerConfig& config) { config.method = static_cast<Equalization>(2); });
    expect_refused([](EqualizerConfig& config) {
        config.allocation.dmrs.ports = {0};
        config.pairs = true;
    });
}

TEST(EqualizerTest, WrongCallsThrow) {
    const EqualizerConfig config = plain_config(2, 4);
    const Slots good = random_slots(config, 2, equalizer_seed, Covariance::of_slot);
    const auto expect_thrown = [&](const std::function<void(Slots&, Equalized&)>& change) {
        Slots slots = good;
        Equalizer equalizer(phy::Host(), config);
        Equalized out{std::vector<cf32>(2 * equalizer.symbols_per_slot()),
                      std::vector<float>(2 * equalizer.symbols_per_slot())};
        change(slots, out);
        EXPECT_THROW(equalizer(slots.grid, slots.channel, slots.estimates, out.symbols, out.noise,
                               slots.covariance, out.pairs),
                     phy::ArgumentError);
    };
    expect_thrown([](Slots& slots, Equalized&) { slots.grid.pop_back(); });
    expect_thrown([](Slots& slots, Equalized&) { slots.channel.push_back(0.0F); });
    expect_thrown([](Slots& slots, Equalized&) { slots.estimates.pop_back(); });
    expect_thrown([](Slots& slots, Equalized&) { slots.covariance.pop_back(); });
    expect_thrown([](Slots& slots, Equalized&) { slots.covariance.resize(2 * slots.covariance.size()); });
    try {
        Equalizer(phy::Host(), config)(good.grid, good.channel, {}, {}, {});
        ADD_FAILURE() << "a grid without slots: no error";
    } catch (const phy::ArgumentError& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("slots has 0 elements")) << error.what();
    }
    expect_thrown([](Slots&, Equalized& out) { out.symbols.pop_back(); });
    expect_thrown([](Slots&, Equalized& out) { out.noise.pop_back(); });
    expect_thrown([](Slots&, Equalized& out) { out.pairs.resize(out.symbols.size() / 2); });
    for (const float noise : {0.0F, -1.0F}) {
        expect_thrown([noise](Slots& slots, Equalized&) {
            slots.covariance.clear();
            slots.estimates[1].noise_variance = noise;
        });
    }
    expect_thrown([](Slots& slots, Equalized&) {
        slots.covariance.clear();
        slots.estimates[1].channel_error = -0.1F;
    });
}

}  // namespace
