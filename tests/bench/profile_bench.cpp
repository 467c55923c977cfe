#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "bench/profile_report.hpp"
#include "common/app.hpp"
#include "common/formats.hpp"
#include "common/random.hpp"
#include "phy/core/error.hpp"
#include "phy/machine/host.hpp"

namespace {

using namespace phy::bench;  // NOLINT(google-build-using-namespace)
using phy::apps::CommonOptions;
using phy::apps::parse_number;

phy_test::ProfileChoice choice_of(const ProfileOptions& options, int layers) {
    phy_test::ProfileChoice choice;
    choice.layers = layers;
    choice.resource_blocks = options.resource_blocks;
    return choice;
}

ProfileOutcome measure(const ProfileOptions& options, int layers, std::uint64_t seed) {
    ProfileOutcome outcome = {draw_profile(seed, choice_of(options, layers)), {}};
    std::optional<phy_test::ProfileTrial> trial;
    try {
        trial.emplace(outcome.drawn);
    } catch (const phy::ArgumentError&) {
        return outcome;
    }
    for (const double snr_db : options.snr_db)
        outcome.losses.push_back(trial->run(snr_db));
    return outcome;
}

/// All cases on the threads. Their order does not depend on these.
std::vector<ProfileOutcome> measure_all(const ProfileOptions& options, bool quiet) {
    const auto of_layers = static_cast<std::size_t>(options.channels);
    std::vector<ProfileOutcome> outcomes(of_layers * options.layers.size());
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::exception_ptr error;
    const auto work = [&] {
        try {
            for (std::size_t i = next++; i < outcomes.size(); i = next++) {
                phy::apps::throw_if_interrupted();
                const int layers = options.layers[i / of_layers];
                const phy::apps::RandomSequence seeds(options.seed, static_cast<std::uint64_t>(layers));
                outcomes[i] = measure(options, layers, seeds.bits(i % of_layers));
                if (!quiet && i % 100 == 0) fmt::print(stderr, "{} of {} channels\n", i, outcomes.size());
            }
        } catch (...) {
            const std::scoped_lock lock(mutex);
            error = std::current_exception();
            next = outcomes.size();
        }
    };
    {
        std::vector<std::jthread> workers;
        for (int i = 0; i < options.threads; ++i)
            workers.emplace_back(work);
    }
    if (error) std::rethrow_exception(error);
    return outcomes;
}

int parse_layers(std::string_view text) {
    const std::optional<int> value = parse_number<int>(text);
    if (!value || *value < 1 || *value > phy::max_layers)
        throw phy::ArgumentError("expected whole numbers from 1 to 4");
    return *value;
}

double parse_snr(std::string_view text) {
    const std::optional<double> value = parse_number<double>(text);
    if (!value || !(*value >= -30.0 && *value <= 80.0))
        throw phy::ArgumentError("expected numbers from -30 to 80");
    return *value;
}

std::pair<int, int> parse_blocks(const std::string& text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::optional<int> first = parse_number<int>(std::string_view(text).substr(0, colon));
    const std::optional<int> last =
        parse_number<int>(std::string_view(text).substr(std::min(colon + 1, text.size())));
    if (!first || !last || *first < 1 || *last > 275 || *first > *last)
        throw phy::ArgumentError(
            fmt::format("--resource-blocks {}: expected FIRST:LAST, from 1 to 275", text));
    return {*first, *last};
}

}  // namespace

int main(int argc, char** argv) {
    ProfileOptions options;
    std::optional<std::uint64_t> seed;
    std::optional<std::uint64_t> replayed;
    phy::apps::App app;
    app.name = "profile_bench";
    app.summary =
        "Measures what phy::ChannelEstimator loses on channels drawn at random, beside a Wiener filter that\n"
        "knows the profile and beside one for a flat profile over a cyclic prefix.";
    app.options.add_options()  //
        ("seed", phy::apps::number<std::uint64_t>(seed, "N"),
         "seed of all channels; default: drawn, and printed")  //
        ("channels",
         phy::apps::number_within<int>(options.channels, "--channels", "N",
                                       {1, 1'000'000, "a whole number from 1 to 1000000"}),
         "channels per number of layers, default 1000")  //
        ("layers",
         phy::apps::parsed(
             options.layers,
             [](const std::string& list) { return phy::apps::parse_list("--layers", list, parse_layers); },
             "N[,N...]"),
         "numbers of layers, default 1,2,4")  //
        ("snr-db",
         phy::apps::parsed(
             options.snr_db,
             [](const std::string& list) { return phy::apps::parse_list("--snr-db", list, parse_snr); },
             "X[,X...]"),
         "SNRs in dB: the power of all layers at one antenna over its noise; default 0,10,20,30,40,45")  //
        ("resource-blocks", phy::apps::parsed(options.resource_blocks, parse_blocks, "FIRST:LAST"),
         "range of numbers of resource blocks, default 6:273")  //
        ("replay", phy::apps::number<std::uint64_t>(replayed, "SEED"),
         "seed of a single channel, as reported for the worst: shows that channel, with the first of "
         "--layers "
         "and the same --resource-blocks")  //
        ("threads",
         phy::apps::number_within<int>(options.threads, "--threads", "N",
                                       {1, 1024, "a whole number from 1 to 1024"}),
         "CPU threads, default 1; the result does not depend on it");
    app.body = [&](const CommonOptions& common) {
        options.seed = seed ? *seed : std::random_device()();
        const auto start = std::chrono::steady_clock::now();
        if (replayed) {
            const ProfileOutcome outcome = measure(options, options.layers.front(), *replayed);
            print_result(common, json_of(options, {outcome}, 0.0), text_of(options, outcome));
            return;
        }
        const std::vector<ProfileOutcome> outcomes = measure_all(options, common.quiet || common.json);
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        print_result(common, json_of(options, outcomes, seconds), text_of(options, outcomes));
    };
    return phy::apps::run_app(app, argc, argv);
}
