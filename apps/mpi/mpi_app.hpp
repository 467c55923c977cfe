#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/app.hpp"

/// Common parts of the apps whose work is shared by the ranks of an MPI program.
namespace phy::apps {

/// run_app() on each rank, with MPI initialised around the body. Rank 0 prints what is wrong with the command
/// line and what mpi::from_first_rank() throws; the other ranks are silent about the same.
int run_mpi_app(App& app, int argc, char** argv);

/// The arguments without those that change no result: of the machine, of what is printed, and `others`, which
/// have no value.
std::string command_of(std::span<char*> arguments, std::span<const std::string_view> others = {});

}  // namespace phy::apps
