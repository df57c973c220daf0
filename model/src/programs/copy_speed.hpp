// SPDX-License-Identifier: MIT OR GPL-2.0
// The speeds of copies while nothing else runs, as measured on an H100 (lab/shared-copy-engines,
// "alone": copies of 64 MiB and of 51,200 bytes).
#pragma once

#include "programs/operation.hpp"

namespace nvmodel {

struct CopySpeed {
    double setup_ns;     // before the first byte of each copy
    double bytes_per_ns; // afterwards
};

/// The speed of CUDA's copies: by a copy engine or, on the GPU, by the graphics engine.
[[nodiscard]] constexpr CopySpeed cuda_copy_speed(Direction direction) {
    switch (direction) {
    case Direction::to_gpu:
        return {4500, 55.0};
    case Direction::to_host:
        return {4400, 52.6};
    case Direction::on_gpu:
        return {8650, 1740};
    }
    return {};
}

/// The speed of Vulkan's copies, by the graphics engine. Only copies of 64 MiB were measured, so
/// the setup is CUDA's.
[[nodiscard]] constexpr CopySpeed graphics_copy_speed(Direction direction) {
    switch (direction) {
    case Direction::to_gpu:
        return {4500, 48.3};
    case Direction::to_host:
        return {4400, 49.6};
    case Direction::on_gpu:
        return {8650, 308};
    }
    return {};
}

} // namespace nvmodel
