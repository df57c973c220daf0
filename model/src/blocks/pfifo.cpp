// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/pfifo.hpp"

#include "blocks/constants.hpp"
#include "blocks/context_status.hpp"
#include "regs/fifo.hpp"
#include "regs/runlist.hpp"

#include <algorithm>
#include <map>

namespace nvmodel {
namespace {

using namespace regs;

/// Runlist registers up to Turing are arrays over all ids, used or not.
unsigned runlist_slots(const Board &board) {
    unsigned slots = 0;
    for (const RunlistRow &row : board.runlists)
        slots = std::max(slots, row.id + 1);
    return slots;
}

std::unique_ptr<RegisterBlock> make_fifo_constants(const Board &board) {
    auto block = std::make_unique<ConstantsBlock>();
    const bool volta = board.generation->volta_fifo_registers;
    if (board.generation->fifo_cfg0)
        block->set(fifo::cfg0,
                   fifo::cfg0_num_pbdma.put(board.pbdma_count()) |
                       fifo::cfg0_pbdma_fault_id.put(volta ? fifo::cfg0_pbdma_fault_base : 0));
    if (volta) {
        block->set(fifo::cfg1, board.channels);
        block->set(fifo::cfg2, board.generation->host_class);
    }
    for (unsigned pbdma = 0; pbdma < board.pbdma_count(); ++pbdma) {
        std::uint32_t serves = 0;
        for (const RunlistRow &row : board.runlists)
            if (std::ranges::find(row.pbdmas, pbdma) != row.pbdmas.end())
                serves |= 1U << row.id;
        block->set(fifo::pbdma_map + 4 * pbdma, serves);
    }
    return block;
}

/// Kepler..Volta: BASE is latched; writing RUNLIST submits to the runlist named in it.
class SharedSubmitPort final : public RegisterBlock {
  public:
    SharedSubmitPort(const Board &board, Host &host)
        : host_(host), readback_(runlist_slots(board)) {}

    ReadAnswer read(std::uint32_t offset) override {
        if (offset == fifo::runlist_base)
            return {base_};
        if (offset == fifo::runlist)
            return {runlist_};
        const auto count = static_cast<unsigned>(readback_.size());
        if (const auto i = element(offset, fifo::eng_runlist_base, 8, count))
            return {readback_[*i].base};
        if (const auto i = element(offset, fifo::eng_runlist, 8, count)) {
            const Runlist *const list = host_.find_runlist(*i);
            const bool pending = list != nullptr && list->submit_pending();
            return {readback_[*i].length | fifo::eng_runlist_pending.put(pending ? 1 : 0)};
        }
        return ReadAnswer::unmodelled();
    }

    Answer write(std::uint32_t offset, std::uint32_t value) override {
        if (offset == fifo::runlist_base) {
            base_ = value & (fifo::runlist_base_ptr.mask() | fifo::runlist_base_target.mask());
            return Answer::done;
        }
        if (offset == fifo::runlist) {
            runlist_ = value & (fifo::runlist_length.mask() | fifo::runlist_id.mask());
            submit();
            return Answer::done;
        }
        const auto count = static_cast<unsigned>(readback_.size());
        const bool known = element(offset, fifo::eng_runlist_base, 8, count) ||
                           element(offset, fifo::eng_runlist, 8, count);
        return known ? Answer::read_only : Answer::unmodelled;
    }

  private:
    void submit() {
        const unsigned id = fifo::runlist_id.get(runlist_);
        Runlist *const list = host_.find_runlist(id);
        if (list == nullptr)
            return;
        const unsigned length = fifo::runlist_length.get(runlist_);
        readback_[id] = {base_, length};
        const Aperture aperture =
            aperture_from_target(fifo::runlist_base_target.get(base_)).value_or(Aperture::video);
        host_.submit(*list, {aperture, std::uint64_t{fifo::runlist_base_ptr.get(base_)} << 12},
                     length, 0);
    }

    struct Readback {
        std::uint32_t base = 0;
        std::uint32_t length = 0;
    };

