// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watch/summary.hpp"

namespace nvdebugctl {

ListSummary summarize(const nvdebug::Runlist &list) {
    ListSummary summary{};
    for (const nvdebug::RunlistItem &item : list.items)
        summary.tsgs += std::holds_alternative<nvdebug::Tsg>(item);
    for (const nvdebug::ListedChannel &listed : nvdebug::channels_of(list)) {
        ++summary.channels;
        summary.enabled += listed.channel->enabled.value_or(false);
        summary.busy += listed.channel->busy.value_or(false);
    }
    return summary;
}

} // namespace nvdebugctl
