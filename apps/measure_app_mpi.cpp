#include <cstdint>

#include "measure_mpi/run.hpp"
#include "mpi/mpi_app.hpp"

using namespace phy::apps;

int main(int argc, char** argv) {
    MeasureMpiOptions options;
    options.command = command_of(argc, argv);
    App app;
    app.name = "measure_app_mpi";
    app.summary =
        "measure_app on all ranks of an MPI program: each takes ranges of one capture, and the first joins "
        "their sums. A run that was stopped goes on if the same command is given again.";
    app.examples = {{"mpirun measure_app_mpi recording.h5 --link pusch.json --by slot --json",
                     "a recording, by as many processes as this machine has processors"},
                    {"srun measure_app_mpi symbols.h5 --parts /scratch/symbols.parts",
                     "by the tasks of a job of Slurm; all nodes see the folder of the parts"}};
    app.operand = Operand{"CAPTURE", &options.measure.capture};
    add_measure_app_options(options.measure, app.options);
    app.options.add_options()  //
        ("parts", text(options.parts, "FOLDER"),
         "folder for the sums of parts until they are joined; then it is removed; default: "
         "measure_app.parts")  //
        ("range-size", number_within<std::uint64_t>(options.range_size, "--range-size", "N", from_one_on),
         "slots or symbols that a rank takes at a time, rounded up so that parts can be joined; default: "
         "10000 slots or 2^24 symbols");
    app.body = [&options](const CommonOptions& common) { run_on_all_ranks(MPI_COMM_WORLD, options, common); };
    return run_mpi_app(app, argc, argv);
}
