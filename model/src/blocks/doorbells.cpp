// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/doorbells.hpp"

#include "regs/usermode.hpp"

#include <algorithm>

namespace nvmodel {

using namespace regs;

void VoltaDoorbell::ring(std::uint32_t value) {
    if (const auto index = host_.channel_index(0, value))
        host_.ring(*index);
}

TuringDoorbellGate::TuringDoorbellGate() {
    cfg_.fill(usermode::vcfg_mask.max()); // all of the 4096 ids
}

ReadAnswer TuringDoorbellGate::read(std::uint32_t offset) {
    const auto i = element(offset, usermode::turing_virtual_channel_cfg, 4,
                           usermode::turing_virtual_channel_cfg_count);
    return i ? ReadAnswer{cfg_[*i]} : ReadAnswer::unmodelled();
}

Answer TuringDoorbellGate::write(std::uint32_t offset, std::uint32_t value) {
    const auto i = element(offset, usermode::turing_virtual_channel_cfg, 4,
                           usermode::turing_virtual_channel_cfg_count);
    if (!i)
        return Answer::unmodelled;
    cfg_[*i] = value;
    return Answer::done;
}

void TuringDoorbell::ring(std::uint32_t value) {
    const std::uint32_t cfg = gate_.physical();
    const std::uint32_t known = usermode::turing_chid.mask() | usermode::turing_runlist.mask();
    if (!usermode::vcfg_pending_enable.test(cfg) || (value & ~known) != 0)
        return;
    const unsigned chid = (usermode::turing_chid.get(value) & usermode::vcfg_mask.get(cfg)) |
                          usermode::vcfg_set.get(cfg);
    const auto index = host_.channel_index(0, chid);
    if (!index)
        return;
    const unsigned runlist = usermode::turing_runlist.get(value);
    if (runlist == usermode::turing_runlist_any || host_.channel(*index).runlist == runlist)
        host_.ring(*index);
}

void RunlistDoorbell::ring_vector(std::uint32_t value) {
    const unsigned id = usermode::ampere_runlist.get(value);
    const auto found = std::ranges::find(runlists_, id, &RunlistBlock::id);
    if (found != runlists_.end())
        (*found)->ring(usermode::ampere_vector.get(value));
}

void AmpereDoorbell::ring(std::uint32_t value) {
    if (!usermode::ampere_gsp_disable.test(value))
        ring_vector(value);
}

void Gb20xDoorbell::ring(std::uint32_t value) {
    if (usermode::gb20x_runlist_enable.test(value))
        ring_vector(value);
}

ReadAnswer UsermodeBlock::read(std::uint32_t offset) {
    switch (offset - base_) {
    case usermode::time_0:
        return {timer_.time_0()};
    case usermode::time_1:
        return {timer_.time_1()};
    case usermode::doorbell:
        return ReadAnswer::write_only();
    default:
        return {0, Answer::unmodelled};
    }
}

Answer UsermodeBlock::write(std::uint32_t offset, std::uint32_t value) {
    switch (offset - base_) {
    case usermode::time_0:
    case usermode::time_1:
        return Answer::read_only;
    case usermode::doorbell:
        doorbell_.ring(value);
        return Answer::done;
    default:
        return Answer::unmodelled;
    }
}

ReadAnswer CtrlDoorbellBlock::read(std::uint32_t offset) {
    return offset == usermode::ctrl_doorbell ? ReadAnswer::write_only() : ReadAnswer::unmodelled();
}

Answer CtrlDoorbellBlock::write(std::uint32_t offset, std::uint32_t value) {
    if (offset != usermode::ctrl_doorbell)
        return Answer::unmodelled;
    doorbell_.ring(value);
    return Answer::done;
}

} // namespace nvmodel
