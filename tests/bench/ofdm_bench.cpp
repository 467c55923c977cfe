// OFDM on one core of a CPU, in turns with a memcpy of the same bytes and, where it was found, with FFTW: as
// JSON. Usage: ofdm_bench

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#ifdef PHY_BENCH_FFTW
#include <fftw3.h>
#endif

#include "common/json.hpp"
#include "common/machine.hpp"
#include "common/median.hpp"
#include "phy/core/version.hpp"
#include "phy/ofdm/demodulator.hpp"
#include "phy/ofdm/host/fft_kernels.hpp"
#include "phy/ofdm/transform_precoder.hpp"
#include "phy/receiver/link.hpp"

namespace {

using phy::cf32;
using phy::Host;
using phy::apps::Json;
using phy::apps::median;
using phy::apps::Quartiles;
using Work = std::function<void()>;

double seconds_of(const Work& work, int times) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i)
        work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / times;
}

std::vector<cf32> noise(std::size_t count) {
    std::mt19937 random(7);
    std::normal_distribution<float> gauss;
    std::vector<cf32> numbers(count);
    for (cf32& number : numbers)
        number = {gauss(random), gauss(random)};
    return numbers;
}

struct Limit {
    std::string name;
    Work work;
};

/// The work's time, as how many samples a second, and the speed as a multiple of that of each limit.
Json timed(const std::string& name, const Host& host, std::size_t samples, const Work& work,
           const std::vector<Limit>& limits) {
    constexpr int turns = 101;
    const int times = static_cast<int>(1 + 200'000 / samples);
    std::vector<double> seconds;
    std::vector<std::vector<double>> ratios(limits.size());
    for (int turn = -2; turn < turns; ++turn) {
        const double of_work = seconds_of(work, times);
        for (std::size_t i = 0; i < limits.size(); ++i) {
            const double of_limit = seconds_of(limits[i].work, times);
            if (turn >= 0) ratios[i].push_back(of_limit / of_work);
        }
        if (turn >= 0) seconds.push_back(of_work);
    }
    const Quartiles typical = phy::apps::quartiles(seconds);
    std::vector<Json::Member> members = {
        {"name", name},
        {"backend", host.backend().name()},
        {"samples", samples},
        {"seconds", typical.median},
        {"lower_quartile_seconds", typical.lower},
        {"upper_quartile_seconds", typical.upper},
        {"Msamples/s", static_cast<double>(samples) / typical.median * 1e-6}};
    for (std::size_t i = 0; i < limits.size(); ++i)
        members.emplace_back(limits[i].name, median(ratios[i]));
    return Json::object(members);
}

#ifdef PHY_BENCH_FFTW
/// FFTW's transform of complex numbers out of place, in single precision, by the fastest plan it measures.
class Fftw {
public:
    Fftw(std::vector<cf32>& in, std::vector<cf32>& out) {
        std::vector<cf32> kept = in;
        plan_ = fftwf_plan_dft_1d(static_cast<int>(in.size()), reinterpret_cast<fftwf_complex*>(in.data()),
                                  reinterpret_cast<fftwf_complex*>(out.data()), FFTW_FORWARD, FFTW_PATIENT);
        in = kept;
    }
    ~Fftw() { fftwf_destroy_plan(plan_); }
    Fftw(const Fftw&) = delete;
    Fftw& operator=(const Fftw&) = delete;

    void operator()() const { fftwf_execute(plan_); }

    /// Arrays that are aligned as those of the plan.
    void operator()(const cf32* in, cf32* out) const {
        fftwf_execute_dft(plan_, reinterpret_cast<fftwf_complex*>(const_cast<cf32*>(in)),
                          reinterpret_cast<fftwf_complex*>(out));
    }

private:
    fftwf_plan plan_;
};
#endif

/// One transform again and again, from and to complex numbers that lie as pairs.
Json transform(const Host& host, std::size_t size) {
    const phy::detail::FftPlan plan(size, phy::detail::FactorOrder::vectors);
    const phy::detail::FftKernels& fft = phy::detail::fft_kernels(host.backend());
    phy::detail::FftWorkspace workspace(1, 4 * size, 0);
    std::vector<cf32> in = noise(size);
    std::vector<cf32> out(size);
    std::vector<cf32> copy(size);
    const Work work = [&] {
        fft.transform(plan.fft(), reinterpret_cast<const float*>(in.data()), workspace.work(0),
                      {.out = reinterpret_cast<float*>(out.data()), .count = size});
    };
    std::vector<Limit> limits = {
        {"of_memcpy", [&] { std::memcpy(copy.data(), in.data(), size * sizeof(cf32)); }}};
#ifdef PHY_BENCH_FFTW
    const Fftw fftw(in, copy);
    limits.push_back({"of_fftw", [&] { fftw(); }});
#endif
    return timed("fft/" + std::to_string(size), host, size, work, limits);
}

/// A slot of 100 MHz at 30 kHz with four antennas.
template <typename Sample>
Json slot(const Host& host) {
    const phy::OfdmConfig config = {
        .resource_blocks = 273, .sample_rate = 122'880'000.0, .center_frequency = 3.75e9, .antennas = 4};
    phy::OfdmDemodulator demodulate(host, {.ofdm = config, .window_offset = 0});
    const std::size_t count = 4 * demodulate.timing().slot_samples(0);
    const std::vector<cf32> numbers = noise(count);
    std::vector<Sample> samples(count);
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<Sample, cf32>)
            samples[i] = numbers[i];
        else
            samples[i] = {static_cast<std::int16_t>(1000.0F * numbers[i].real()),
                          static_cast<std::int16_t>(1000.0F * numbers[i].imag())};
    }
    std::vector<cf32> grid(4 * demodulate.timing().slot_elements());
    std::vector<std::byte> copy(std::max(count * sizeof(Sample), grid.size() * sizeof(cf32)));
    const Work memcpy_of_both = [&] {
        std::memcpy(copy.data(), samples.data(), (count * sizeof(Sample) + grid.size() * sizeof(cf32)) / 2);
    };
    std::vector<Limit> limits = {{"of_memcpy", memcpy_of_both}};
