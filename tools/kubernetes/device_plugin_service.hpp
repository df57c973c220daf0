// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The service that kubelet calls, v1beta1.DevicePlugin.
#pragma once

#include <atomic>
#include <grpcpp/impl/service_type.h>
#include <memory>
#include <string>

#include "device_plugin_stock.hpp"
#include "device_plugin_units.hpp"

namespace nvdebug::kubernetes {

/// What a container with units is given.
struct Gifts {
    std::string cdi_folder, nvqos, socket; ///< paths on the node
    /// How the container has the device files of its GPU.
    enum class Visible {
        envvar, ///< NVIDIA_VISIBLE_DEVICES, which NVIDIA's runtime reads
        cdi,    ///< nvidia.com/gpu=UUID, which `nvidia-ctk cdi generate` makes
        none,
    } visible = Visible::envvar;
};

/// Removes the files of units' devices that no container has been started with for a day. The
/// device of a container that starts again is written again.
void remove_unused_devices(const std::string &cdi_folder);

/// Returns the service. @p stock must outlive it, and so must @p streams: the number of calls of
/// ListAndWatch that have not ended. A kubelet that knows the plugin has one.
[[nodiscard]] std::unique_ptr<grpc::Service> make_service(Stock &stock, Gifts gifts,
                                                          std::atomic<int> &streams);

} // namespace nvdebug::kubernetes
