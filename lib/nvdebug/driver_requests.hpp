// SPDX-License-Identifier: MIT OR GPL-2.0
// Controls of a GPU of NVIDIA's driver: requests about the channels and TSGs of processes, made
// through the processes' own descriptors.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver_effect.hpp"
#include "file.hpp"
#include "lib/driver/kernel.hpp"
#include "lib/driver/ownership.hpp"
#include "nvdebug/error.hpp"

namespace nvdebug::driver {

/// The files that take requests (docs/nvdebugctl.md).
[[nodiscard]] const std::vector<std::string> &control_files();
[[nodiscard]] bool is_control(std::string_view file);

/// Carries out the request @p text to control @p file, all of it or nothing. Where lists can be
/// read, the change is looked for there: one that the driver accepted without effect is undone, and
/// an error. With `lease` as the first word, a Keeper undoes the change when Performed::lease ends.
[[nodiscard]] Result<Performed> perform_request(const std::shared_ptr<Kernel> &kernel,
                                                Ownership &ownership, const Card &card,
                                                std::string_view file, std::string_view text,
                                                const ReadLists &read_lists);

} // namespace nvdebug::driver
