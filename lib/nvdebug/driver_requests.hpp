// SPDX-License-Identifier: MIT OR GPL-2.0
// The controls of a GPU of NVIDIA's driver: requests about channels and TSGs of processes, carried
// out through the processes' own descriptors.
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

/// Returns the files that take requests (docs/nvdebugctl.md).
[[nodiscard]] const std::vector<std::string> &control_files();
[[nodiscard]] bool is_control(std::string_view file);

/// Carries out the whole request @p text to control @p file, or none of it. Where lists can be
/// read, the change is verified there: if the driver accepted a call without effect, the request is
/// undone and fails. With `lease` as the first word, a Keeper undoes the change when
/// Performed::lease ends.
[[nodiscard]] Result<Performed> perform_request(const std::shared_ptr<Kernel> &kernel,
                                                Ownership &ownership, const Card &card,
                                                std::string_view file, std::string_view text,
                                                const ReadLists &read_lists);

} // namespace nvdebug::driver
