#include "phy/pipeline/stage.hpp"

#include "phy/core/error.hpp"

namespace phy {

void StageRunner::run_on_host(const HostWork& /*work*/) {
    throw BackendError("the stage does not run on a CPU");
}

void StageRunner::run_on_device(const DeviceWork& /*work*/) {
    throw BackendError("the stage does not run on a CUDA device");
}

}  // namespace phy
