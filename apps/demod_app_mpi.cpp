#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "common/app.hpp"
#include "demod_mpi/run.hpp"
#include "phy/mpi/ranks.hpp"

namespace {

using namespace phy::apps;

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

/// The arguments without those that change no part.
std::string command_of(std::span<char*> arguments) {
    constexpr std::array<std::string_view, 7> with_value = {"--backend", "--device", "--threads",  "--chunk",
                                                            "--streams", "--order",  "--log-level"};
    constexpr std::array<std::string_view, 5> flags = {"--quiet", "--json", "--force", "--durable",
                                                       "--shards"};
    std::string command;
    bool is_value = false;
    for (const std::string_view argument : arguments) {
        const std::string_view name = argument.substr(0, argument.find('='));
        const bool takes_value = std::ranges::find(with_value, name) != with_value.end();
        const bool is_left_out = is_value || takes_value || std::ranges::find(flags, argument) != flags.end();
        is_value = takes_value && name == argument;
        if (is_left_out) continue;
        if (!command.empty()) command += ' ';
        command += argument;
    }
    return command;
}

}  // namespace

int main(int argc, char** argv) {
    DemodMpiOptions options;
    options.command = command_of(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
    std::optional<Silence> silence;
    if (is_other_rank()) silence.emplace();
    App app;
    app.name = "demod_app_mpi";
    app.summary =
        "demod_app on all ranks of an MPI program: each takes ranges of one capture, and the first joins "
        "them. A run "
        "that was stopped goes on if the same command is given again.";
    app.examples = {{"mpirun demod_app_mpi recording.h5 --link pusch.json -o soft_bits.h5",
                     "a recording, by as many processes as this machine has processors"},
                    {"srun demod_app_mpi recording.h5 --link pusch.json -o soft_bits.h5 --range-size 20000",
                     "by the tasks of a job of Slurm, 20000 slots at a time"}};
    app.operand = Operand{"CAPTURE", &options.demod.capture, &options.demod.more_captures};
    app.printed = &options.demod.example;
    add_demod_options(options.demod, app.options);
    app.options.add_options()  //
        ("shards", flag(options.shards),
         "do not copy the parts: the output refers to them, and they must stay where they are")  //
        ("range-size", number_within<std::uint64_t>(options.range_size, "--range-size", "N", from_one_on),
         "slots or symbols that a rank takes at a time; default: 10000 slots or 2^24 symbols");
    app.body = [&](const CommonOptions& common) {
        silence.reset();
        const phy::mpi::Session session(argc, argv);
        int ranks = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        if (is_other_rank() && ranks == 1)
            throw phy::ArgumentError(
                "MPI has one rank, but the launcher started several: both use different MPIs");
        try {
            run_on_all_ranks(MPI_COMM_WORLD, options, common);
        } catch (const phy::mpi::FirstRankError&) {
            // That rank prints it.
        }
    };
    const int status = run_app(app, argc, argv);
    if (silence && status != exit_done) {
        // A launcher ends the other ranks when one fails: the first says what is wrong, if it fails too.
        std::this_thread::sleep_for(std::chrono::seconds(3));
        silence.reset();
        std::fprintf(stderr,
                     "demod_app_mpi: a rank ended before MPI began, unlike the first: its environment or its "
                     "libraries may "
                     "differ\n");
    }
    return status;
}