#ifdef PHY_BENCH_FFTW
    // The transforms of the slot alone, always of binary32.
    const phy::OfdmTiming& timing = demodulate.timing();
    std::vector<cf32> in = numbers;
    in.resize(timing.fft_size());
    std::vector<cf32> bins(timing.fft_size());
    const Fftw fftw(in, bins);
    limits.push_back(
        {"of_fftw", [&] {
             for (std::size_t antenna = 0; antenna < 4; ++antenna)
                 for (std::size_t symbol = 0; symbol < 14; ++symbol)
                     fftw(&numbers[antenna * timing.slot_samples(0) + timing.symbol_start(0, symbol) +
                                   timing.prefix_samples(0, symbol)],
                          bins.data());
         }});
#endif
    return timed(
        "slot/4x273/" + std::string(to_string(phy::sample_format_of<Sample>)), host, count,
        [&] { demodulate(samples, {}, grid); }, limits);
}

/// A carrier of 100 MHz at 122.88 Msps from another rate: as much as a slot with four antennas.
Json resampler(const Host& host, double rate) {
    phy::Link link;
    link.allocation.carrier_resource_blocks = 273;
    link.carrier.sample_rate = rate;
    phy::ResamplerConfig config = phy::resampler_config(link);
    config.output_rate = 122.88e6;
    phy::Resampler resample(host, config);
    constexpr std::size_t outputs = 61'440;
    const auto inputs = static_cast<std::size_t>(outputs * rate / config.output_rate) + 2 * resample.margin();
    const std::vector<cf32> in = noise(4 * inputs);
    std::vector<cf32> out(4 * outputs);
    std::vector<cf32> grid(std::size_t{4} * 14 * 3276);
    const std::vector<phy::ResampledRow> rows(
        4, {.position = resample.margin() << 32U, .step = resample.step()});
    const phy::OfdmConfig ofdm = {
        .resource_blocks = 273, .sample_rate = config.output_rate, .center_frequency = 3.75e9, .antennas = 4};
    phy::OfdmDemodulator demodulate(host, {.ofdm = ofdm});
    return timed("resampler/" + std::to_string(std::llround(rate)), host, out.size(),
                 [&] { resample(in, rows, out); },
                 {{"of_ofdm", [&] { demodulate(out, {.first = 1, .stride = outputs}, grid); }},
                  {"of_memcpy", [&] { std::memcpy(out.data(), in.data(), out.size() * sizeof(cf32)); }}});
}

/// The symbols of a slot of PUSCH.
Json precoder(const Host& host, int size) {
    phy::TransformPrecoder undo(host, {.subcarriers = size});
    const std::vector<cf32> in = noise(12 * static_cast<std::size_t>(size));
    std::vector<cf32> out(in.size());
    std::vector<cf32> copy(in.size());
    return timed("precoder/" + std::to_string(size), host, in.size(), [&] { undo(in, out); },
                 {{"of_memcpy", [&] { std::copy(in.begin(), in.end(), copy.begin()); }}});
}

}  // namespace

int main() {
    std::vector<Json> results;
    for (const phy::Backend& backend : phy::Backend::all()) {
        if (backend.kind() != phy::Backend::Kind::cpu || !backend.supported()) continue;
        const Host host({.backend = backend});
        for (const std::size_t size : {128U, 256U, 512U, 1024U, 1536U, 2048U, 3072U, 4096U, 6144U, 8192U})
            results.push_back(transform(host, size));
        results.push_back(slot<cf32>(host));
        results.push_back(slot<phy::ci16>(host));
        for (const double rate : {100e6, 125e6, 184.32e6, 200e6, 245.76e6})
            results.push_back(resampler(host, rate));
        for (const int size : {12, 300, 1200, 3240})
            results.push_back(precoder(host, size));
    }
    const Json context = Json::object({{"date", phy::apps::date()},
                                       {"phy_version", phy::version},
                                       {"processor", phy::apps::processor()},
                                       {"backend", Host().backend().name()},
#ifdef PHY_BENCH_FFTW
                                       {"fftw", std::string(fftwf_version)}
#endif
    });
    fmt::print("{{\"context\": {},\n\"benchmarks\": [", context.text());
    for (const Json& result : results)
        fmt::print("{}\n{}", &result == results.data() ? "" : ",", result.text());
    fmt::print("\n]}}\n");
}
