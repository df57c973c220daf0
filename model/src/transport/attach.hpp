// SPDX-License-Identifier: MIT OR GPL-2.0
// Options for the transport by which QEMU reaches a PCI function, and for control requests to it.
#pragma once

#include "device/pci_function.hpp"
#include "transport/transport.hpp"

#include <memory>
#include <string>

namespace nvmodel {

struct AttachOptions {
    int qemu_fd = -1;      // --qemu-fd
    std::string vfio_user; // --vfio-user
    std::string control;   // --control
};

/// Returns why the options make no sense; empty if they do.
std::string trouble_with(const AttachOptions &options);

/// Attaches the function to QEMU. Throws ConfigError.
std::unique_ptr<Transport> attach(PciFunction &function, const AttachOptions &options);

} // namespace nvmodel
