// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/runlist.hpp"

namespace nvdebug {

std::vector<ListedChannel> channels_of(const Runlist &runlist) {
    std::vector<ListedChannel> channels;
    for (const RunlistItem &item : runlist.items) {
        if (const auto *const tsg = std::get_if<Tsg>(&item))
            for (const Channel &channel : tsg->channels)
                channels.push_back({&channel, tsg});
        else if (const auto *const channel = std::get_if<Channel>(&item))
            channels.push_back({channel, nullptr});
    }
    return channels;
}

} // namespace nvdebug
