// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/pbdma.hpp"

#include "blocks/context_status.hpp"
#include "regs/pbdma.hpp"

#include <algorithm>
#include <span>

namespace nvmodel {

using namespace regs;

namespace {

std::span<const std::uint32_t> saved_registers(const Generation &generation) {
    switch (generation.pbdma_layout) {
    case PbdmaLayout::gk104:
    case PbdmaLayout::ga100:
        break;
    case PbdmaLayout::gb10b:
        return pbdma::saved_gb10b;
    case PbdmaLayout::gb20c:
        return pbdma::saved_gb20c;
    }
    return generation.subcontexts ? std::span<const std::uint32_t>(pbdma::saved_gv100)
                                  : std::span<const std::uint32_t>(pbdma::saved_gk104);
}

} // namespace

/// Returns a RAMFC word of the loaded channel. Each one has the layout of the PBDMA register of its
/// name.
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
    if (std::ranges::find(saved_registers(generation_), at) != saved_registers(generation_).end())
        return {saved_word(unit, at / 4)};
    if (at == pbdma::channel) {
        std::uint32_t word = 0;
        if (unit.last_channel)
            word = pbdma::channel_chid.put(host_.channel_id(*unit.last_channel));
        if (generation_.submit == SubmitScheme::block && unit.loaded() != nullptr)
            word |= pbdma::channel_valid.mask();
        return {word};
    }
    return generation_.submit == SubmitScheme::block ? read_ampere(unit, at)
                                                     : ReadAnswer::unmodelled();
}

ReadAnswer PbdmaBlock::read_ampere(const Pbdma &unit, std::uint32_t at) const {
    const bool instance = generation_.pbdma_layout == PbdmaLayout::ga100;
    const auto channel =
        unit.loaded() != nullptr ? std::optional(unit.loaded()->channel) : std::nullopt;
    switch (at) {
    case pbdma::next_channel:
        return {0};
    case pbdma::status_sched:
        return {status_word_ampere(unit.status())};
    case pbdma::status_inst:
        if (!instance)
            break;
        return {instance_lo_ampere(host_, channel)};
    case pbdma::status_inst_hi:
        if (!instance)
            break;
        return {instance_hi_ampere(host_, channel)};
    default:
        break;
    }
    return ReadAnswer::unmodelled();
}

Answer PbdmaBlock::write(std::uint32_t offset, std::uint32_t) {
    return read(offset).answer == Answer::done ? Answer::read_only : Answer::unmodelled;
}

} // namespace nvmodel
