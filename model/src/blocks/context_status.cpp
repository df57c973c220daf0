// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/context_status.hpp"

#include "regs/fifo.hpp"
#include "regs/runlist.hpp"

#include <algorithm>

namespace nvmodel {

using namespace regs;

std::uint32_t context_code_turing(ContextState state) {
    switch (state) {
    case ContextState::invalid:
        return fifo::ctx_invalid;
    case ContextState::valid:
        return fifo::ctx_valid;
    case ContextState::load:
        return fifo::ctx_load;
    case ContextState::save:
        return fifo::ctx_save;
    case ContextState::switching:
        return fifo::ctx_switch;
    }
    return fifo::ctx_invalid;
}

std::uint32_t context_code_ampere(ContextState state) {
    if (state == ContextState::load)
        return runlist::ctx_load;
    if (state == ContextState::save)
        return runlist::ctx_save;
    return context_code_turing(state);
}

namespace {

bool has_current(ContextState state) {
    return state == ContextState::valid || state == ContextState::save ||
           state == ContextState::switching;
}

bool has_next(ContextState state) {
    return state == ContextState::load || state == ContextState::switching;
}

} // namespace

std::uint32_t status_word_turing(const ContextStatus &status) {
    std::uint32_t word = fifo::engine_status_ctx.put(context_code_turing(status.state));
    if (has_current(status.state))
        word |= fifo::engine_status_id.put(status.current.id) |
                fifo::engine_status_id_is_tsg.put(status.current.is_tsg ? 1 : 0);
    if (has_next(status.state))
        word |= fifo::engine_status_next_id.put(status.next.id) |
                fifo::engine_status_next_is_tsg.put(status.next.is_tsg ? 1 : 0);
    return word;
}

std::uint32_t status_word_ampere(const ContextStatus &status) {
    std::uint32_t word = runlist::engine_status0_ctx.put(context_code_ampere(status.state));
    if (has_current(status.state))
        word |= runlist::engine_status0_tsgid.put(status.current.id);
    if (has_next(status.state))
        word |= runlist::engine_status0_next_tsgid.put(status.next.id);
    return word;
}

bool engine_faulted(const Host &host, const Engine &engine) {
    const auto held = engine.context.holds();
    const Runlist *const runlist = host.find_runlist(engine.runlist);
    if (engine.row.name.type != EngineType::lce || !held || runlist == nullptr)
        return false;
    const auto group = std::ranges::find(runlist->groups, *held, &Group::id);
    return group != runlist->groups.end() &&
           std::ranges::any_of(group->channels, [&](const ListedChannel &listed) {
               const auto index = host.channel_index(runlist->id, listed.id);
               return index && host.channel(*index).eng_faulted;
           });
}

std::uint32_t submit_info_word(const Runlist &list) {
    std::uint32_t word = runlist::submit_info_pending.put(list.submit_pending() ? 1 : 0);
    if (list.preempted_tsg)
        word |= runlist::submit_info_tsgid.put(*list.preempted_tsg) |
                runlist::submit_info_tsgid_valid.mask() |
                runlist::submit_info_offset.put(list.preempted_entry);
    return word;
}

std::uint32_t runlist_info_word(const Host &host, const Runlist &list) {
    return runlist::info_eng_idle.put(host.engines_idle(list) ? 1 : 0) |
           runlist::info_runlist_idle.put(host.runlist_idle(list) ? 1 : 0) |
           runlist::info_acquire_still_pending.put(host.acquire_still_pending(list) ? 1 : 0);
}

std::uint32_t instance_word_turing(const Host &host, std::optional<std::size_t> channel) {
    if (!channel)
        return 0;
    const PhysicalAddress &at = host.channel(*channel).instance;
    return fifo::inst_ptr.put(low32(at.address >> 12)) |
           fifo::inst_target.put(target_of(at.aperture)) | fifo::inst_valid.mask();
}

std::uint32_t instance_lo_ampere(const Host &host, std::optional<std::size_t> channel) {
    if (!channel)
        return 0;
    const PhysicalAddress &at = host.channel(*channel).instance;
    return (low32(at.address) & runlist::inst_ptr_lo.mask()) |
           runlist::inst_target.put(target_of(at.aperture)) | runlist::inst_valid.mask();
}

std::uint32_t instance_hi_ampere(const Host &host, std::optional<std::size_t> channel) {
    return channel ? high32(host.channel(*channel).instance.address) : 0;
}

std::optional<std::size_t> instance_on(const Engine &engine) {
    return has_current(engine.context.status().state) ? engine.instance : std::nullopt;
}

std::optional<std::size_t> instance_next(const Engine &engine) {
    return has_next(engine.context.status().state) ? engine.next_instance : std::nullopt;
}

} // namespace nvmodel
