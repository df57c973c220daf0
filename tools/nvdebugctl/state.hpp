// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file All that a GPU says about its scheduling, each file read once. */
#ifndef NVDEBUGCTL_STATE_HPP
#define NVDEBUGCTL_STATE_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/nvdebug.hpp"

namespace nvdebugctl {

/** Each result is what reading its file gave: an error is shown, never taken for "nothing". */
struct State {
    std::string folder; ///< `/proc/gpu0`, to name files by
    nvdebug::Result<nvdebug::Info> info;
    nvdebug::Result<std::vector<nvdebug::Engine>> engines;
    nvdebug::Result<std::vector<nvdebug::EngineState>> now;
    std::map<std::uint32_t, nvdebug::Result<nvdebug::Runlist>> runlists; ///< `runlistY_brief`
    nvdebug::Result<std::vector<nvdebug::AddressSpaceUse>> spaces;
    nvdebug::Result<std::map<std::uint32_t, bool>> scheduling;
};

/** The file that a runlist of State::runlists was read from. */
std::string runlist_file(std::uint32_t runlist);

/** @param only this runlist's list alone, if given. */
State read_state(const nvdebug::Gpu &gpu, std::optional<std::uint32_t> only = std::nullopt);

/** Lists that are torn or cannot be read. */
std::vector<nvdebug::Error> list_errors_of(const State &state);

/** Those, and errors of reading the other files; what a chip does not have is none. */
std::vector<nvdebug::Error> errors_of(const State &state);

} // namespace nvdebugctl

#endif
