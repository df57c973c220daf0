// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A claim by which only one program at a time gives shares of a GPU.
#pragma once

#include <memory>
#include <string>

namespace nvdebug::base {

/// Claims the GPU with PCI address @p gpu for this process, as long as the result lives. The claim
/// is a lock on a file in @p folder (runtime_folder), which this function makes if it is missing.
/// Where the folder cannot be written, the result holds no lock. Returns nullptr if another process
/// has the claim.
std::shared_ptr<const void> claim_shares(const std::string &folder, const std::string &gpu);

} // namespace nvdebug::base
