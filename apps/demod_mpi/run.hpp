#pragma once

#include <cstdint>
#include <string>

#include <mpi.h>

#include "demod/options.hpp"

namespace phy::apps {

/// The command line of demod_app_mpi.
struct DemodMpiOptions {
    DemodOptions demod;
    std::uint64_t range_size = 0;  ///< items; 0: the default
    bool shards = false;           ///< as in JoinOptions
    std::string command;           ///< arguments that the output depends on
};

/// Demodulates parts of a capture on all ranks, and joins and reports them on rank 0.
void run_on_all_ranks(MPI_Comm comm, DemodMpiOptions options, const CommonOptions& common);

}  // namespace phy::apps
