// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Pure functions that parse the text of each file (docs/proc.md).
///
/// Text that docs/proc.md does not allow is ErrorCode::malformed, and the sentence has the line.
/// Keys and columns after the known ones are additions of a newer module and skipped. Error::path
/// is empty, because the caller knows which file it has read.
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

/// Parses `info`.
NVDEBUG_API Result<Info> parse_info(std::string_view text);
/// Parses `device_info`.
NVDEBUG_API Result<std::vector<Engine>> parse_device_info(std::string_view text);
/// Parses `engines`.
NVDEBUG_API Result<std::vector<EngineState>> parse_engines(std::string_view text);
/// Parses `runlistY` or `runlistY_brief`. The id is in the text.
NVDEBUG_API Result<Runlist> parse_runlist(std::string_view text);
/// Parses `contexts`.
NVDEBUG_API Result<std::vector<AddressSpaceUse>> parse_contexts(std::string_view text);
/// Parses `copy_topology`, which gives CopyTopology::lces.
NVDEBUG_API Result<std::vector<LogicalCopyEngine>> parse_copy_topology(std::string_view text);
/// Parses `owners`, which only NVIDIA's driver as the source has (docs/nvdebugctl.md).
NVDEBUG_API Result<Owners> parse_owners(std::string_view text);
/// Parses the answer of `context_switches`.
NVDEBUG_API Result<ContextSwitches> parse_context_switches(std::string_view text);
/// Parses `sm_map`.
NVDEBUG_API Result<std::vector<Sm>> parse_sm_map(std::string_view text);
/// Parses `work_distributor`.
NVDEBUG_API Result<WorkDistributor> parse_work_distributor(std::string_view text);
/// Parses `scheduling`: runlist id to whether its scheduling is on.
NVDEBUG_API Result<std::map<std::uint32_t, bool>> parse_scheduling(std::string_view text);
/// Parses the answer of `translate`.
NVDEBUG_API Result<Translation> parse_translation(std::string_view text);
/// Parses a file with a single number, decimal or `0x…`.
NVDEBUG_API Result<std::uint64_t> parse_number(std::string_view text);

} // namespace nvdebug
