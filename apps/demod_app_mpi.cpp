#include <cstdint>

#include "demod_mpi/run.hpp"
#include "mpi/mpi_app.hpp"

using namespace phy::apps;

int main(int argc, char** argv) {
    DemodMpiOptions options;
    options.command = command_of(argc, argv);
    App app;
    app.name = "demod_app_mpi";
    app.summary =
        "demod_app on all ranks of an MPI program: each takes ranges of one capture, and the first joins "
        "them. A run that was stopped goes on if the same command is given again.";
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
    app.body = [&options](const CommonOptions& common) { run_on_all_ranks(MPI_COMM_WORLD, options, common); };
    return run_mpi_app(app, argc, argv);
}