    Host &host_;
    std::uint32_t base_ = 0;
    std::uint32_t runlist_ = 0;
    std::vector<Readback> readback_;
};

/// Timeslices that PBDMAs (and on Kepler runlists) have by default. The registers only store: it is
/// not public how hardware combines them with the timeslices in runlists and instance blocks.
class DefaultTimeslices final : public RegisterBlock {
  public:
    explicit DefaultTimeslices(const Board &board)
        : runlist_(board.generation->kepler_fifo_registers ? runlist_slots(board) : 0,
                   fifo::runlist_timeslice_reset),
          pbdma_(board.pbdma_count(), fifo::pb_timeslice_reset) {}

    ReadAnswer read(std::uint32_t offset) override {
        const std::uint32_t *const reg = find(offset);
        return reg != nullptr ? ReadAnswer{*reg} : ReadAnswer::unmodelled();
    }
    Answer write(std::uint32_t offset, std::uint32_t value) override {
        std::uint32_t *const reg = find(offset);
        if (reg == nullptr)
            return Answer::unmodelled;
        *reg = value;
        return Answer::done;
    }

  private:
    std::uint32_t *find(std::uint32_t offset) {
        if (const auto i =
                element(offset, fifo::runlist_timeslice, 4, static_cast<unsigned>(runlist_.size())))
            return &runlist_[*i];
        const auto i = element(offset, fifo::pb_timeslice, 4, static_cast<unsigned>(pbdma_.size()));
        return i ? &pbdma_[*i] : nullptr;
    }

    std::vector<std::uint32_t> runlist_;
    std::vector<std::uint32_t> pbdma_;
};

/// Turing: every runlist has its own set of submit registers.
class SubmitArray final : public RegisterBlock {
  public:
    SubmitArray(const Board &board, Host &host)
        : host_(host), shift_(board.generation->runlist_base_shift), sets_(runlist_slots(board)) {}

    ReadAnswer read(std::uint32_t offset) override {
        const auto count = static_cast<unsigned>(sets_.size());
        if (const auto i = element(offset, fifo::tu_base_lo, 16, count))
            return {sets_[*i].base_lo};
        if (const auto i = element(offset, fifo::tu_base_hi, 16, count))
            return {sets_[*i].base_hi};
        if (const auto i = element(offset, fifo::tu_submit, 16, count))
            return {sets_[*i].submit};
        if (const auto i = element(offset, fifo::tu_submit_info, 16, count)) {
            const Runlist *const list = host_.find_runlist(*i);
            return {list != nullptr ? submit_info_word(*list) : 0};
        }
        if (const auto i = element(offset, fifo::tu_info, 4, count)) {
            const Runlist *const list = host_.find_runlist(*i);
            return {list != nullptr ? runlist_info_word(host_, *list) : 0};
        }
        return ReadAnswer::unmodelled();
    }

    Answer write(std::uint32_t offset, std::uint32_t value) override {
        const auto count = static_cast<unsigned>(sets_.size());
        if (const auto i = element(offset, fifo::tu_base_lo, 16, count)) {
            const std::uint32_t address = ~((1U << shift_) - 1);
            sets_[*i].base_lo = value & (address | fifo::tu_base_lo_target.mask());
            return Answer::done;
        }
        if (const auto i = element(offset, fifo::tu_base_hi, 16, count)) {
            sets_[*i].base_hi = value & fifo::tu_base_hi_ptr.mask();
            return Answer::done;
        }
        if (const auto i = element(offset, fifo::tu_submit, 16, count)) {
            sets_[*i].submit = value;
            submit(*i);
            return Answer::done;
        }
        const bool known = element(offset, fifo::tu_submit_info, 16, count) ||
                           element(offset, fifo::tu_info, 4, count);
        return known ? Answer::read_only : Answer::unmodelled;
    }

  private:
    void submit(unsigned id) {
        Runlist *const list = host_.find_runlist(id);
        if (list == nullptr)
            return;
        const Set &set = sets_[id];
        const Aperture aperture = aperture_from_target(fifo::tu_base_lo_target.get(set.base_lo))
                                      .value_or(Aperture::video);
        const std::uint64_t address = join(set.base_hi, set.base_lo & ~((1U << shift_) - 1));
        host_.submit(*list, {aperture, address}, runlist::submit_length.get(set.submit),
                     runlist::submit_offset.get(set.submit));
    }

    struct Set {
        std::uint32_t base_lo = 0;
        std::uint32_t base_hi = 0;
        std::uint32_t submit = 0;
    };

