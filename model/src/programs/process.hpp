// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "base/time.hpp"
#include "workload/workload.hpp"

#include <optional>
#include <string>

namespace nvmodel {

enum class Api : std::uint8_t { cuda, opengl, vulkan };

/// The engine of OpenGL's and Vulkan's copies. On an H100 it was GR0. GRCEs (LCE0 and LCE1, which
/// borrow the physical engines of LCE2 and LCE3) are made up, to look at rule R8.
enum class GraphicsCopies : std::uint8_t { by_gr, by_grce };

/// A process that uses the GPU. Its TSGs and channels follow from this.
struct Process {
    std::string name; // unique; tasks of the plan have this name
    Api api = Api::cuda;
    /// CUDA_DEVICE_MAX_CONNECTIONS: the number of channels for compute. None: 8, or 2 of a client
    /// of MPS.
    std::optional<unsigned> connections = {};
    /// The server's name, for clients of MPS. The server needs no entry itself.
    std::string mps_server = {};
    /// CUDA_MPS_ACTIVE_THREAD_PERCENTAGE of clients of MPS, 1 to 100.
    unsigned percentage = 100;
    GraphicsCopies copies = GraphicsCopies::by_gr;
    std::optional<Ns> compute_timeslice = {}; // none: the driver's default
    std::optional<Ns> copy_timeslice = {};
    ComputePreemption preemption = ComputePreemption::cilp;
};

} // namespace nvmodel
