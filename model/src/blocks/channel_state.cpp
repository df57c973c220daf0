// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/channel_state.hpp"

#include "regs/fifo.hpp"
#include "regs/runlist.hpp"

namespace nvmodel {

using namespace regs;

ReadAnswer PccsrBlock::read(std::uint32_t offset) {
    const std::uint32_t begin = pccsr::range_begin;
    if (const auto i = element(offset, begin + pccsr::channel_inst, pccsr::stride, count_)) {
        const Channel &channel = host_.channel(*i);
        return {pccsr::inst_ptr.put(low32(channel.instance.address >> 12)) |
                pccsr::inst_target.put(channel.instance_target) |
                pccsr::inst_bind.put(channel.bound ? 1 : 0)};
    }
    if (const auto i = element(offset, begin + pccsr::channel, pccsr::stride, count_))
        return {state(host_.channel(*i))};
    return ReadAnswer::unmodelled();
}

Answer PccsrBlock::write(std::uint32_t offset, std::uint32_t value) {
    const std::uint32_t begin = pccsr::range_begin;
    if (const auto i = element(offset, begin + pccsr::channel_inst, pccsr::stride, count_)) {
        write_instance(*i, value);
        return Answer::done;
    }
    if (const auto i = element(offset, begin + pccsr::channel, pccsr::stride, count_)) {
        write_state(*i, value);
        return Answer::done;
    }
    return Answer::unmodelled;
}

std::uint32_t PccsrBlock::state(const Channel &channel) const {
    std::uint32_t word = pccsr::enable.put(channel.enabled ? 1 : 0) |
                         pccsr::next.put(channel.next ? 1 : 0) |
                         pccsr::status.put(static_cast<std::uint32_t>(channel.status())) |
                         pccsr::busy.put(channel.busy() ? 1 : 0);
    if (generation_.kepler_fifo_registers)
        word |= pccsr::runlist.put(channel.own_runlist);
    if (generation_.fault_bits)
        word |= pccsr::pbdma_faulted.put(channel.pbdma_faulted ? 1 : 0) |
                pccsr::eng_faulted.put(channel.eng_faulted ? 1 : 0);
    return word;
}

void PccsrBlock::write_instance(std::size_t index, std::uint32_t value) {
    const Channel &channel = host_.channel(index);
    const bool bind = pccsr::inst_bind.test(value);
    const auto aperture = aperture_from_target(pccsr::inst_target.get(value));
    if (bind && !aperture) {
        errors_.bind_error = fifo::bind_error_invalid_target;
        return;
    }
    if (bind && channel.bound) {
        errors_.bind_error = fifo::bind_error_bind_while_bound;
        return;
    }
    if (!bind && channel.bound && channel.busy()) {
        errors_.bind_error = fifo::bind_error_unbind_while_running;
        return;
    }
    host_.bind(
        index,
        {aperture.value_or(Aperture::video), std::uint64_t{pccsr::inst_ptr.get(value)} << 12},
        pccsr::inst_target.get(value), bind);
}

void PccsrBlock::write_state(std::size_t index, std::uint32_t value) {
    host_.set_next(index, pccsr::next.test(value));
    if (generation_.kepler_fifo_registers)
        host_.set_own_runlist(index, pccsr::runlist.get(value));
    if (pccsr::force_ctx_reload.test(value))
        host_.set_ctx_reload(index, true);
    if (pccsr::enable_set.test(value))
        host_.set_enabled(index, true);
    if (pccsr::enable_clr.test(value))
        host_.set_enabled(index, false);
    if (generation_.fault_bits) {
        const auto cleared = [value](Field field) {
            return field.test(value) ? std::optional(false) : std::nullopt;
        };
        host_.set_faulted(index, cleared(pccsr::pbdma_faulted), cleared(pccsr::eng_faulted));
    }
    if (generation_.force_fault_bits) {
        const auto forced = [value](Field field) {
            return field.test(value) ? std::optional(true) : std::nullopt;
        };
        host_.set_faulted(index, forced(pccsr::force_pbdma_faulted),
                          forced(pccsr::force_eng_faulted));
    }
    if (pccsr::force_pending.test(value))
        host_.ring(index);
}

ReadAnswer ChramBlock::read(std::uint32_t offset) {
    const auto i = element(offset, base_, chram::stride, count_);
    if (!i)
        return ReadAnswer::unmodelled();
    const Channel &channel = host_.channel(*host_.channel_index(runlist_, *i));
    const auto flag = [](Field field, bool set) { return field.put(set ? 1 : 0); };
    return {flag(chram::enable, channel.enabled) | flag(chram::next, channel.next) |
            flag(chram::busy, channel.busy()) | flag(chram::pbdma_faulted, channel.pbdma_faulted) |
            flag(chram::eng_faulted, channel.eng_faulted) |
            flag(chram::on_pbdma, channel.pbdma.has_value()) |
            flag(chram::on_eng, channel.engine.has_value()) |
            flag(chram::pending, channel.pending) | flag(chram::ctx_reload, channel.ctx_reload) |
            flag(chram::pbdma_busy, channel.pbdma.has_value()) |
            flag(chram::eng_busy, channel.engine.has_value()) |
            flag(chram::acquire_fail, channel.acquire_fail)};
}

Answer ChramBlock::write(std::uint32_t offset, std::uint32_t value) {
    const auto i = element(offset, base_, chram::stride, count_);
    if (!i)
        return Answer::unmodelled;
    const std::size_t index = *host_.channel_index(runlist_, *i);
    const bool to = !chram::write_control.test(value);
    if (chram::next.test(value))
        host_.set_next(index, to);
    if (chram::pending.test(value))
        host_.set_pending(index, to);
    if (chram::ctx_reload.test(value))
        host_.set_ctx_reload(index, to);
    if (chram::acquire_fail.test(value))
        host_.set_acquire_fail(index, to);
    const auto changed = [value, to](Field field) {
        return field.test(value) ? std::optional(to) : std::nullopt;
    };
    host_.set_faulted(index, changed(chram::pbdma_faulted), changed(chram::eng_faulted));
    if (chram::enable.test(value))
        host_.set_enabled(index, to);
    return Answer::done;
}

} // namespace nvmodel
