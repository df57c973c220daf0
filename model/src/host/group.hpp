// SPDX-License-Identifier: MIT OR GPL-2.0
// The entries of a runlist, decoded to groups that Host schedules.
#pragma once

#include "board/board.hpp"
#include "memory/aperture.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace nvmodel {

/// A context's identity on its runlist: a TSG, or (up to Pascal) a channel outside any TSG.
struct GroupId {
    bool is_tsg = true;
    unsigned id = 0;

    bool operator==(const GroupId &) const = default;
};

struct ListedChannel {
    unsigned id = 0;
    unsigned runqueue = 0;
    PhysicalAddress instance; // from the entry, Volta+
    PhysicalAddress userd;
    unsigned subcontext = 0; // Blackwell
};

/// A TSG with its channels, or one bare channel.
struct Group {
    GroupId id;
    Timeslice timeslice;
    std::vector<ListedChannel> channels;
    unsigned entry = 0; // index of its first entry in the list
};

/// The reason why a list is malformed; the values are those of NV_RUNLIST_INTR_BAD_TSG_CODE.
enum class BadTsg : std::uint8_t {
    none = 0,
    zero_length = 1,
    max_length = 2,
    runlist_overflow = 3,
    expected_channel = 4,
    expected_header = 5,
};

/// Encode a TSG header and a channel entry.
std::vector<std::uint32_t> encode_header(EntryFormat format, unsigned tsg, Timeslice timeslice,
                                         unsigned length);
std::vector<std::uint32_t> encode_channel(EntryFormat format, const ListedChannel &channel);

/// A list as Host understands it. Decoding stops at the first malformed entry: the groups before it
/// stay schedulable, the rest is ignored (it is not documented what real hardware does then).
struct DecodedList {
    std::vector<Group> groups;
    BadTsg bad = BadTsg::none;
};
DecodedList decode_list(const Generation &generation, std::span<const std::uint32_t> words);

/// Returns the bytes of an entry.
unsigned entry_size(EntryFormat format);

} // namespace nvmodel
