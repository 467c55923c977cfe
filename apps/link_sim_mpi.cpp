#include "link_sim_mpi/run.hpp"
#include "mpi/mpi_app.hpp"

using namespace phy::apps;

int main(int argc, char** argv) {
    LinkSimMpiOptions options;
    options.command = command_of(argc, argv);
    App app;
    app.name = "link_sim_mpi";
    app.summary =
        "link_sim on all ranks of an MPI program, which share slots. The numbers are those of link_sim. A "
        "run\n"
        "that was stopped goes on if the same command is given again.";
    app.examples = {{"mpirun link_sim_mpi --modulation 64qam --snr-db 8:2:20",
                     "bit error rate and EVM, by as many processes as this machine has processors"},
                    {"srun link_sim_mpi --mcs 20 --snr-db 14:1:18 --block-errors 10k --max-blocks 1G --json",
                     "a low block error rate, by the tasks of a job of Slurm"}};
    add_link_sim_options(options.link_sim, app.options);
    app.options.add_options()  //
        ("parts", text(options.parts, "FOLDER"),
         "folder for the sums of parts until they are joined; then it is removed; default: link_sim.parts");
    app.body = [&options](const CommonOptions& common) { run_on_all_ranks(MPI_COMM_WORLD, options, common); };
    return run_mpi_app(app, argc, argv);
}
