// SPDX-License-Identifier: MIT OR GPL-2.0
#include "entry_fields.hpp"

#include <bit>

#include "decode/runlist.h"
#include "hw/ram.h"

namespace nvdebug::driver {
namespace {

struct Layout {
    const char *name;
    std::uint32_t word;
    std::uint64_t mask;
    bool in_place = false; ///< the value is not shifted down
};

constexpr Layout tsg_of_8[] = {{"type", 0, NV_RAMRL8_0_TYPE_TSG},
                               {"id", 0, NV_RAMRL8_0_ID},
                               {"length", 0, NV_RAMRL8_0_TSG_LENGTH},
                               {"scale", 0, NV_RAMRL8_0_TIMESLICE_SCALE},
                               {"timeout", 0, NV_RAMRL8_0_TIMESLICE_TIMEOUT}};
constexpr Layout channel_of_8[] = {{"type", 0, NV_RAMRL8_0_TYPE_TSG}, {"id", 0, NV_RAMRL8_0_ID}};
constexpr Layout tsg_of_16[] = {{"type", 0, NV_RAMRL16_0_TYPE_TSG},
                                {"id", 2, NV_RAMRL16_2_ID},
                                {"length", 1, NV_RAMRL16_1_TSG_LENGTH},
                                {"scale", 0, NV_RAMRL16_0_TSG_TIMESLICE_SCALE},
                                {"timeout", 0, NV_RAMRL16_0_TSG_TIMESLICE_TIMEOUT}};
constexpr Layout channel_of_16[] = {
    {"type", 0, NV_RAMRL16_0_TYPE_TSG},
    {"id", 2, NV_RAMRL16_2_ID},
    {"runqueue", 0, NV_RAMRL16_0_CHAN_RUNQUEUE_SELECTOR},
    {"instance aperture", 0, NV_RAMRL16_0_CHAN_INST_TARGET},
    {"instance pointer, low", 2, NV_RAMRL16_2_CHAN_INST_PTR_LO, true},
    {"instance pointer, high", 3, 0xffffffff}};
constexpr Layout channel_of_blackwell[] = {
    {"type", 0, NV_RAMRL16_0_TYPE_TSG},
    {"id", 2, NV_RAMRL16_2_ID},
    {"runqueue", 0, NV_RAMRL16_0_CHAN_RUNQUEUE_SELECTOR},
    {"instance aperture", 0, NV_RAMRL16_0_CHAN_INST_TARGET},
    {"instance pointer, low", 2, NV_RAMRL16_2_CHAN_INST_PTR_LO, true},
    {"instance pointer, high", 3, NV_RAMRL16_3_CHAN_INST_PTR_HI_GB10B},
    {"subcontext", 3, NV_RAMRL16_3_CHAN_CASID_GB10B}};

std::span<const Layout> layout_of(std::uint8_t kind, EntryForm form) {
    if (kind == NVDEBUG_ENTRY_UNKNOWN)
        return {};
    const bool is_tsg = kind == NVDEBUG_ENTRY_TSG;
    if (form == EntryForm::kepler)
        return is_tsg ? std::span<const Layout>(tsg_of_8) : channel_of_8;
    if (is_tsg)
        return tsg_of_16;
    return form == EntryForm::volta ? std::span<const Layout>(channel_of_16) : channel_of_blackwell;
}

} // namespace

std::size_t words_of(EntryForm form) {
    return form == EntryForm::kepler ? NV_RAMRL8_WORDS : NV_RAMRL16_WORDS;
}

std::vector<EntryField> entry_fields(std::span<const std::uint32_t> words, EntryForm form) {
    const auto decode = form == EntryForm::kepler  ? nvdebug_entry8_decode
                        : form == EntryForm::volta ? nvdebug_entry16_decode
                                                   : nvdebug_entry16_decode_gb10b;
    nvdebug_entry entry{};
    if (decode(words.data(), words.size(), &entry))
        return {};
    std::vector<EntryField> fields;
    for (const Layout &each : layout_of(entry.kind, form)) {
        const auto mask = static_cast<std::uint32_t>(each.mask);
        const auto low = static_cast<std::uint32_t>(std::countr_zero(mask));
        const std::uint32_t bits = words[each.word] & mask;
        fields.push_back({each.name, each.word,
                          31 - static_cast<std::uint32_t>(std::countl_zero(mask)), low,
                          each.in_place ? bits : bits >> low});
    }
    return fields;
}

} // namespace nvdebug::driver
