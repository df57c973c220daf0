// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief From the text of each file (docs/proc.md) to its type: pure functions.
///
/// Anything that the contract does not allow is ErrorCode::malformed, with the line in the
/// sentence; keys and columns after the known ones are additions of a newer module, and skipped.
/// Error::path is empty: the caller knows what it read.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "nvdebug/address_space.hpp"
#include "nvdebug/copy.hpp"
#include "nvdebug/engine.hpp"
#include "nvdebug/error.hpp"
#include "nvdebug/gpc.hpp"
#include "nvdebug/info.hpp"
#include "nvdebug/owner.hpp"
#include "nvdebug/runlist.hpp"
#include "nvdebug/switches.hpp"
#include "nvdebug/translation.hpp"

namespace nvdebug {

NVDEBUG_API Result<Info> parse_info(std::string_view text);
NVDEBUG_API Result<std::vector<Engine>> parse_device_info(std::string_view text);
NVDEBUG_API Result<std::vector<EngineState>> parse_engines(std::string_view text);
/// `runlistY` or `runlistY_brief`; the id is in the text.
NVDEBUG_API Result<Runlist> parse_runlist(std::string_view text);
NVDEBUG_API Result<std::vector<AddressSpaceUse>> parse_contexts(std::string_view text);
/// CopyTopology::lces.
NVDEBUG_API Result<std::vector<LogicalCopyEngine>> parse_copy_topology(std::string_view text);
/// `owners`, which only NVIDIA's driver as the source has (docs/nvdebugctl.md).
NVDEBUG_API Result<Owners> parse_owners(std::string_view text);
/// What `context_switches` answers.
NVDEBUG_API Result<ContextSwitches> parse_context_switches(std::string_view text);
NVDEBUG_API Result<std::vector<Sm>> parse_sm_map(std::string_view text);
NVDEBUG_API Result<WorkDistributor> parse_work_distributor(std::string_view text);
NVDEBUG_API Result<std::map<std::uint32_t, bool>> parse_scheduling(std::string_view text);
NVDEBUG_API Result<Translation> parse_translation(std::string_view text);
/// A file that holds one number, decimal or `0x…`.
NVDEBUG_API Result<std::uint64_t> parse_number(std::string_view text);

} // namespace nvdebug
