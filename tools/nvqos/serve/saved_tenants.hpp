// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The tenants that have a holder, in a file beside the socket. An nvqos that is started again
/// holds them again, because their holders may not know that it was restarted.
#pragma once

#include <string>
#include <vector>

#include "held_tenants.hpp"

namespace nvqos {

/// Writes the tenants that have a holder, or removes the file if none has. The file has the time of
/// the boot, so that numbers of processes of an earlier boot mean no process.
Outcome<void> save_tenants(const std::string &path, const std::vector<HeldTenant> &tenants);

/// Returns the tenants of the file of which a holder still lives, with their living holders and
/// processes, as held since @p now; none if there is no file. Fails if the file is not whole, is of
/// another user than this process', or is longer than 16 MiB.
Outcome<std::vector<HeldTenant>> saved_tenants(const std::string &path, qos::Ns now);

} // namespace nvqos