    Host &host_;
    unsigned shift_;
    std::vector<Set> sets_;
};

/// Gate, preempt, and errors.
class FifoControl final : public RegisterBlock {
  public:
    FifoControl(const Board &board, Host &host, FifoErrors &errors)
        : generation_(*board.generation), host_(host), errors_(errors) {}

    ReadAnswer read(std::uint32_t offset) override {
        switch (offset) {
        case fifo::intr_0:
            return {fifo::intr_0_sched_error.put(any_bad_tsg() ? 1 : 0)};
        case fifo::intr_bind_error:
            return {errors_.bind_error};
        case fifo::intr_sched_error:
            return {any_bad_tsg() ? fifo::sched_error_bad_tsg : 0};
        case fifo::error_sched_disable:
            if (generation_.volta_fifo_registers)
                break;
            return {0}; // no modelled fault sets it
        case fifo::sched_disable:
            return {per_runlist([](const Runlist &list) { return list.gated; })};
        case fifo::preempt:
            return {preempt_ | fifo::preempt_pending.put(preempting(Preempting::tsg) ? 1 : 0)};
        case fifo::runlist_preempt:
            if (generation_.volta_fifo_registers)
                return {per_runlist([](const Runlist &list) {
                    return list.preempt_outstanding(Preempting::runlist);
                })};
            break;
        case fifo::sched_status:
            if (generation_.volta_fifo_registers)
                return {sched_status()};
            break;
        default:
            break;
        }
        return ReadAnswer::unmodelled();
    }

    Answer write(std::uint32_t offset, std::uint32_t value) override {
        switch (offset) {
        case fifo::intr_0:
            if (fifo::intr_0_sched_error.test(value))
                clear_bad_tsg();
            return Answer::done;
        case fifo::intr_bind_error:
        case fifo::intr_sched_error:
            return Answer::read_only;
        case fifo::error_sched_disable:
            return generation_.volta_fifo_registers ? Answer::unmodelled : Answer::done;
        case fifo::sched_disable:
            for (const Runlist &list : host_.runlists())
                host_.set_gate(*host_.find_runlist(list.id), (value >> list.id & 1) != 0);
            return Answer::done;
        case fifo::preempt:
            preempt_ = value & (fifo::preempt_id.mask() | fifo::preempt_type.mask());
            preempt();
            return Answer::done;
        case fifo::runlist_preempt:
            if (!generation_.volta_fifo_registers)
                break;
            for (const Runlist &list : host_.runlists())
                if ((value >> list.id & 1) != 0)
                    host_.preempt_runlist(*host_.find_runlist(list.id));
            return Answer::done;
        case fifo::sched_status:
            if (generation_.volta_fifo_registers)
                return Answer::read_only;
            break;
        default:
            break;
        }
        return Answer::unmodelled;
    }

  private:
    template <typename Predicate>
    [[nodiscard]] std::uint32_t per_runlist(Predicate predicate) const {
        std::uint32_t mask = 0;
        for (const Runlist &list : host_.runlists())
            if (predicate(list))
                mask |= 1U << list.id;
        return mask;
    }

    [[nodiscard]] bool preempting(Preempting kind) const {
        return per_runlist(
                   [kind](const Runlist &list) { return list.preempt_outstanding(kind); }) != 0;
    }

    [[nodiscard]] bool any_bad_tsg() const {
        return std::ranges::any_of(host_.runlists(), &Runlist::intr_bad_tsg);
    }

    void clear_bad_tsg() {
        for (const Runlist &list : host_.runlists())
            host_.find_runlist(list.id)->intr_bad_tsg = false;
    }

    void preempt() {
        const unsigned id = fifo::preempt_id.get(preempt_);
        const std::uint32_t type = fifo::preempt_type.get(preempt_);
        if (type == fifo::preempt_type_tsg)
            host_.preempt_everywhere({true, id});
        else if (type == fifo::preempt_type_channel && generation_.channel_preempt)
            host_.preempt_channel(id);
    }

    [[nodiscard]] std::uint32_t sched_status() const {
        const bool switching = std::ranges::any_of(host_.runlists(), &Runlist::switching);
        const bool fetching = std::ranges::any_of(host_.runlists(), &Runlist::submit_pending);
        return fifo::sched_status_chsw.put(switching ? 1 : 0) |
               fifo::sched_status_runlist_fetch.put(fetching ? 1 : 0);
    }

