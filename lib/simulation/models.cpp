// SPDX-License-Identifier: MIT OR GPL-2.0
#include "models.hpp"

#include <algorithm>
#include <sstream>

namespace simulation {

const std::vector<GpuModel> &models() {
    // The defaults of Gpus are those of the H100: docs/simulate.md has them beside measurements.
    // On the H200, the driver's own timeslice is from lab/default-timeslices, the time of a request
    // that disables channels from lab/atlas, and the others from
    // tests/hardware/h200-580.159.04/turn_costs.json.
    static const std::vector<GpuModel> all = {
        {"h100", "H100", "an H100 80GB HBM3 with driver 580.159.04", Gpus()},
        {"h200",
         "H200",
         "an H200 with driver 580.159.04",
         {.timeslice_us = 2048,
          .switching = 85 * qos::us,
          .late = 107 * qos::us,
          .resume = 50 * qos::us,
          .request = 777 * qos::us,
          .slices_follow = true}}};
    return all;
}

const GpuModel *model_of_product(std::string_view product) {
    std::istringstream words{std::string(product)};
    for (std::string word; words >> word;) {
        const auto at = std::ranges::find(models(), word, &GpuModel::card);
        if (at != models().end())
            return &*at;
    }
    return nullptr;
}

} // namespace simulation
