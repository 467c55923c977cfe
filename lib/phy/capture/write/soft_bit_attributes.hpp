#pragma once

#include "phy/capture/capture.hpp"
#include "phy/capture/write/output.hpp"

namespace phy::hdf5 {

/// Throws ArgumentError if a number that names no enumerator says of soft bits what they are.
void check_enums(SoftBitFormat format, const DemapperConfig& demapper);

/// The HDF5 type of soft bits.
TypeHandle soft_bit_type(SoftBitFormat format);

/// Says on a dataset of soft bits how they were made.
void write_soft_bit_attributes(const OutputDataset& llr, const SoftBitWriter::Config& config);

}  // namespace phy::hdf5
