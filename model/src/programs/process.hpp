// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "base/time.hpp"
#include "workload/workload.hpp"

#include <optional>
#include <string>

namespace nvmodel {

enum class Api : std::uint8_t { cuda, opengl, vulkan };

/// What copies of OpenGL and Vulkan go by. On an H100 it was GR0; GRCEs (LCE0 and LCE1, which
/// borrow the physical engines of LCE2 and LCE3) are for looking at rule R8, made up.
enum class GraphicsCopies : std::uint8_t { by_gr, by_grce };

/// A process that uses the GPU: what it has on which runlists follows from this.
struct Process {
    std::string name; // of its own; the tasks of the plan are called so
    Api api = Api::cuda;
    /// CUDA_DEVICE_MAX_CONNECTIONS: channels for compute. None: 8, of MPS clients 2.
    std::optional<unsigned> connections = {};
    /// Clients of MPS: the server's name. It needs no entry itself.
    std::string mps_server = {};
    /// Clients of MPS: CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, 1 to 100.
    unsigned percentage = 100;
    GraphicsCopies copies = GraphicsCopies::by_gr;
    std::optional<Ns> compute_timeslice = {}; // none: as the driver gives it
    std::optional<Ns> copy_timeslice = {};
    ComputePreemption preemption = ComputePreemption::cilp;
};

} // namespace nvmodel
