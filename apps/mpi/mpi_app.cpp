#include "mpi/mpi_app.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "phy/core/error.hpp"
#include "phy/machine/host.hpp"

namespace phy::apps {
namespace {

/// True for ranks but the first, before MPI is initialised: launchers tell it by these variables.
bool is_other_rank() {
    for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (const char* const rank = std::getenv(name)) return std::string_view(rank) != "0";
    return false;
}

/// Until its destruction this process prints nothing: the first rank says the same of the command line.
class Silence {
public:
    Silence() {
        const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        close(nothing);
    }
    ~Silence() {
        dup2(out_, STDOUT_FILENO);
        dup2(err_, STDERR_FILENO);
        close(out_);
        close(err_);
    }

    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

private:
    int out_ = dup(STDOUT_FILENO);
    int err_ = dup(STDERR_FILENO);
};

void require_one_mpi() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (is_other_rank() && ranks == 1)
        throw ArgumentError("MPI has one rank, but the launcher started several: both use different MPIs");
}

}  // namespace

int run_mpi_app(App& app, int argc, char** argv) {
    std::optional<Silence> silence;
    if (is_other_rank()) silence.emplace();
    app.body = [&, body = std::move(app.body)](const CommonOptions& common) {
        silence.reset();
        const mpi::Session session(argc, argv);
        require_one_mpi();
        try {
            body(common);
        } catch (const mpi::FirstRankError&) {
            // That rank prints it.
        }
    };
    const int status = run_app(app, argc, argv);
    if (silence && status != exit_done) {
        // A launcher ends the other ranks when one fails: the first says what is wrong, if it fails too.
        std::this_thread::sleep_for(std::chrono::seconds(3));
        silence.reset();
        std::fprintf(stderr,
                     "%s: a rank ended before MPI began, unlike the first: its environment or its libraries "
                     "may differ\n",
                     app.name.c_str());
    }
    return status;
}

std::string command_of(int argc, char** argv) {
    constexpr std::array<std::string_view, 9> with_value = {"--backend",   "--device",  "--threads",
                                                            "--chunk",     "--streams", "--order",
                                                            "--log-level", "--csv",     "--parts"};
    constexpr std::array<std::string_view, 5> flags = {"--quiet", "--json", "--force", "--durable",
                                                       "--shards"};
    const auto is_one_of = [](const auto& names, std::string_view name) {
        return std::ranges::find(names, name) != names.end();
    };
    std::string command;
    bool is_value = false;
    for (const std::string_view argument : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
        const std::string_view name = argument.substr(0, argument.find('='));
        const bool takes_value = is_one_of(with_value, name);
        const bool is_left_out = is_value || takes_value || is_one_of(flags, argument);
        is_value = takes_value && name == argument;
        if (is_left_out) continue;
        if (!command.empty()) command += ' ';
        command += argument;
    }
    return command;
}

int own_processors(const mpi::Place& place) {
    const auto of_machine = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    return std::min(Host::processors(), std::max(1, of_machine / place.local_ranks));
}

}  // namespace phy::apps
