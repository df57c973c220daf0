// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "transport/control_server.hpp"
#include "transport/transport.hpp"

namespace nvmodel {

/// Serves QEMU and the control socket, one event at a time, until QEMU goes away. Throws
/// ProtocolError.
void serve_until_qemu_goes(Transport &transport, ControlServer &control);

} // namespace nvmodel
