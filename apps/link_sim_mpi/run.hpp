#pragma once

#include <string>

#include <mpi.h>

#include "link_sim/options.hpp"

namespace phy::apps {

/// The command line of link_sim_mpi.
struct LinkSimMpiOptions {
    LinkSimOptions link_sim;
    std::string parts = "link_sim.parts";  ///< folder
    std::string command;                   ///< arguments that the numbers depend on
};

/// Simulates on all ranks, and reports on rank 0.
void run_on_all_ranks(MPI_Comm comm, const LinkSimMpiOptions& options, const CommonOptions& common);

}  // namespace phy::apps
