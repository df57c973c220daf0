// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Channels as rows of a table: `channel list`, `runlist show --csv`. */
#ifndef NVDEBUGCTL_CHANNEL_ROWS_HPP
#define NVDEBUGCTL_CHANNEL_ROWS_HPP

#include <vector>

#include "command.hpp"
#include "nvdebug/runlist.hpp"

namespace nvdebugctl {

const std::vector<Column> &channel_columns();
/** A row for each channel entry of the list, in its order. */
Json channel_rows(const nvdebug::Runlist &list);

} // namespace nvdebugctl

#endif
