#pragma once

#include <string>

#include "common/app.hpp"
#include "phy/mpi/ranks.hpp"

/// Common parts of the apps whose work is shared by the ranks of an MPI program.
namespace phy::apps {

/// run_app() on each rank, with MPI initialised around the body. Rank 0 prints what is wrong with the command
/// line and what mpi::from_first_rank() throws; the other ranks are silent about the same.
int run_mpi_app(App& app, int argc, char** argv);

/// The arguments that results depend on. Those of the machine, of what is printed or written, and of the
/// parts are left out.
std::string command_of(int argc, char** argv);

/// A rank's share of the processors of its machine, unless a launcher has bound it to less.
int own_processors(const mpi::Place& place);

}  // namespace phy::apps
