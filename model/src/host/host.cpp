// SPDX-License-Identifier: MIT OR GPL-2.0
// Advances the time from event to event, and accounts for the work done in between.
#include "host/host.hpp"

#include <algorithm>
#include <cmath>

namespace nvmodel {
namespace {

/// A double is not exact, so this much work that is left counts as done.
constexpr double rounding_ns = 0.01;

} // namespace

bool Runlist::preempt_outstanding(Preempting kind) const {
    return preempting == kind || std::ranges::any_of(preempts_waiting, [kind](const auto &waiting) {
               return waiting.first == kind;
           });
}

Host::Host(const Board &board, const Memory &memory, const CopyThroughput &copies)
    : board_(board), memory_(memory), copies_(copies), pbdmas_(board.pbdma_count()),
      channels_((board.ids_per_runlist() ? board.runlists.size() : 1) * board.channels) {
    for (const RunlistRow &row : board.runlists) {
        Runlist runlist;
        runlist.id = row.id;
        runlist.pbdmas = row.pbdmas;
        for (const unsigned pbdma : row.pbdmas)
            pbdmas_[pbdma].runlists.push_back(row.id);
        runlists_.push_back(std::move(runlist));
    }
    for (const EngineRow &row : board.engines) {
        if (!row.runlist)
            continue;
        Engine engine;
        engine.row = row;
        engine.runlist = *row.runlist;
        find_runlist(*row.runlist)->engines.push_back(static_cast<unsigned>(engines_.size()));
        engines_.push_back(std::move(engine));
    }
}

Runlist *Host::find_runlist(unsigned id) {
    const auto found = std::ranges::find(runlists_, id, &Runlist::id);
    return found == runlists_.end() ? nullptr : &*found;
}

const Runlist *Host::find_runlist(unsigned id) const {
    const auto found = std::ranges::find(runlists_, id, &Runlist::id);
    return found == runlists_.end() ? nullptr : &*found;
}

const Engine *Host::find_engine(unsigned engine_id) const {
    const auto found = std::ranges::find_if(
        engines_, [engine_id](const Engine &engine) { return engine.row.engine_id == engine_id; });
    return found == engines_.end() ? nullptr : &*found;
}

std::optional<unsigned> Host::engine_index(EngineName name) const {
    const auto found = std::ranges::find_if(
        engines_, [name](const Engine &engine) { return engine.row.name == name; });
    if (found == engines_.end())
        return std::nullopt;
    return static_cast<unsigned>(found - engines_.begin());
}

std::optional<std::size_t> Host::channel_index(unsigned runlist, unsigned id) const {
    if (id >= board_.channels)
        return std::nullopt;
    if (!board_.ids_per_runlist())
        return id;
    const auto found = std::ranges::find(runlists_, runlist, &Runlist::id);
    if (found == runlists_.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - runlists_.begin()) * board_.channels + id;
}

bool Host::runlist_idle(const Runlist &runlist) const {
    return !runlist.current && !runlist.switching() && !runlist.submit_pending();
}

bool Host::engines_idle(const Runlist &runlist) const {
    return std::ranges::none_of(runlist.engines,
                                [this](unsigned engine) { return engines_[engine].busy(); });
}

bool Host::acquire_still_pending(const Runlist &runlist) const {
    if (runlist.current)
        return false;
    for (const Group &group : runlist.groups)
        for (const ListedChannel &listed : group.channels)
            if (usable(runlist, listed)) {
                const Channel &channel = channels_[index_of(runlist, listed)];
                if (channel.pending && channel.acquire_fail)
                    return true;
            }
    return false;
}

void Host::advance(Ns by) {
    run_until(now_ + by);
}

void Host::wait_for_lists() {
    while (std::ranges::any_of(runlists_, &Runlist::submit_pending))
        run_until(next_event());
}

void Host::run_until(Ns time) {
    for (;;) {
        const Ns next = next_event();
        if (next > time)
            break;
        account(next);
        process_events();
    }
    account(time);
    turn_pbdmas();
}

Ns Host::next_event() const {
    Ns next = timers_.empty() ? never : timers_.top().at;
    for (const Runlist &runlist : runlists_)
        next = std::min({next, runlist.fetched_at, runlist.switched_at, runlist.slice_end});
    for (const Engine &engine : engines_)
        if (!engine.channels.empty())
            next = std::min(next, next_completion(engine));
    for (const Pbdma &pbdma : pbdmas_)
        if (pbdma.turns_matter())
            next = std::min(next, pbdma.turn_began + pbdma_turn_ns);
    return std::max(next, now_);
}

Ns Host::next_completion(const Engine &engine) const {
    const double rate = engine.rate / static_cast<double>(engine.channels.size());
    double least = -1;
    for (const std::size_t index : engine.channels) {
        const QueuedWork &work = *channels_[index].work;
        if (work.what.kind == Work::Kind::amount && (least < 0 || work.left_ns < least))
            least = work.left_ns;
    }
    if (least < 0 || rate <= 0)
        return never;
    return now_ + static_cast<Ns>(std::ceil(std::max(least, 0.0) / rate));
}

void Host::account(Ns to) {
    const auto passed = static_cast<double>(to - now_);
    for (const Engine &engine : engines_) {
        if (engine.channels.empty())
            continue;
        const double done = passed * engine.rate / static_cast<double>(engine.channels.size());
        for (const std::size_t index : engine.channels) {
            QueuedWork &work = *channels_[index].work;
            work.done_ns += done;
            if (work.what.kind == Work::Kind::amount)
                work.left_ns -= done;
        }
    }
    now_ = to;
}

/// Handles all events that may be due now. The order is fixed, so that runs repeat exactly.
void Host::process_events() {
    turn_pbdmas();
    complete_work();
    fire_timers();
    for (Runlist &runlist : runlists_) {
        if (runlist.fetched_at <= now_)
            take_list(runlist);
        if (runlist.switched_at <= now_)
            finish_switch(runlist);
        if (runlist.slice_end <= now_)
            end_slice(runlist);
    }
}

/// Brings every PBDMA's turn up to now. Turns that only show another channel are skipped over.
void Host::turn_pbdmas() {
    for (unsigned number = 0; number < pbdmas_.size(); ++number) {
        Pbdma &pbdma = pbdmas_[number];
        while (pbdma.clients.size() > 1 && pbdma.turn_began + pbdma_turn_ns <= now_) {
            const Ns turns = (now_ - pbdma.turn_began) / pbdma_turn_ns;
            const auto clients = static_cast<Ns>(pbdma.clients.size());
            if (!pbdma.turns_matter() && turns > clients)
                pbdma.turn_began += turns / clients * clients * pbdma_turn_ns;
            else
                next_turn(number);
        }
    }
}

void Host::complete_work() {
    for (std::size_t e = 0; e < engines_.size(); ++e) {
        const std::vector<std::size_t> running = engines_[e].channels;
        for (const std::size_t index : running) {
            Channel &channel = channels_[index];
            if (channel.work->what.kind != Work::Kind::amount ||
                channel.work->left_ns > rounding_ns)
                continue;
            channel.work->left_ns = 0;
            leave_unit(index);
            leave_if_exhausted(*find_runlist(engines_[e].runlist));
        }
    }
}

void Host::arm_timer(std::size_t channel, Ns at) {
    timers_.push({at, timer_order_++, channel});
}

void Host::fire_timers() {
    while (!timers_.empty() && timers_.top().at <= now_) {
        const std::size_t index = timers_.top().channel;
        timers_.pop();
        Channel &channel = channels_[index];
        QueuedWork &work = *channel.work;
        if (work.what.kind == Work::Kind::acquire) {
            work.acquired = true;
            channel.acquire_fail = false;
        } else {
            work.left_ns += static_cast<double>(work.what.amount);
            if (work.what.period > 0)
                arm_timer(index, now_ + work.what.period);
        }
        ring(index);
    }
}

void Host::queue_work(std::size_t index, QueuedWork work) {
    const Work &what = work.what;
    if (what.kind == Work::Kind::amount && what.offset == 0)
        work.left_ns = static_cast<double>(what.amount);
    channels_[index].work = work;
    if (what.kind == Work::Kind::amount && (what.offset > 0 || what.period > 0))
        arm_timer(index, now_ + (what.offset > 0 ? what.offset : what.period));
    if (what.kind == Work::Kind::acquire && what.offset != never)
        arm_timer(index, now_ + what.offset);
}

void Host::set_busy(std::size_t index, bool busy) {
    Channel &channel = channels_[index];
    channel.work->what.kind = busy ? Work::Kind::busy : Work::Kind::idle;
    if (busy) {
        ring(index);
        return;
    }
    channel.pending = false;
    leave_unit(index);
    if (channel.runlist)
        leave_if_exhausted(*find_runlist(*channel.runlist));
}

/// Sets the speeds of copy engines, which share hardware. Other engines have their hardware to
/// themselves.
void Host::update_rates() {
    std::uint32_t running = 0;
    for (const Engine &engine : engines_)
        if (engine.row.name.type == EngineType::lce && !engine.channels.empty())
            running |= 1U << engine.row.name.instance;
    for (Engine &engine : engines_)
        if (engine.row.name.type == EngineType::lce)
            engine.rate = copies_.share(engine.row.name.instance, running);
}

} // namespace nvmodel
