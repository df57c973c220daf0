// SPDX-License-Identifier: MIT OR GPL-2.0
#include "turns.hpp"

#include <algorithm>

namespace nvqos {

using qos::Ns;

namespace {

constexpr std::uint32_t drivers_own_pid = 0xffffffff;

Ns ns_of(std::uint64_t ns) {
    return static_cast<Ns>(ns);
}

} // namespace

Outcome<void> Turns::read_clock() {
    const auto time = clock_.now(*reader_);
    if (!time)
        return fail(time.error());
    now_ = std::max(now_, *time);
    return {};
}

void Turns::begin() {
    turns_ = nvdebug::SwitchTurns(static_cast<std::uint64_t>(now_));
}

/// Moves the turns that were found to the batch.
void Turns::take(bool ends, Batch &batch) {
    for (const nvdebug::Turn &turn : found_) {
        const std::uint32_t pid = turn.who.pid.value_or(0), context = turn.who.context.value_or(0);
        if (pid == 0 || pid == drivers_own_pid)
            continue;
        const Ns begin = ns_of(turn.begin_ns), end = ns_of(turn.end_ns);
        const auto [last_end, is_new] = contexts_.try_emplace({pid, context}, 0);
        batch.turns.push_back({pid, context, begin, end, ends, last_end->second == begin, is_new});
        last_end->second = end;
    }
    found_.clear();
}

Outcome<Turns::Batch> Turns::read() {
    std::vector<nvdebug::ContextSwitch> switches;
    const Ns since = estimate();
    const auto dropped = reader_->read(switches);
    reads_.count++;
    reads_.time += estimate() - since;
    if (!dropped)
        return fail(dropped.error());
    for (const nvdebug::ContextSwitch &one : switches) {
        turns_.add(one, found_);
        last_switch_ = one.ns;
    }
    Batch batch;
    if (*dropped > lost_) {
        turns_.lose(found_);
        batch.has_gap = true;
        lost_ = *dropped;
        last_switch_ = 0;
    }
    take(true, batch);
    // Some switches are later than the reading of the clock.
    now_ = std::max(now_, ns_of(last_switch_));
    turns_.split(static_cast<std::uint64_t>(now_), found_);
    take(false, batch);
    constexpr std::size_t most_contexts = 10'000;
    if (contexts_.size() > most_contexts)
        contexts_.clear();
    return batch;
}

} // namespace nvqos
