// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <vector>

#include "cli/json.hpp"

namespace nvdebugctl {

/// Returns the columns of a channel's row, for `channel list` and `runlist show --csv`.
[[nodiscard]] const std::vector<Column> &channel_columns();

/// Returns a row for each channel entry of the list, in the order of the list.
[[nodiscard]] Json channel_rows(const nvdebug::Runlist &list, const nvdebug::Owners &owners);

} // namespace nvdebugctl
