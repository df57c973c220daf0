// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/pbdma.hpp"

#include "blocks/context_status.hpp"
#include "regs/pbdma.hpp"
#include "regs/ramin.hpp"

namespace nvmodel {

using namespace regs;

/// A RAMFC word of the loaded channel: each has the layout of the PBDMA register of its name.
std::uint32_t PbdmaBlock::saved_word(const Pbdma &pbdma, unsigned word) const {
    const PbdmaClient *const loaded = pbdma.loaded();
    if (loaded == nullptr)
        return 0;
    const PhysicalAddress &instance = host_.channel(loaded->channel).instance;
    const auto value = memory_.read_value({instance.aperture, instance.address + 4 * word}, 4);
    return static_cast<std::uint32_t>(value.value_or(0));
}

ReadAnswer PbdmaBlock::read(std::uint32_t offset) {
    const std::uint32_t number = (offset - pbdma::range_begin) / generation_.pbdma_stride;
    const std::uint32_t at = (offset - pbdma::range_begin) % generation_.pbdma_stride;
    const Pbdma &unit = host_.pbdmas()[number];
    switch (at) {
    case pbdma::signature:
        return {saved_word(unit, ramin::fc_signature)};
    case pbdma::set_channel_info:
        if (generation_.subcontexts)
            return {saved_word(unit, ramin::fc_set_channel_info)};
        break;
    case pbdma::channel: {
        std::uint32_t word = 0;
        if (unit.last_channel)
            word = pbdma::channel_chid.put(host_.channel_id(*unit.last_channel));
        if (generation_.submit == SubmitScheme::block && unit.loaded() != nullptr)
            word |= pbdma::channel_valid.mask();
        return {word};
    }
    default:
        break;
    }
    return generation_.submit == SubmitScheme::block ? read_ampere(unit, at)
                                                     : ReadAnswer::unmodelled();
}

ReadAnswer PbdmaBlock::read_ampere(const Pbdma &unit, std::uint32_t at) const {
    const auto channel =
        unit.loaded() != nullptr ? std::optional(unit.loaded()->channel) : std::nullopt;
    switch (at) {
    case pbdma::next_channel:
        return {0};
    case pbdma::status_sched:
        return {status_word_ampere(unit.status())};
    case pbdma::status_inst:
        return {instance_lo_ampere(host_, channel)};
    case pbdma::status_inst_hi:
        return {instance_hi_ampere(host_, channel)};
    default:
        return ReadAnswer::unmodelled();
    }
}

Answer PbdmaBlock::write(std::uint32_t offset, std::uint32_t) {
    return read(offset).answer == Answer::done ? Answer::read_only : Answer::unmodelled;
}

} // namespace nvmodel
