// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device/chip.hpp"

#include "blocks/channel_state.hpp"
#include "blocks/flush.hpp"
#include "blocks/memory_size.hpp"
#include "blocks/pbdma.hpp"
#include "blocks/pmc.hpp"
#include "blocks/topology.hpp"
#include "blocks/work_distributor.hpp"
#include "regs/ce.hpp"
#include "regs/cwd.hpp"
#include "regs/fifo.hpp"
#include "regs/fuse.hpp"
#include "regs/pbdma.hpp"
#include "regs/pbus.hpp"
#include "regs/pfb.hpp"
#include "regs/pmc.hpp"
#include "regs/pri_ring.hpp"
#include "regs/ptop.hpp"
#include "regs/runlist.hpp"
#include "regs/smcarb.hpp"
#include "regs/timer.hpp"
#include "regs/usermode.hpp"

namespace nvmodel {

using namespace regs;

Chip::Chip(const Board &board, Memory &memory, const Modes &modes)
    : copy_(CopyBlock::make(board)), host_(board, memory, *copy_), modes_(*board.generation, modes),
      instance_spaces_(*board.generation, memory, mmu_control_.big_page()),
      firmware_(*board.generation, memory, instance_spaces_) {
    const Generation &generation = *board.generation;
    host_.listen(firmware_);
    copy_->on_rewiring([this] { host_.update_rates(); });
    map(ce::range_begin, ce::range_end, BlockName::ce, *copy_);
    map(pmc::range_begin, pmc::range_end, BlockName::pmc, own(std::make_unique<PmcBlock>(board)));

    map_bus(generation);
    if (generation.page_tables.version_1_too)
        map(pfb::mmu_ctrl, pfb::mmu_ctrl + 4, BlockName::pfb, mmu_control_);
    if (generation.pramin)
        map_.add({pramin::range_begin, pramin::range_end, BlockName::pramin, nullptr});

    timer_ = &own(std::make_unique<TimerBlock>(host_));
    map(timer::range_begin, timer::range_end, BlockName::ptimer, *timer_);
    map_topology(board);
    map(regs::pbdma::range_begin,
        regs::pbdma::range_begin + board.pbdma_count() * generation.pbdma_stride, BlockName::pbdma,
        own(std::make_unique<PbdmaBlock>(board, host_, memory)));
    if (generation.submit == SubmitScheme::block)
        map_runlists(board);
    else
        map_pfifo(board);
    map_doorbells(board);
    for (const std::uint32_t offset : modes_.offsets())
        if (map_.find(offset) == nullptr)
            map_.add({offset, offset + 4, BlockName::other, &modes_});
}

template <typename Block>
Block &Chip::own(std::unique_ptr<Block> block) {
    Block &owned = *block;
    blocks_.push_back(std::move(block));
    return owned;
}

/// Maps a block, and leaves out the registers in its range that show a mode.
void Chip::map(std::uint32_t begin, std::uint32_t end, BlockName name, RegisterBlock &block) {
    for (const std::uint32_t offset : modes_.offsets()) {
        if (offset < begin || offset >= end)
            continue;
        if (begin < offset)
            map_.add({begin, offset, name, &block});
        map_.add({offset, offset + 4, name, &modes_});
        begin = offset + 4;
    }
    if (begin < end)
        map_.add({begin, end, name, &block});
}

void Chip::map_bus(const Generation &generation) {
    const std::uint32_t window = generation.window_register;
    map(window, window + 4, BlockName::pbus_window, own(make_window(generation, bus_)));
    RegisterBlock &bus = own(make_pbus(generation, bus_));
    map(pbus::range_begin, pbus::bar0_window, BlockName::pbus, bus);
    if (window != pbus::bar0_window)
        map(pbus::bar0_window, pbus::bar1_block, BlockName::pbus, bus);
    map(pbus::bar1_block, pbus::bar2_block + 4, BlockName::bar_block, bus);
    map(pbus::bar2_block + 4, pbus::range_end, BlockName::pbus, bus);
    if (generation.read_flushes) {
        RegisterBlock &flush = own(std::make_unique<FlushBlock>(generation));
        map(xal::range_begin, xal::bar0_window, BlockName::other, flush);
        map(xal::bar0_window + 4, xal::range_end, BlockName::other, flush);
        map(xal::vf_flushes_begin, xal::vf_flushes_end, BlockName::other, flush);
    }
    if (auto page = make_function_page(generation, bus_))
        map(pbus::vf_blocks_begin, pbus::vf_blocks_end, BlockName::bar_block, own(std::move(page)));
}

void Chip::map_topology(const Board &board) {
    const Generation &generation = *board.generation;
    RegisterBlock &top = own(make_ptop(board));
    RegisterBlock &fuses = own(make_fuse(board));
    switch (generation.fuse) {
    case FuseForm::gf100: // the registers are inside PTOP
        map(ptop::range_begin, fuse::gf100_begin, BlockName::ptop, top);
        map(fuse::gf100_begin, fuse::gf100_end, BlockName::fuse, fuses);
        map(fuse::gf100_end, ptop::range_end_v1, BlockName::ptop, top);
        break;
    case FuseForm::gm107:
        map(ptop::range_begin, ptop::range_end_v1, BlockName::ptop, top);
        map(fuse::base_gm107, fuse::base_gm107 + fuse::size, BlockName::fuse, fuses);
        break;
    case FuseForm::ga100:
        map(ptop::range_begin, ptop::range_end_v2, BlockName::ptop, top);
        if (board.dies() > 1)
            map(ptop::range_begin + ptop::v2::die_stride, ptop::range_end_v2 + ptop::v2::die_stride,
                BlockName::ptop, top);
        map(fuse::base_ga100, fuse::base_ga100 + fuse::size, BlockName::fuse, fuses);
        break;
    }
    if (generation.work_distributor != WorkDistributor::none) {
        RegisterBlock &distributor = own(std::make_unique<WorkDistributorBlock>(board));
        map(cwd::range_begin, cwd::range_end, BlockName::pgraph, distributor);
        if (work_distributor_tables(board).sm_id == cwd::sm_id_gh100)
            map(cwd::tables_begin_gh100, cwd::tables_end_gh100, BlockName::pgraph, distributor);
    }
    if (!board.geometry.gpc_order.empty())
        map(smcarb::range_begin, smcarb::range_end, BlockName::other, own(make_gpc_map(board)));
    if (generation.pri_ring)
        map(pri_ring::range_begin, pri_ring::range_end, BlockName::pri, own(make_pri_ring(board)));
    map_memory_size(board);
}

void Chip::map_memory_size(const Board &board) {
    const MemorySize form = board.generation->memory_size;
    if (form == MemorySize::none)
        return;
    RegisterBlock &block = own(make_memory_size(board));
    if (form != MemorySize::mib)
        map(pfb::local_memory_range_gp102, pfb::local_memory_range_gp102 + 4, BlockName::pfb,
            block);
    if (form == MemorySize::range)
        return;
    map(pfb::usable_fb_size_in_mb, pfb::usable_fb_size_in_mb + 4, BlockName::pfb, block);
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
    case Doorbell::hopper:
        doorbell_ = std::make_unique<AmpereDoorbell>(runlist_blocks_);
        break;
    case Doorbell::gb20x:
        doorbell_ = std::make_unique<Gb20xDoorbell>(runlist_blocks_);
        break;
    }
    const auto add_page = [this](std::uint32_t begin, std::uint32_t end) {
        map(begin, end, BlockName::usermode,
            own(std::make_unique<UsermodeBlock>(begin, *timer_, *doorbell_)));
    };
    if (board.generation->channel_state == ChannelState::pccsr)
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