    const Generation &generation_;
    Host &host_;
    FifoErrors &errors_;
    std::uint32_t preempt_ = 0;
};

/// The channel on each engine and PBDMA; all read-only.
class FifoStatus final : public RegisterBlock {
  public:
    FifoStatus(const Board &board, const Host &host)
        : generation_(*board.generation), host_(host), engines_(board.engine_slots()),
          pbdmas_(board.pbdma_count()) {}

    ReadAnswer read(std::uint32_t offset) override {
        if (const auto e = element(offset, fifo::engine_status, 8, engines_))
            return {engine_status(*e)};
        if (element(offset, fifo::engine_status_debug, 8, engines_))
            return {0};
        if (const auto p = element(offset, fifo::pbdma_status, 4, pbdmas_))
            return {status_word_turing(host_.pbdmas()[*p].status())};
        if (!generation_.volta_fifo_registers)
            return ReadAnswer::unmodelled();
        if (const auto p = element(offset, fifo::pbdma_status_inst, 4, pbdmas_)) {
            const PbdmaClient *const loaded = host_.pbdmas()[*p].loaded();
            return {instance_word_turing(host_, loaded != nullptr ? std::optional(loaded->channel)
                                                                  : std::nullopt)};
        }
        if (const auto e = element(offset, fifo::engine_status_inst, 4, engines_)) {
            const Engine *const engine = host_.find_engine(*e);
            return {engine != nullptr ? instance_word_turing(host_, instance_on(*engine)) : 0};
        }
        if (const auto e = element(offset, fifo::engine_status_next_inst, 4, engines_)) {
            const Engine *const engine = host_.find_engine(*e);
            return {engine != nullptr ? instance_word_turing(host_, instance_next(*engine)) : 0};
        }
        return read_userd(offset);
    }

    Answer write(std::uint32_t offset, std::uint32_t) override {
        return read(offset).answer == Answer::done ? Answer::read_only : Answer::unmodelled;
    }

  private:
    [[nodiscard]] std::uint32_t engine_status(unsigned id) const {
        const Engine *const engine = host_.find_engine(id);
        if (engine == nullptr)
            return 0;
        return status_word_turing(engine->context.status()) |
               fifo::engine_status_busy.put(engine->busy() ? 1 : 0) |
               fifo::engine_status_faulted.put(engine_faulted(host_, *engine) ? 1 : 0);
    }

    /// Reads registers that only Turing has.
    [[nodiscard]] ReadAnswer read_userd(std::uint32_t offset) const {
        if (generation_.submit != SubmitScheme::pfifo_array)
            return ReadAnswer::unmodelled();
        const auto lo = element(offset, fifo::pbdma_status_userd, 4, pbdmas_);
        const auto hi = element(offset, fifo::pbdma_status_userd_hi, 4, pbdmas_);
        if (!lo && !hi)
            return ReadAnswer::unmodelled();
        const PbdmaClient *const loaded = host_.pbdmas()[lo ? *lo : *hi].loaded();
        if (loaded == nullptr)
            return {0};
        const PhysicalAddress &at = host_.channel(loaded->channel).userd;
        return {lo ? low32(at.address) | fifo::userd_target.put(target_of(at.aperture))
                   : high32(at.address)};
    }

    const Generation &generation_;
    const Host &host_;
    unsigned engines_;
    unsigned pbdmas_;
};

} // namespace

std::unique_ptr<RegisterBlock> make_pfifo(const Board &board, Host &host, FifoErrors &errors) {
    auto block = std::make_unique<CompositeBlock>();
    block->add(make_fifo_constants(board));
    if (board.generation->submit == SubmitScheme::shared_port) {
        block->add(std::make_unique<SharedSubmitPort>(board, host));
        block->add(std::make_unique<DefaultTimeslices>(board));
    } else {
        block->add(std::make_unique<SubmitArray>(board, host));
    }
    block->add(std::make_unique<FifoControl>(board, host, errors));
    block->add(std::make_unique<FifoStatus>(board, host));
    return block;
}

} // namespace nvmodel
