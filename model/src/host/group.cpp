// SPDX-License-Identifier: MIT OR GPL-2.0
#include "host/group.hpp"

#include "regs/ramrl.hpp"

namespace nvmodel {
namespace {

namespace w8 = regs::ramrl::w8;
namespace w16 = regs::ramrl::w16;

/// An entry, in a form that all formats are decoded to.
struct Entry {
    bool is_tsg = false;
    unsigned tsg_id = 0;
    Timeslice timeslice;
    unsigned length = 0;
    ListedChannel channel;
};

Entry decode_words2(std::span<const std::uint32_t> w) {
    Entry entry;
    entry.is_tsg = w8::type_tsg.test(w[0]);
    if (entry.is_tsg) {
        entry.tsg_id = w8::id.get(w[0]);
        entry.timeslice = {.timeout = w8::timeslice_timeout.get(w[0]),
                           .scale = w8::timeslice_scale.get(w[0])};
        entry.length = w8::tsg_length.get(w[0]);
    } else {
        entry.channel.id = w8::id.get(w[0]);
    }
    return entry;
}

bool has_subcontext(EntryFormat format) {
    return format == EntryFormat::words4_gb10b || format == EntryFormat::words4_gb20c;
}

Entry decode_words4(EntryFormat format, std::span<const std::uint32_t> w) {
    Entry entry;
    entry.is_tsg = w16::w0_type_tsg.test(w[0]);
    if (entry.is_tsg) {
        entry.tsg_id = w16::w2_id.get(w[2]);
        entry.timeslice = {.timeout = w16::w0_timeslice_timeout.get(w[0]),
                           .scale = w16::w0_timeslice_scale.get(w[0])};
        entry.length = w16::w1_tsg_length.get(w[1]);
        return entry;
    }
    entry.channel.id = w16::w2_id.get(w[2]);
    entry.channel.runqueue = w16::w0_runqueue.get(w[0]);
    std::uint32_t inst_hi = w[3];
    std::uint32_t userd_hi = w[1];
    if (has_subcontext(format)) {
        entry.channel.subcontext = w16::w3_casid_gb10b.get(w[3]);
        inst_hi = w16::w3_inst_ptr_hi_gb10b.get(w[3]);
        userd_hi = w16::w1_userd_ptr_hi_gb10b.get(w[1]);
    }
    // An undefined target counts as video memory (GA100 manual, dev_ram).
    entry.channel.instance = {
        aperture_from_target(w16::w0_inst_target.get(w[0])).value_or(Aperture::video),
        join(inst_hi, w[2] & w16::w2_inst_ptr_lo.mask())};
    entry.channel.userd = {
        aperture_from_target(w16::w0_userd_target.get(w[0])).value_or(Aperture::video),
        join(userd_hi, w[0] & w16::w0_userd_ptr_lo.mask())};
    return entry;
}

/// Builds groups entry by entry.
class Decoder {
  public:
    explicit Decoder(const Generation &generation) : generation_(generation) {}

    /// Takes an entry. Returns false once the list has turned out malformed.
    bool take(const Entry &entry, unsigned index) {
        if (missing_ > 0)
            return entry.is_tsg ? stop(BadTsg::expected_channel) : take_member(entry);
        return entry.is_tsg ? take_header(entry, index) : take_bare(entry, index);
    }

    DecodedList finish() {
        if (missing_ > 0)
            stop(BadTsg::runlist_overflow);
        return std::move(list_);
    }

  private:
    bool stop(BadTsg why) {
        list_.bad = why;
        if (missing_ > 0)
            list_.groups.pop_back();
        missing_ = 0;
        return false;
    }

    bool take_header(const Entry &entry, unsigned index) {
        const unsigned max =
            generation_.entry == EntryFormat::words2 ? w8::tsg_length_max : w16::tsg_length_max;
        if (entry.length == 0)
            return stop(BadTsg::zero_length);
        if (entry.length > max)
            return stop(BadTsg::max_length);
        list_.groups.push_back({{true, entry.tsg_id}, entry.timeslice, {}, index});
        missing_ = entry.length;
        return true;
    }

    bool take_member(const Entry &entry) {
        list_.groups.back().channels.push_back(entry.channel);
        --missing_;
        return true;
    }

    bool take_bare(const Entry &entry, unsigned index) {
        if (!generation_.bare_channels)
            return stop(BadTsg::expected_header);
        // The instance block has its timeslice, which the scheduler fills in.
        list_.groups.push_back({{false, entry.channel.id}, {}, {entry.channel}, index});
        return true;
    }

    const Generation &generation_;
    DecodedList list_;
    unsigned missing_ = 0;
};

} // namespace

unsigned entry_size(EntryFormat format) {
    return 4 * (format == EntryFormat::words2 ? w8::words : w16::words);
}

std::vector<std::uint32_t> encode_header(EntryFormat format, unsigned tsg, Timeslice timeslice,
                                         unsigned length) {
    if (format == EntryFormat::words2)
        return {w8::id.put(tsg) | w8::type_tsg.mask() | w8::timeslice_scale.put(timeslice.scale) |
                    w8::timeslice_timeout.put(timeslice.timeout) | w8::tsg_length.put(length),
                0};
    return {w16::w0_type_tsg.mask() | w16::w0_timeslice_scale.put(timeslice.scale) |
                w16::w0_timeslice_timeout.put(timeslice.timeout),
            w16::w1_tsg_length.put(length), w16::w2_id.put(tsg), 0};
}

std::vector<std::uint32_t> encode_channel(EntryFormat format, const ListedChannel &channel) {
    if (format == EntryFormat::words2)
        return {w8::id.put(channel.id), 0};
    std::uint32_t above_userd = 0;
    std::uint32_t above_instance = 0;
    if (has_subcontext(format))
        above_instance = w16::w3_casid_gb10b.put(channel.subcontext);
    if (format == EntryFormat::words4_gb20c)
        above_userd = w16::w1_veid_gb20c.put(channel.subcontext);
    return {w16::w0_runqueue.put(channel.runqueue) |
                w16::w0_inst_target.put(target_of(channel.instance.aperture)) |
                w16::w0_userd_target.put(target_of(channel.userd.aperture)) |
                (low32(channel.userd.address) & w16::w0_userd_ptr_lo.mask()),
            high32(channel.userd.address) | above_userd,
            w16::w2_id.put(channel.id) |
                (low32(channel.instance.address) & w16::w2_inst_ptr_lo.mask()),
            high32(channel.instance.address) | above_instance};
}

DecodedList decode_list(const Generation &generation, std::span<const std::uint32_t> words) {
    const std::size_t words_per_entry = entry_size(generation.entry) / 4;
    Decoder decoder(generation);
    unsigned index = 0;
    while (words.size() >= words_per_entry) {
        const auto entry = words.first(words_per_entry);
        if (!decoder.take(generation.entry == EntryFormat::words2
                              ? decode_words2(entry)
                              : decode_words4(generation.entry, entry),
                          index))
            break;
        words = words.subspan(words_per_entry);
        ++index;
    }
    return decoder.finish();
}

} // namespace nvmodel
