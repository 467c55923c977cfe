#pragma once

#include <optional>

#include "phy/capture/element_type.hpp"
#include "phy/capture/hdf5/handle.hpp"
#include "phy/capture/iq_layout.hpp"
#include "phy/capture/number.hpp"
#include "phy/core/format.hpp"

/// HDF5 types of the numbers of captures.
namespace phy::hdf5 {

using detail::all_number_kinds;
using detail::IqLayout;
using detail::number_kind;
using detail::number_kind_of;
using detail::NumberKind;
using detail::NumberType;

/// Empty if phy does not read the type.
std::optional<NumberType> number_type_of(hid_t type);

detail::ElementType element_type_of(hid_t type);

TypeHandle hdf5_type(NumberType type);

/// The compound that phy writes: "r" and "i", like h5py and NumPy.
TypeHandle iq_type(SampleFormat format);

}  // namespace phy::hdf5
