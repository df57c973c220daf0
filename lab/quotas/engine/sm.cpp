// SPDX-License-Identifier: MIT OR GPL-2.0
#include "sm.hpp"

#include <stdexcept>

namespace engine {

Sm::Sm(std::size_t number, const SmShape &shape, std::size_t kernels)
    : number_(number), room_(shape),
      schedulers_(static_cast<std::size_t>(shape.schedulers), Scheduler(kernels)),
      issued_(schedulers_.size(), 0), open_(kernels, true), counts_(kernels, 0), used_(kernels, 0) {
    for (std::vector<std::int32_t> *all : {&blocks_, &leaving_, &left_, &ended_})
        all->reserve(static_cast<std::size_t>(shape.blocks));
}

void Sm::find_open(const Stage &stage) {
    for (std::size_t k = 0; k < open_.size(); k++)
        open_[k] = counts_[k] > 0 && (!stage.machine || stage.machine->is_open(number_, k));
}

void Sm::cycle(Stage &stage, std::int64_t now) {
    last_ = now;
    wheel_.turn(stage.live, now, [&](std::int32_t number) {
        Warp &warp = stage.live.warp(number);
        Block &block = stage.live.at(warp.block);
        warp.state = Warp::State::ready;
        block.waiting--;
        if (!block.leaving)
            schedulers_[warp.scheduler].set_ready(warp);
    });
    if (!leaving_.empty() && now >= saved_at_)
        let_leave(stage);
    find_open(stage);
    const bool is_serial = stage.machine && stage.machine->readings().check == qos::Check::serial;
    bool issues = false;
    for (std::size_t s = 0; s < schedulers_.size(); s++) {
        Scheduler &scheduler = schedulers_[s];
        if (is_serial && issues)
            find_open(stage);
        std::uint64_t among = 0;
        for (std::size_t k = 0; k < open_.size(); k++)
            among |= open_[k] ? scheduler.ready(k) : 0;
        issued_[s] = 0;
        if (!among)
            continue;
        const std::int32_t number = scheduler.choose(among);
        issued_[s] = scheduler.chosen();
        issues = true;
        issue(stage, scheduler, number, now);
    }
    // A counter may change when it is tested, and when an instruction completes, unless
    // instructions are charged when they are issued. After a change the SM looks again.
    const bool changes = stage.machine && (stage.machine->is_stirred(number_) ||
                                           stage.machine->readings().charge != qos::Charge::issue);
    wakes_at_ = issues || changes ? now + 1 : wheel_.next(now);
    if (!leaving_.empty() && saved_at_ > now)
        wake(saved_at_);
}

void Sm::issue(Stage &stage, Scheduler &scheduler, std::int32_t number, std::int64_t now) {
    Warp &warp = stage.live.warp(number);
    const Kernel &kernel = stage.kernels[warp.kernel];
    const Step &step = kernel.body[static_cast<std::size_t>(warp.step)];
    if (stage.machine && !stage.machine->offer(number_, warp.kernel, step.lanes))
        throw std::logic_error("the quota machine refuses what it had let through");
    used_[warp.kernel] += step.lanes;
    std::int64_t due = now + step.wait;
    if (step.lines) {
        const std::int64_t there = request(stage, warp, step, now);
        due = step.posted ? due : std::max(due, there);
    }
    if (static_cast<std::size_t>(++warp.step) == kernel.body.size()) {
        warp.step = 0;
        if (--warp.left == 0)
            return end(stage, warp, now);
    }
    if (step.barrier) {
        scheduler.set_waiting(warp);
        arrive(stage, warp, step, now);
    } else if (due > now + 1) {
        scheduler.set_waiting(warp);
        wait(stage, number, due, now);
    }
}

/** Requests the lines of a step, one in each cycle. Returns the cycle in which all are there. */
std::int64_t Sm::request(Stage &stage, Warp &warp, const Step &step, std::int64_t now) {
    port_ = std::max(port_, now) + step.lines;
    const int far = warp.far + step.lines * step.far;
    warp.far = static_cast<std::uint8_t>(far % 256);
    return std::max(stage.memory.move(now, far / 256), stage.memory.move(port_ - 1, 0));
}

void Sm::wait(Stage &stage, std::int32_t number, std::int64_t due, std::int64_t now) {
    Warp &warp = stage.live.warp(number);
    warp.state = Warp::State::waiting;
    warp.due = due;
    stage.live.at(warp.block).waiting++;
    wheel_.add(stage.live, number, now);
}

void Sm::arrive(Stage &stage, Warp &warp, const Step &step, std::int64_t now) {
    Block &block = stage.live.at(warp.block);
    warp.state = Warp::State::at_barrier;
    if (++block.at_barrier == block.running)
        release(stage, block, now + step.wait, now);
}

void Sm::release(Stage &stage, Block &block, std::int64_t due, std::int64_t now) {
    block.at_barrier = 0;
    for (std::int32_t n = block.first; n < block.first + block.warps; n++)
        if (stage.live.warp(n).state == Warp::State::at_barrier)
            wait(stage, n, due, now);
}

void Sm::end(Stage &stage, Warp &warp, std::int64_t now) {
    Block &block = stage.live.at(warp.block);
    warp.state = Warp::State::ended;
    schedulers_[warp.scheduler].detach(warp);
    if (--block.running > 0) {
        if (block.at_barrier == block.running)
            release(stage, block, now + 1, now);
        return;
    }
    room_.give(stage.kernels[warp.kernel].need);
    counts_[warp.kernel]--;
    std::erase(blocks_, warp.block);
    ended_.push_back(warp.block);
}

void Sm::attach(Stage &stage, std::int32_t number) {
    Warp &warp = stage.live.warp(number);
    std::size_t fewest = 0;
    for (std::size_t s = 1; s < schedulers_.size(); s++)
        if (schedulers_[s].warps() < schedulers_[fewest].warps())
            fewest = s;
    warp.scheduler = static_cast<std::uint8_t>(fewest);
    schedulers_[fewest].attach(stage.live, number);
}

void Sm::place(Stage &stage, std::int32_t number, std::int64_t now) {
    Block &block = stage.live.at(number);
    const Need &need = stage.kernels[block.kernel].need;
    if (!room_.fits(need))
        throw std::logic_error("a block is placed on an SM that has no room for it");
    room_.take(need);
    counts_[block.kernel]++;
    blocks_.push_back(number);
    block.leaving = false;
    const std::int64_t restored = block.saved ? stage.memory.move(now, need.lines()) : now;
    for (std::int32_t n = block.first; n < block.first + block.warps; n++) {
        Warp &warp = stage.live.warp(n);
        if (warp.state == Warp::State::ended)
            continue;
        attach(stage, n);
        if (warp.state != Warp::State::ready)
            continue;
        if (restored > now)
            wait(stage, n, restored, now);
        else
            schedulers_[warp.scheduler].set_ready(warp);
    }
    wake(now);
}

void Sm::evict(Stage &stage, std::size_t kernel, int count, std::int64_t now) {
    for (auto at = blocks_.size(); at-- > 0 && count > 0;) {
        const std::int32_t number = blocks_[at];
        Block &block = stage.live.at(number);
        if (block.kernel != kernel)
            continue;
        count--;
        block.leaving = block.saved = true;
        counts_[kernel]--;
        for (std::int32_t n = block.first; n < block.first + block.warps; n++)
            if (const Warp &warp = stage.live.warp(n); warp.state != Warp::State::ended)
                schedulers_[warp.scheduler].detach(warp);
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(at));
        leaving_.push_back(number);
        saved_at_ = std::max(saved_at_, stage.memory.move(now, stage.kernels[kernel].need.lines()));
    }
    wake(now);
}

/** Lets the evicted blocks leave together, once none of their warps waits for memory. */
void Sm::let_leave(Stage &stage) {
    for (const std::int32_t number : leaving_)
        if (stage.live.at(number).waiting > 0)
            return;
    for (const std::int32_t number : leaving_) {
        room_.give(stage.kernels[stage.live.at(number).kernel].need);
        left_.push_back(number);
    }
    leaving_.clear();
}

int Sm::idle(std::size_t kernel, std::int64_t now) const {
    int found = 0;
    for (std::size_t s = 0; s < schedulers_.size(); s++)
        found += std::popcount(schedulers_[s].ready(kernel) & ~(last_ == now ? issued_[s] : 0));
    return found;
}

} // namespace engine
