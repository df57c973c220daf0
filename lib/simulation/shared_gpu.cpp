// SPDX-License-Identifier: MIT OR GPL-2.0
#include "shared_gpu.hpp"

#include <algorithm>
#include <utility>

namespace simulation {

std::size_t SharedGpu::add(Bursts bursts) {
    const std::size_t task = host_.add();
    tasks_.push_back({});
    set_bursts(task, std::move(bursts));
    return task;
}

void SharedGpu::set_bursts(std::size_t task, Bursts bursts) {
    Task &one = tasks_[task];
    one.bursts = std::move(bursts);
    one.next = one.bursts ? one.bursts(now_) : std::nullopt;
}

void SharedGpu::stop(std::size_t task) {
    set_bursts(task, nullptr);
    set_work(task, 0);
}

void SharedGpu::set_work(std::size_t task, Ns work) {
    tasks_[task].work = work;
    host_.set_work(task, work > 0, now_);
}

Ns SharedGpu::due() const {
    Ns due = std::min(host_.due(), requests_.due());
    for (const Task &task : tasks_)
        if (task.next)
            due = std::min(due, task.next->at);
    // A task without work may stay on the GPU.
    const auto holder = host_.holder();
    if (holder && host_.progressing() && tasks_[*holder].work != never)
        due = std::min(due, now_ + tasks_[*holder].work);
    return std::max(due, now_);
}

void SharedGpu::run_until(Ns end) {
    for (Ns next; (next = due()) < end;) {
        pass(next);
        if (const auto holder = host_.holder(); holder && tasks_[*holder].work == 0)
            set_work(*holder, 0);
        add_work();
        if (requests_.due() <= now_)
            change(requests_.take(now_));
        if (host_.due() <= now_)
            host_.step(now_);
    }
    pass(std::max(now_, end));
}

/// Counts the time until then. Nothing is due before.
void SharedGpu::pass(Ns until) {
    if (const auto holder = host_.holder(); holder && until > now_) {
        if (host_.progressing() && tasks_[*holder].work != never)
            tasks_[*holder].work -= until - now_;
        auto &spans = tasks_[*holder].spans;
        if (!spans.empty() && spans.back().end == now_)
            spans.back().end = until;
        else
            spans.push_back({now_, until});
    }
    now_ = until;
}

void SharedGpu::add_work() {
    for (std::size_t n = 0; n < tasks_.size(); n++)
        for (Task &task = tasks_[n]; task.next && task.next->at <= now_;) {
            const Ns work = task.next->work;
            set_work(n, work == never || task.work == never ? never : task.work + work);
            task.next = task.bursts(now_);
        }
}

std::vector<Turn> SharedGpu::take_turns() {
    std::vector<Turn> turns = host_.take_turns();
    if (const auto part = host_.split(now_))
        turns.push_back(*part);
    return turns;
}

Ns SharedGpu::used(std::size_t task) const {
    Ns sum = 0;
    for (const Span &span : tasks_[task].spans)
        sum += span.end - span.begin;
    return sum;
}

} // namespace simulation
