// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/chip.hpp"

#include "blocks/channel_state.hpp"
#include "blocks/pbdma.hpp"
#include "blocks/pmc.hpp"
#include "blocks/topology.hpp"
#include "regs/ce.hpp"
#include "regs/fifo.hpp"
#include "regs/fuse.hpp"
#include "regs/pbdma.hpp"
#include "regs/pbus.hpp"
#include "regs/pmc.hpp"
#include "regs/ptop.hpp"
#include "regs/runlist.hpp"
#include "regs/timer.hpp"
#include "regs/usermode.hpp"

namespace nvmodel {

using namespace regs;

Chip::Chip(const Board &board, Memory &memory)
    : copy_(CopyBlock::make(board)), host_(board, memory, *copy_) {
    const Generation &generation = *board.generation;
    copy_->on_rewiring([this] { host_.update_rates(); });
    map(ce::range_begin, ce::range_end, BlockName::ce, *copy_);
    map(pmc::range_begin, pmc::range_end, BlockName::pmc, own(std::make_unique<PmcBlock>(board)));

    RegisterBlock &bus = own(std::make_unique<BusBlock>(bus_));
    map(pbus::range_begin, pbus::bar0_window, BlockName::pbus, bus);
    map(pbus::bar0_window, pbus::bar0_window + 4, BlockName::pbus_window, bus);
    map(pbus::bar0_window + 4, pbus::range_end, BlockName::pbus, bus);
    if (generation.bar_block == BarBlock::vf_alias) {
        RegisterBlock &page = own(std::make_unique<FunctionPageBlock>(bus_));
        map(pbus::vf_bar1_block & ~0xfffU, (pbus::vf_bar1_block & ~0xfffU) + 0x1000,
            BlockName::pbus, page);
    }
    map_.add({pramin::range_begin, pramin::range_end, BlockName::pramin, nullptr});

    timer_ = &own(std::make_unique<TimerBlock>(host_));
    map(timer::range_begin, timer::range_end, BlockName::ptimer, *timer_);
    map(ptop::range_begin,
        generation.ptop == PtopVersion::v1 ? ptop::range_end_v1 : ptop::range_end_v2,
        BlockName::ptop, own(make_ptop(board)));
    map(generation.fuse_base, generation.fuse_base + fuse::size, BlockName::fuse,
        own(make_fuse(board)));
    map(regs::pbdma::range_begin,
        regs::pbdma::range_begin + board.pbdma_count() * generation.pbdma_stride, BlockName::pbdma,
        own(std::make_unique<PbdmaBlock>(board, host_, memory)));
    if (generation.submit == SubmitScheme::block)
        map_runlists(board);
    else
        map_pfifo(board);
    map_doorbells(board);
}

template <typename Block>
Block &Chip::own(std::unique_ptr<Block> block) {
    Block &owned = *block;
    blocks_.push_back(std::move(block));
    return owned;
}

void Chip::map(std::uint32_t begin, std::uint32_t end, BlockName name, RegisterBlock &block) {
    map_.add({begin, end, name, &block});
}

void Chip::map_pfifo(const Board &board) {
    map(fifo::range_begin, fifo::range_end, BlockName::pfifo,
        own(make_pfifo(board, host_, fifo_errors_)));
    map(pccsr::range_begin, pccsr::range_end, BlockName::pccsr,
        own(std::make_unique<PccsrBlock>(board, host_, fifo_errors_)));
}

void Chip::map_runlists(const Board &board) {
    for (const RunlistRow &row : board.runlists) {
        RunlistBlock &block = own(std::make_unique<RunlistBlock>(board, host_, row));
        runlist_blocks_.push_back(&block);
        map(row.base, row.base + runlist::size, BlockName::runlist, block);
        map(row.chram, row.chram + board.channels * chram::stride, BlockName::chram,
            own(std::make_unique<ChramBlock>(board, host_, row.id, row.chram)));
    }
}

void Chip::map_doorbells(const Board &board) {
    switch (board.generation->doorbell) {
    case Doorbell::none:
        return;
    case Doorbell::volta:
        doorbell_ = std::make_unique<VoltaDoorbell>(host_);
        break;
    case Doorbell::turing: {
        auto &gate = own(std::make_unique<TuringDoorbellGate>());
        map(usermode::ctrl_begin, usermode::ctrl_end, BlockName::usermode, gate);
        doorbell_ = std::make_unique<TuringDoorbell>(host_, gate);
        break;
    }
    case Doorbell::ampere:
        doorbell_ = std::make_unique<AmpereDoorbell>(runlist_blocks_);
        map(usermode::ctrl_begin, usermode::ctrl_end, BlockName::usermode,
            own(std::make_unique<CtrlDoorbellBlock>(*doorbell_)));
        break;
    }
    const auto add_page = [this](std::uint32_t begin, std::uint32_t end) {
        map(begin, end, BlockName::usermode,
            own(std::make_unique<UsermodeBlock>(begin, *timer_, *doorbell_)));
    };
    if (board.generation->doorbell != Doorbell::ampere)
        add_page(usermode::range_begin, usermode::range_end);
    if (board.generation->doorbell != Doorbell::volta)
        add_page(usermode::vf_range_begin, usermode::vf_range_end);
}

ReadAnswer Chip::read(std::uint32_t offset) {
    const AddressMap::Range *const range = map_.find(offset);
    if (range == nullptr || range->block == nullptr)
        return {pri::no_client, Answer::unmodelled};
    return range->block->read(offset);
}

Answer Chip::write(std::uint32_t offset, std::uint32_t value) {
    const AddressMap::Range *const range = map_.find(offset);
    if (range == nullptr || range->block == nullptr)
        return Answer::unmodelled;
    return range->block->write(offset, value);
}

} // namespace nvmodel
