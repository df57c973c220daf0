// SPDX-License-Identifier: MIT OR GPL-2.0
#include "models.hpp"

namespace simulation {

const std::vector<GpuModel> &models() {
    // The defaults of Gpus are those of the H100: docs/simulate.md has them beside measurements.
    static const std::vector<GpuModel> all = {
        {"h100", "an H100 80GB HBM3 with driver 580.159.04", Gpus()}};
    return all;
}

} // namespace simulation
