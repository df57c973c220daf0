// SPDX-License-Identifier: MIT OR GPL-2.0
#include "machine.hpp"

#include <algorithm>
#include <utility>

namespace qos {

std::vector<std::int64_t> Table::of_kernel(std::size_t kernel) const {
    std::vector<std::int64_t> found;
    for (std::size_t sm = 0; sm < sms(); sm++)
        found.push_back((*this)(sm, kernel));
    return found;
}

Machine::Machine(Shape shape, Scheme scheme, Readings readings)
    : shape_(std::move(shape)), scheme_(scheme), readings_(std::move(readings)),
      peak_(Integer(shape_.sms) * shape_.slots * lanes_of_warp),
      blocks_(shape_.sms, shape_.kernels.size()), counter_(blocks_), at_start_(blocks_),
      history_(shape_.kernels.size()), slots_left_(shape_.sms, shape_.slots),
      stirred_(shape_.sms, false) {}

bool Machine::is_gpu_wide() const {
    return scheme_ == Scheme::elastic && readings_.elastic_scope == ElasticScope::gpu;
}

bool Machine::boundary_is_due() const {
    return !begun_ || early_ || cycle_ - epoch_.first_cycle == shape_.epoch;
}

std::int64_t Machine::bounded(const Integer &value) {
    if (abs(value) <= Integer(largest_count))
        return value.get_si();
    exact_ = false;
    return value < 0 ? -largest_count : largest_count;
}

// --- boundaries ---

std::optional<Epoch> Machine::finish() {
    if (!begun_ || cycle_ == epoch_.first_cycle)
        return std::nullopt;
    epoch_.length = cycle_ - epoch_.first_cycle;
    epoch_.counter_end = counter_;
    close_statistics();
    begun_ = false;
    return std::move(epoch_);
}

void Machine::close_statistics() {
    for (std::size_t k = 0; k < history_.size(); k++) {
        History &one = history_[k];
        one.last = {.cycles = epoch_.length};
        for (std::size_t sm = 0; sm < shape_.sms; sm++)
            one.last.instructions += epoch_.used(sm, k);
        if (!one.launched)
            continue;
        one.total.instructions += one.last.instructions;
        one.total.cycles += one.last.cycles;
        if (!readings_.hist)
            continue;
        one.window.push_back(one.last);
        if (std::cmp_greater(one.window.size(), *readings_.hist)) {
            one.total.instructions -= one.window.front().instructions;
            one.total.cycles -= one.window.front().cycles;
            one.window.pop_front();
        }
    }
}

std::optional<Epoch> Machine::boundary(const Table &blocks) {
    std::optional<Epoch> ended = finish();
    blocks_ = blocks;
    const Table none(shape_.sms, shape_.kernels.size());
    epoch_ = {.first_cycle = cycle_,
              .alpha = std::vector<Rational>(shape_.kernels.size(), 1),
              .goal = std::vector<Rational>(shape_.kernels.size()),
              .quota = none,
              .counter_start = {},
              .counter_end = {},
              .issued = none,
              .refused = none,
              .used = none,
              .refills = none};
    set_goals(ended ? ended->alpha : std::vector<Rational>(),
              ended ? ended->goal : std::vector<Rational>());
    for (std::size_t k = 0; k < shape_.kernels.size(); k++) {
        set_quotas(k);
        set_counters(k, early_);
    }
    epoch_.counter_start = at_start_ = counter_;
    std::ranges::fill(stirred_, true);
    early_ = false;
    begun_ = true;
    return ended;
}

void Machine::set_goals(const std::vector<Rational> &last_alpha,
                        const std::vector<Rational> &last_goal) {
    std::vector<Rational> attained;
    for (std::size_t k = 0; k < shape_.kernels.size(); k++) {
        const Kernel &kernel = shape_.kernels[k];
        if (!kernel.qos)
            continue;
        epoch_.goal[k] = kernel.goal;
        if (readings_.uses_alpha(scheme_))
            epoch_.alpha[k] = alpha(kernel.goal, history_[k].total, peak_, readings_);
        if (last_alpha.empty())
            continue;
        const Rational &divisor =
            readings_.search_alpha == SearchAlpha::newest ? epoch_.alpha[k] : last_alpha[k];
        attained.push_back(attainment(
            history_[k].last, readings_.search_alpha == SearchAlpha::none ? Rational(1) : divisor,
            kernel.goal));
    }
    const Rational factor = search_factor(attained, readings_.search_op);
    for (std::size_t k = 0; k < shape_.kernels.size(); k++) {
        if (shape_.kernels[k].qos)
            continue;
        if (last_goal.empty()) {
            epoch_.goal[k] = readings_.init_ipc;
            continue;
        }
        const Rational base =
            readings_.search_base == SearchBase::goal
                ? last_goal[k]
                : fraction(history_[k].last.instructions, history_[k].last.cycles);
        epoch_.goal[k] = std::max(Rational(base * factor), readings_.search_floor);
    }
}

void Machine::set_quotas(std::size_t kernel) {
    const std::vector<std::int64_t> blocks = blocks_.of_kernel(kernel);
    if (std::ranges::any_of(blocks, [](std::int64_t one) { return one > 0; }))
        history_[kernel].launched = true;
    const Rational most = peak_ * Integer(shape_.epoch);
    const std::vector<Integer> parts = shares(quota(epoch_.goal[kernel], epoch_.alpha[kernel],
                                                    shape_.epoch, readings_.cap ? &most : nullptr),
                                              blocks, readings_.round);
    for (std::size_t sm = 0; sm < shape_.sms; sm++)
        epoch_.quota(sm, kernel) = bounded(parts[sm]);
}

void Machine::set_counters(std::size_t kernel, bool early) {
    const std::vector<std::int64_t> counters = counter_.of_kernel(kernel),
                                    quotas = epoch_.quota.of_kernel(kernel);
    // When an epoch begins early, all kernels keep their debts.
    const Kept what = early ? Kept{.rests = false, .debts = true}
                            : kept(scheme_, shape_.kernels[kernel].qos, readings_);
    const std::vector<std::int64_t> rests =
        carried(counters, quotas, blocks_.of_kernel(kernel), what, readings_);
    for (std::size_t sm = 0; sm < shape_.sms; sm++)
        counter_(sm, kernel) = bounded(Integer(rests[sm]) + Integer(quotas[sm]));
}

// --- cycles ---

void Machine::leave(std::size_t sm, std::size_t kernel) {
    blocks_(sm, kernel) = 0;
    stirred_[sm] = true;
}

void Machine::come_back(std::size_t sm, std::size_t kernel) {
    blocks_(sm, kernel) = 1;
    stirred_[sm] = true;
}

Seat Machine::seat(std::size_t sm, std::size_t kernel) const {
    return {.qos = shape_.kernels[kernel].qos,
            .resident = is_resident(sm, kernel),
            .exhausted = counter_(sm, kernel) <= 0};
}

bool Machine::is_open(std::size_t sm, std::size_t kernel) const {
    const Table &checked = readings_.check == Check::serial ? counter_ : at_start_;
    if (!is_resident(sm, kernel) || checked(sm, kernel) <= 0)
        return false;
    if (scheme_ != Scheme::rollover_time || shape_.kernels[kernel].qos)
        return true;
    for (std::size_t other = 0; other < shape_.kernels.size(); other++)
        if (shape_.kernels[other].qos && is_resident(sm, other) && checked(sm, other) > 0)
            return false;
    return true;
}

void Machine::charge(std::size_t sm, std::size_t kernel, int lanes) {
    counter_(sm, kernel) -= lanes;
    epoch_.used(sm, kernel) += lanes;
    stirred_[sm] = true;
}

std::int64_t Machine::offer(std::size_t sm, std::size_t kernel, int lanes, std::int64_t count) {
    std::int64_t taken = 0;
    for (; taken < count && slots_left_[sm] > 0 && is_open(sm, kernel); taken++) {
        slots_left_[sm]--;
        stirred_[sm] = true;
        if (readings_.charge == Charge::issue)
            charge(sm, kernel, lanes);
        else
            in_flight_.push_back({cycle_ + readings_.latency, sm, kernel, lanes});
    }
    epoch_.issued(sm, kernel) += taken;
    epoch_.refused(sm, kernel) += count - taken;
    return taken;
}

void Machine::refill(std::size_t sm) {
    Exhausted on_sm;
    for (std::size_t k = 0; k < shape_.kernels.size(); k++)
        on_sm.look_at(seat(sm, k), readings_.absent);
    for (std::size_t k = 0; k < shape_.kernels.size(); k++) {
        if (!is_refilled(seat(sm, k), on_sm, scheme_, readings_))
            continue;
        const std::int64_t quota = epoch_.quota(sm, k),
                           kept = readings_.refill == Refill::add ? counter_(sm, k) : 0;
        counter_(sm, k) = bounded(Integer(kept) + Integer(quota));
        if (quota == 0)
            continue;
        epoch_.refills(sm, k)++;
        stirred_[sm] = true;
    }
}

bool Machine::all_are_exhausted() const {
    Exhausted on_gpu;
    bool somewhere = false;
    for (std::size_t sm = 0; sm < shape_.sms; sm++) {
        for (std::size_t k = 0; k < shape_.kernels.size(); k++) {
            on_gpu.look_at(seat(sm, k), readings_.absent);
            somewhere = somewhere || is_resident(sm, k);
        }
    }
    return somewhere && on_gpu.all;
}

void Machine::end_cycle() {
    for (; !in_flight_.empty() && in_flight_.front().due == cycle_; in_flight_.pop_front())
        charge(in_flight_.front().sm, in_flight_.front().kernel, in_flight_.front().lanes);
    // An SM without a change since its last test would give the same result again, so it is not
    // tested.
    const bool some = std::ranges::any_of(stirred_, [](char one) { return one; });
    if (some && is_gpu_wide())
        early_ = all_are_exhausted();
    for (std::size_t sm = 0; some && sm < shape_.sms; sm++) {
        if (!std::exchange(stirred_[sm], false))
            continue;
        slots_left_[sm] = shape_.slots;
        if (!is_gpu_wide())
            refill(sm);
        for (std::size_t k = 0; k < shape_.kernels.size(); k++)
            at_start_(sm, k) = counter_(sm, k);
    }
    cycle_++;
}

std::int64_t Machine::pass(std::int64_t cycles) {
    std::int64_t passed = 0;
    while (passed < cycles && !boundary_is_due()) {
        if (in_flight_.empty() && std::ranges::none_of(stirred_, [](char one) { return one; })) {
            const std::int64_t at_once =
                std::min(cycles - passed, epoch_.first_cycle + shape_.epoch - cycle_);
            cycle_ += at_once;
            passed += at_once;
        } else {
            end_cycle();
            passed++;
        }
    }
    return passed;
}

} // namespace qos
