// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The words of `runlist tree`, the same in text and picture. */
#ifndef NVDEBUGCTL_TREE_WORDS_HPP
#define NVDEBUGCTL_TREE_WORDS_HPP

#include <string>
#include <vector>

#include "tree/view.hpp"

namespace nvdebugctl {

/** Channels of one space that are in the same state. */
struct ChannelGroup {
    std::vector<std::uint32_t> ids;
    bool disabled, faulted;
    std::string state; ///< empty: idle, so nothing to say
};

/** In the order of their first channels. */
std::vector<ChannelGroup> group_channels(const SpaceView &space);

/** `channels 20, 22`, `channel 31  disabled, PENDING`. */
std::string name_of(const ChannelGroup &group);

/** `address space 0x0000121000 vid, VEID 1`. */
std::string name_of(const SpaceView &space);

/** `TSG 10`, `channel 3 (no TSG)`. */
std::string name_of(const TsgView &tsg);

/** `31.2%`; `-` where it is not to be said. */
std::string share_of(const TsgView &tsg);

/** `1998.848us` */
std::string time_of(std::uint64_t ns);

/** `1998.848us`, `1998.848us x2` if the list has the TSG twice; `-` for a bare channel. */
std::string timeslice_of(const TsgView &tsg);

/** `scheduling on`, `scheduling off`; empty: not known. */
std::string scheduling_of(const RunlistView &runlist);

/** `5 TSGs, 11 channels`. */
std::string size_of(const RunlistView &runlist);

/** What is wrong with the list itself: pending, torn, unknown entries. */
std::vector<std::string> remarks_on(const RunlistView &runlist);

/** `gpu0  TU102 (Turing)  0000:00:09.0`. */
std::string name_of_gpu(const State &state);

} // namespace nvdebugctl

#endif
