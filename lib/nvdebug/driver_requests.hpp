// SPDX-License-Identifier: MIT OR GPL-2.0
// Controls of a GPU that NVIDIA's driver has: what it lets a process do with its own channels and
// TSGs, done through the process' descriptor.
#ifndef NVDEBUG_DRIVER_STEER_HPP
#define NVDEBUG_DRIVER_STEER_HPP

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/driver/kernel.hpp"
#include "file.hpp"
#include "nvdebug/error.hpp"
#include "nvdebug/hold.hpp"
#include "nvdebug/runlist.hpp"
#include "lib/driver/ownership.hpp"

namespace nvdebug::driver {

/** The files that take requests (docs/nvdebugctl.md). */
const std::vector<std::string> &control_files();
bool is_control(std::string_view file);

/** The GPU's runlists as they are now; empty: this user may not read them. */
using Look = std::function<Result<std::vector<Runlist>>(Detail)>;

/**
 * Does what @p text asks of control @p file, all of it or nothing. Where lists can be read, it
 * looks whether the change shows there: if the driver took it and nothing changed, it is put back
 * and an error. With `lease` as the first word, it is put back when Performed::lease ends, by a
 * Keeper.
 */
Result<Performed> steer(const std::shared_ptr<Kernel> &kernel, Ownership &ownership, const Card &card,
                        std::string_view file, std::string_view text, const Look &look);

/** Gpu::hold() */
Result<std::unique_ptr<TaskHold>> hold(const std::shared_ptr<Kernel> &kernel, Ownership &ownership,
                                       const Card &card, const std::vector<std::uint32_t> &pids,
                                       const HoldOptions &options, const Look &look);

} // namespace nvdebug::driver

#endif
