// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/runlist.hpp"

#include "blocks/context_status.hpp"
#include "regs/pbdma.hpp"
#include "regs/runlist_gb202.hpp"
#include "regs/usermode.hpp"

#include <bit>

namespace nvmodel {

using namespace regs;

RunlistBlock::RunlistBlock(const Board &board, Host &host, const RunlistRow &row)
    : board_(board), host_(host), row_(row), config_(runlist::config_reset),
      acq_pretest_(runlist::acq_pretest_reset), idle_filter_(runlist::idle_filter_reset) {
    ctxsw_timeout_.fill(runlist::ctxsw_timeout_config_reset);
    virtual_channel_cfg_.fill(board.generation->gate_counts
                                  ? runlist::virtual_channel_cfg_reset_gb10b
                                  : runlist::virtual_channel_cfg_reset);
}

std::optional<std::uint32_t> RunlistBlock::locate(std::uint32_t offset) const {
    const std::uint32_t at = offset - row_.base;
    return board_.generation->runlist_layout == RunlistLayout::gb202 ? runlist::from_gb202(at)
                                                                     : std::optional(at);
}

ReadAnswer RunlistBlock::read(std::uint32_t offset) {
    const auto at = locate(offset);
    return at ? read_at(*at) : ReadAnswer::unmodelled();
}

Answer RunlistBlock::write(std::uint32_t offset, std::uint32_t value) {
    const auto at = locate(offset);
    return at ? write_at(*at, value) : Answer::unmodelled;
}

/// Returns the bit. Before GB10x it falls with the first TSG preempt that is done, even if others
/// are outstanding.
bool RunlistBlock::tsg_preempt_pending() const {
    return board_.generation->tsg_preempt_counted ? list().preempt_outstanding(Preempting::tsg)
                                                  : list().tsg_preempt_flag;
}

ReadAnswer RunlistBlock::read_at(std::uint32_t at) {
    if (const std::uint32_t *const reg = stored(at))
        return {*reg};
    for (unsigned slot = 0; slot < runlist::engine_slots; ++slot) {
        const std::uint32_t begin = runlist::engine_status0 + slot * runlist::engine_stride;
        if (at >= begin && at < begin + runlist::engine_stride)
            return read_engine(slot, at - begin + runlist::engine_status0);
    }
    switch (at) {
    case runlist::submit_info:
        return {submit_info_word(list())};
    case runlist::internal_doorbell:
        return ReadAnswer::write_only();
    case runlist::sched_disable:
        return {runlist::sched_disable_runlist.put(list().gated ? 1 : 0)};
    case runlist::preempt:
        return {preempt_ | runlist::preempt_tsg_pending.put(tsg_preempt_pending() ? 1 : 0) |
                runlist::preempt_runlist_pending.put(
                    list().preempt_outstanding(Preempting::runlist) ? 1 : 0)};
    case runlist::intr_0:
        return {interrupts()};
    case runlist::info:
        return {runlist_info_word(host_, list()) |
                runlist::info_fetch_busy.put(list().submit_pending() ? 1 : 0)};
    case runlist::intr_bad_tsg:
        return {list().intr_bad_tsg ? static_cast<std::uint32_t>(list().bad)
                                    : runlist::bad_tsg_none};
    default:
        return read_config(at);
    }
}

/// Reads registers that are fixed by the design.
ReadAnswer RunlistBlock::read_config(std::uint32_t at) const {
    if (const auto i = element(at, runlist::pbdma_config, 4, runlist::pbdma_config_count)) {
        if (*i >= row_.pbdmas.size())
            return {0};
        const std::uint32_t base =
            pbdma::range_begin + row_.pbdmas[*i] * board_.generation->pbdma_stride;
        return {runlist::pbdma_config_valid.mask() | base |
                runlist::pbdma_config_id.put(row_.pbdmas[*i])};
    }
    switch (at) {
    case runlist::channel_config:
        return {row_.chram | runlist::channel_config_log2.put(
                                 static_cast<std::uint32_t>(std::countr_zero(board_.channels)))};
    case runlist::doorbell_config:
        return {runlist::doorbell_config_id.put(row_.id)};
    case runlist::fb_config:
        return {row_.fb_config};
    default:
        return ReadAnswer::unmodelled();
    }
}

ReadAnswer RunlistBlock::read_engine(unsigned slot, std::uint32_t at) const {
    const Runlist &list = this->list();
    const Engine *const engine =
        slot < list.engines.size() ? &host_.engines()[list.engines[slot]] : nullptr;
    const auto value = [engine](auto compute) {
        return ReadAnswer{engine != nullptr ? compute(*engine) : 0};
    };
    switch (at) {
    case runlist::engine_status0:
        return value([this](const Engine &e) {
            return status_word_ampere(e.context.status()) |
                   runlist::engine_status0_busy.put(e.busy() ? 1 : 0) |
                   runlist::engine_status0_faulted.put(engine_faulted(host_, e) ? 1 : 0);
        });
    case runlist::engine_status1:
        return value([this](const Engine &e) {
            return board_.generation->runlist_layout == RunlistLayout::gb202
                       ? 0 // GB20x has no known place of the field
                       : runlist::engine_status1_intr_id.put(e.row.intr.value_or(0));
        });
    case runlist::engine_status_channel:
    case runlist::engine_status_channel + 4:
        return value([this, at](const Engine &e) {
            return engine_channel(e, (at - runlist::engine_status_channel) / 4);
        });
    case runlist::engine_status_inst:
        return value([this](const Engine &e) { return instance_lo_ampere(host_, instance_on(e)); });
    case runlist::engine_status_inst + 4:
        return value([this](const Engine &e) { return instance_hi_ampere(host_, instance_on(e)); });
    case runlist::engine_status_next_inst:
        return value(
            [this](const Engine &e) { return instance_lo_ampere(host_, instance_next(e)); });
    case runlist::engine_status_next_inst + 4:
        return value(
            [this](const Engine &e) { return instance_hi_ampere(host_, instance_next(e)); });
    case runlist::ctxsw_timeout_info:
        return {0};
    case runlist::engine_status_debug:
        return value([](const Engine &e) {
            return runlist::engine_status_debug_engine_id.put(e.row.engine_id.value_or(0));
        });
    default:
        return ReadAnswer::unmodelled();
    }
}

/// The channel that feeds the engine through the runqueue's PBDMA.
std::uint32_t RunlistBlock::engine_channel(const Engine &engine, unsigned runqueue) const {
    const auto held = engine.context.holds();
    if (!held || runqueue >= row_.pbdmas.size())
        return 0;
    const PbdmaClient *const loaded = host_.pbdmas()[row_.pbdmas[runqueue]].loaded();
    if (loaded == nullptr || loaded->runlist != row_.id || loaded->group != *held)
        return 0;
    const Channel &channel = host_.channel(loaded->channel);
    if (!channel.engine || &host_.engines()[*channel.engine] != &engine)
        return 0;
    return runlist::engine_status_channel_chid.put(host_.channel_id(loaded->channel)) |
           runlist::engine_status_channel_valid.mask();
}

std::uint32_t *RunlistBlock::stored(std::uint32_t at) {
    switch (at) {
    case runlist::config:
        return &config_;
    case runlist::acq_pretest:
        return &acq_pretest_;
    case runlist::idle_filter:
        return &idle_filter_;
    case runlist::submit_base_lo:
        return &base_lo_;
    case runlist::submit_base_hi:
        return &base_hi_;
    case runlist::submit:
        return &submit_;
    default:
        break;
    }
    if (const auto i = element(at, runlist::ctxsw_timeout_config, runlist::engine_stride,
                               runlist::engine_slots))
        return &ctxsw_timeout_[*i];
    if (const auto i =
            element(at, runlist::virtual_channel_cfg, 4, runlist::virtual_channel_cfg_count))
        return &virtual_channel_cfg_[*i];
    return nullptr;
}

Answer RunlistBlock::write_at(std::uint32_t at, std::uint32_t value) {
    switch (at) {
    case runlist::submit_base_lo: {
        const std::uint32_t address = ~((1U << board_.generation->runlist_base_shift) - 1);
        base_lo_ = value & (address | runlist::submit_base_lo_target.mask());
        return Answer::done;
    }
    case runlist::submit_base_hi:
        base_hi_ =
            value & (board_.generation->runlist_base_hi_wide ? runlist::submit_base_hi_ptr_gb10b
                                                             : runlist::submit_base_hi_ptr)
                        .mask();
        return Answer::done;
    case runlist::submit:
        submit_ = value;
        submit();
        return Answer::done;
    case runlist::internal_doorbell:
        if (runlist::internal_doorbell_gfid.get(value) == 0)
            ring(runlist::internal_doorbell_chid.get(value));
        return Answer::done;
    case runlist::sched_disable:
        host_.set_gate(list(), runlist::sched_disable_runlist.test(value));
        return Answer::done;
    case runlist::preempt:
        preempt_ = value & (runlist::preempt_id.mask() | runlist::preempt_type.mask());
        preempt();
        return Answer::done;
    case runlist::intr_0:
        clear_interrupts(value);
        return Answer::done;
    default:
        break;
    }
    if (std::uint32_t *const reg = stored(at)) {
        *reg = value;
        return Answer::done;
    }
    return read_at(at).answer == Answer::done ? Answer::read_only : Answer::unmodelled;
}

void RunlistBlock::submit() {
    const Aperture aperture = aperture_from_target(runlist::submit_base_lo_target.get(base_lo_))
                                  .value_or(Aperture::video);
    const std::uint32_t address = ~((1U << board_.generation->runlist_base_shift) - 1);
    host_.submit(list(), {aperture, join(base_hi_, base_lo_ & address)},
                 runlist::submit_length.get(submit_), runlist::submit_offset.get(submit_));
}

void RunlistBlock::preempt() {
    const std::uint32_t type = runlist::preempt_type.get(preempt_);
    if (type == runlist::preempt_type_runlist)
        host_.preempt_runlist(list());
    else if (type == runlist::preempt_type_tsg)
        host_.preempt(list(), {true, runlist::preempt_id.get(preempt_)});
}

std::uint32_t RunlistBlock::interrupts() const {
    const Runlist &list = this->list();
    const std::uint32_t bad_tsg = runlist::intr_0_bad_tsg.put(list.intr_bad_tsg ? 1 : 0);
    if (board_.generation->runlist_layout == RunlistLayout::gb202)
        return bad_tsg; // GB20x has no known places of the others
    return runlist::intr_0_tsg_preempt_complete.put(list.intr_tsg_preempt_complete ? 1 : 0) |
           runlist::intr_0_runlist_preempt_complete.put(list.intr_runlist_preempt_complete ? 1
                                                                                           : 0) |
           bad_tsg;
}

void RunlistBlock::clear_interrupts(std::uint32_t bits) {
    Runlist &list = this->list();
    if (runlist::intr_0_tsg_preempt_complete.test(bits))
        list.intr_tsg_preempt_complete = false;
    if (runlist::intr_0_runlist_preempt_complete.test(bits))
        list.intr_runlist_preempt_complete = false;
    if (runlist::intr_0_bad_tsg.test(bits))
        list.intr_bad_tsg = false;
}

void RunlistBlock::ring(unsigned vector) {
    const std::uint32_t cfg = virtual_channel_cfg_[0];
    if (!usermode::vcfg_pending_enable.test(cfg))
        return;
    if (board_.generation->gate_counts && vector >= usermode::vcfg_count.get(cfg))
        return;
    const unsigned chid = board_.generation->gate_counts ? usermode::vcfg_base.get(cfg) + vector
                                                         : (vector & usermode::vcfg_mask.get(cfg)) |
                                                               usermode::vcfg_set.get(cfg);
    if (const auto index = host_.channel_index(row_.id, chid))
        host_.ring(*index);
}

} // namespace nvmodel
