// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A claim on what one program at a time may do.
#pragma once

#include <memory>
#include <string>

namespace nvdebug::base {

/// Makes this process the only one that gives shares of a GPU, as long as the result lives. @p gpu:
/// its PCI address, locked by a file in @p folder (runtime_folder), which is made if it is not
/// there; where it cannot be written there is no lock. nullptr: another process has it.
std::shared_ptr<const void> claim_shares(const std::string &folder, const std::string &gpu);

} // namespace nvdebug::base
