// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file GPU models with known constants.
#pragma once

#include <string_view>
#include <vector>

#include "scenario.hpp"

namespace simulation {

/// A scenario names a model, and may replace each of its constants.
struct GpuModel {
    std::string_view name;
    std::string_view card;     ///< a word of the product's name, as NVIDIA's driver has it
    std::string_view measured; ///< the GPU and the driver that the constants were measured with
    Gpus gpus;
};

/// Returns all models, in the order of their names.
const std::vector<GpuModel> &models();

/// Returns the model of a product, as `NVIDIA H200`; null: there is none.
const GpuModel *model_of_product(std::string_view product);

} // namespace simulation
