#pragma once

#include <cstdint>
#include <string>

#include <mpi.h>

#include "common/app.hpp"
#include "measure/options.hpp"

namespace phy::apps {

/// The command line of measure_app_mpi.
struct MeasureMpiOptions {
    MeasureAppOptions measure;
    std::string parts = "measure_app.parts";  ///< folder
    std::uint64_t range_size = 0;             ///< items; 0: the default
    std::string command;                      ///< arguments that the report depends on
};

/// Measures parts of a capture on all ranks, and joins and reports them on rank 0.
void run_on_all_ranks(MPI_Comm comm, MeasureMpiOptions options, const CommonOptions& common);

}  // namespace phy::apps
