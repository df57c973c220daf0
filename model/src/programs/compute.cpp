// SPDX-License-Identifier: MIT OR GPL-2.0
#include "programs/compute.hpp"

#include <algorithm>
#include <utility>

namespace nvmodel {
namespace {

constexpr std::uint64_t register_bytes = 4;
/// Shared memory that each block takes in addition to its own (CUDA programming guide, from 8.0
/// on).
constexpr std::uint64_t reserved_shared = 1024;

} // namespace

SmRoom SmRoom::of_block(const Kernel &kernel) {
    return {1, kernel.threads, kernel.threads * kernel.registers, kernel.shared + reserved_shared};
}

SmRoom &SmRoom::operator+=(const SmRoom &more) {
    blocks += more.blocks;
    threads += more.threads;
    registers += more.registers;
    shared += more.shared;
    return *this;
}

SmRoom &SmRoom::operator-=(const SmRoom &less) {
    blocks -= less.blocks;
    threads -= less.threads;
    registers -= less.registers;
    shared -= less.shared;
    return *this;
}

Compute::Compute(unsigned sms, std::vector<Subcontext> subcontexts)
    : subcontexts_(std::move(subcontexts)), waiting_(subcontexts_.size()),
      free_room_(sms, SmRoom::of_sm()) {}

void Compute::add(std::size_t subcontext, std::size_t number, Operation &operation, Ns takes) {
    tasks_.push_back({number, &operation, takes});
    waiting_[subcontext].push_back(&tasks_.back());
    ++unfinished_;
    place();
}

void Compute::set_executing(bool executing) {
    if (executing_ == executing)
        return;
    executing_ = executing;
    for (const Part &part : parts_) {
        if (part.task == nullptr)
            continue;
        if (executing)
            begin_interval(part);
        else
            end_interval(part);
    }
    place();
}

void Compute::set_placing(bool placing) {
    placing_ = placing;
    place();
}

Ns Compute::next_end() const {
    if (!executing_)
        return never;
    Ns next = never;
    if (!by_execution_.empty())
        next = by_execution_.top().at - executed_ + now_;
    if (!by_clock_.empty())
        next = std::min(next, by_clock_.top().at);
    return std::max(next, now_);
}

void Compute::advance(Ns to, std::vector<std::size_t> &ended) {
    while (next_end() <= to) {
        const Ns at = next_end();
        executed_ += at - now_;
        now_ = at;
        const bool clock = !by_clock_.empty() && by_clock_.top().at <= now_;
        Ends &ends = clock ? by_clock_ : by_execution_;
        const std::size_t slot = ends.top().slot;
        ends.pop();
        end(slot, ended);
        place();
    }
    if (executing_)
        executed_ += to - now_;
    now_ = to;
}

/// Places waiting blocks. Subcontexts take turns, block by block. Within a subcontext all of a
/// kernel is placed before the next one.
void Compute::place() {
    if (!executing_ || !placing_)
        return;
    std::size_t failed = 0;
    while (failed < subcontexts_.size()) {
        failed = place_next(turn_) ? 0 : failed + 1;
        turn_ = (turn_ + 1) % subcontexts_.size();
    }
}

bool Compute::place_next(std::size_t subcontext) {
    std::deque<Task *> &waiting = waiting_[subcontext];
    if (waiting.empty())
        return false;
    Task &task = *waiting.front();
    Operation &operation = *task.operation;
    Part part{&task, task.placed, 0};
    if (operation.kernel) {
        const auto sm = find_sm(subcontexts_[subcontext], *operation.kernel);
        if (!sm)
            return false;
        part.sm = *sm;
        const auto sms = static_cast<unsigned>(free_room_.size());
        operation.blocks.push_back(
            {part.number, *sm, (*sm + subcontexts_[subcontext].shift) % sms, {}});
    } else if (std::exchange(copying_, true)) {
        return false;
    }
    if (++task.placed == task.parts()) {
        operation.dispatched = now_;
        waiting.pop_front();
    }
    start(part);
    return true;
}

/// Returns the SM with the fewest blocks, the first of several, so that blocks spread first.
std::optional<unsigned> Compute::find_sm(const Subcontext &subcontext, const Kernel &kernel) const {
    const SmRoom block = SmRoom::of_block(kernel);
    std::optional<unsigned> best;
    for (const unsigned sm : subcontext.sms)
        if (free_room_[sm].holds(block) &&
            (!best || free_room_[sm].blocks > free_room_[*best].blocks))
            best = sm;
    return best;
}

void Compute::start(Part part) {
    const Task &task = *part.task;
    const auto &kernel = task.operation->kernel;
    if (kernel)
        free_room_[part.sm] -= SmRoom::of_block(*kernel);
    std::size_t slot = parts_.size();
    if (free_.empty()) {
        parts_.push_back(part);
    } else {
        slot = free_.back();
        free_.pop_back();
        parts_[slot] = part;
    }
    ++live_;
    if (kernel && kernel->by_clock)
        by_clock_.push({now_ + task.takes, order_++, slot});
    else
        by_execution_.push({executed_ + task.takes, order_++, slot});
    begin_interval(part);
}

void Compute::end(std::size_t slot, std::vector<std::size_t> &ended) {
    const Part part = parts_[slot];
    end_interval(part);
    Task &task = *part.task;
    const auto &kernel = task.operation->kernel;
    if (kernel)
        free_room_[part.sm] += SmRoom::of_block(*kernel);
    else
        copying_ = false;
    parts_[slot].task = nullptr;
    free_.push_back(slot);
    --live_;
    if (++task.ended < task.parts())
        return;
    task.operation->ended = now_;
    --unfinished_;
    ended.push_back(task.number);
}

void Compute::begin_interval(const Part &part) const {
    Operation &operation = *part.task->operation;
    if (operation.kernel)
        operation.blocks[part.number].ran.push_back({now_, never});
    else
        operation.progress.push_back({{now_, never}, 0});
}

/// Ends the interval in which a block or copy executed. Intervals that took no time are dropped,
/// but each block keeps one.
void Compute::end_interval(const Part &part) const {
    Operation &operation = *part.task->operation;
    if (operation.kernel) {
        std::vector<Interval> &ran = operation.blocks[part.number].ran;
        ran.back().end = now_;
        if (ran.back().begin == now_ && ran.size() > 1)
            ran.pop_back();
        return;
    }
    CopyProgress &last = operation.progress.back();
    last.when.end = now_;
    last.bytes = static_cast<double>(operation.copy->bytes) *
                 static_cast<double>(now_ - last.when.begin) /
                 static_cast<double>(part.task->takes);
}

Held Compute::held() const {
    Held held;
    std::vector<SmRoom> used(free_room_.size());
    for (const Part &part : parts_) {
        if (part.task == nullptr || !part.task->operation->kernel)
            continue;
        const Kernel &kernel = *part.task->operation->kernel;
        used[part.sm] += {1, kernel.threads, kernel.threads * kernel.registers, kernel.shared};
    }
    for (const SmRoom &sm : used) {
        if (sm.blocks == 0)
            continue;
        held.bytes += sm.registers * register_bytes + sm.shared;
        held.threads = std::max(held.threads, sm.threads);
        held.shared_of_thread =
            std::max(held.shared_of_thread, static_cast<double>(sm.shared) / sm.threads);
    }
    return held;
}

} // namespace nvmodel
