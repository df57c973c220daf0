// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <vector>

#include "cli/json.hpp"

namespace nvdebugctl {

/// Of a channel's row in `channel list`, `runlist show --csv`.
[[nodiscard]] const std::vector<Column> &channel_columns();

/// A row for each channel entry of the list, in its order.
[[nodiscard]] Json channel_rows(const nvdebug::Runlist &list, const nvdebug::Owners &owners);

} // namespace nvdebugctl
