// SPDX-License-Identifier: MIT OR GPL-2.0
#include "pacer.hpp"

#include <algorithm>
#include <vector>

namespace qos {
namespace {

/// How many of the last looks count.
constexpr std::size_t looks_max = 3;
/// The most that a tenant is owed, because its rollover is bounded.
constexpr Ns most_owed = 100 * ms;
/// The most that a tenant is ahead, and that it does in one step. Its counts come from the program
/// and may be any number.
constexpr Ns most_done = second;
/// The longest time that launches in flight may wait for the others. After it they count as ended,
/// and the program has found their end in a way that leaves no trace.
constexpr Ns longest_wait = 200 * ms;
/// Work of up to this time may count as in flight although the program has waited for all of it,
/// because no event follows the last launches. (nvtaskset's marks are half as far apart.)
constexpr Ns unseen = ms;
/// The most launches that count in one step.
constexpr std::uint64_t most_launches = 1'000'000;
/// The goal is kept with so much to spare, in millionths of the goal.
constexpr Part spare = 5'000;

} // namespace

Pacer::Pacer(const std::vector<Part> &goals, Ns now, const Times &times) : times_(times), at_(now) {
    for (const Part goal : goals)
        tenants_.push_back({goal});
    look_due_.assign(goals.size(), now + times.first);
}

/// Returns the fastest rate of the last looks, because each disturbance makes a program slower. If
/// its speed alone differs from look to look, like a processor's, the goal is a part of the largest
/// one.
Pacer::Rate Pacer::fastest(const Tenant &tenant) {
    const auto found = std::ranges::max_element(tenant.alone, {}, [](const Rate &rate) {
        return static_cast<double>(rate.launches) / static_cast<double>(rate.time);
    });
    return found == tenant.alone.end() ? Rate() : *found;
}

double Pacer::alone(std::size_t tenant) const {
    const Rate rate = fastest(tenants_[tenant]);
    return rate.time ? static_cast<double>(rate.launches) * second / static_cast<double>(rate.time)
                     : 0;
}

std::optional<Part> Pacer::speed(std::size_t tenant) const {
    const Tenant &one = tenants_[tenant];
    if (one.seconds.empty() || one.alone.empty())
        return std::nullopt;
    const Second &first = one.seconds.front();
    const Ns work = one.work - first.work;
    return work > 0 && one.seconds.back().at - first.at > second - 10 * ms
               ? std::optional(scaled(one.done - first.done, whole, work))
               : std::nullopt;
}

Ns Pacer::due_for(const Tenant &tenant, Ns time) {
    return scaled(time, tenant.goal + scaled(tenant.goal, spare, whole), whole);
}

/// Returns the time that the launches in flight would take alone; 0 if the tenant's speed alone is
/// not known.
Ns Pacer::alone_time_in_flight(const Tenant &tenant) {
    const Rate rate = fastest(tenant);
    const std::uint64_t launches = std::min(
        tenant.last.launched - std::min(tenant.last.ended, tenant.last.launched), most_launches);
    return rate.time ? scaled(static_cast<std::int64_t>(launches), rate.time, rate.launches) : 0;
}

/// Returns by how much time alone the tenant is ahead. The end of a launch is seen only when the
/// program launches again, for example after it has waited for many launches. So launches that
/// still count as in flight may have ended, and are credited.
Ns Pacer::credit(const Tenant &tenant) {
    const Ns due = due_for(tenant, tenant.unsettled);
    return tenant.credit - due +
           std::min({tenant.open + due, alone_time_in_flight(tenant), most_owed});
}

void Pacer::settle(Tenant &tenant, Ns now, Ns passed, const Launched &seen) {
    const bool moved = seen.launched != tenant.last.launched || seen.ended != tenant.last.ended;
    if (moved)
        tenant.moved_at = now;
    if (tenant.held)
        tenant.held_at = now;
    const Rate rate = fastest(tenant);
    const Ns each = rate.launches ? rate.time / rate.launches : 0;
    const bool waits = seen.waits || alone_time_in_flight(tenant) > unseen;
    const Ns wait = std::max(4 * each, waits ? longest_wait : 0);
    tenant.idle = now - std::max(tenant.moved_at, tenant.held_at) > times_.idle + wait;
    if (!rate.time) {
        tenant.last = seen;
        return;
    }
    // The gain of a look, in which the others are held, is not taken from the tenant later.
    const bool is_looked_at = look_ && &tenant == &tenants_[look_->tenant];
    // The time before a launch ends was work, if one ends or if the tenant is held.
    tenant.unsettled += passed;
    if (tenant.idle) {
        tenant.unsettled = 0;
    } else if (moved || tenant.held) {
        tenant.work += tenant.unsettled;
        if (!is_looked_at) {
            const Ns due = due_for(tenant, tenant.unsettled);
            tenant.credit -= due;
            tenant.open += due;
        }
        tenant.unsettled = 0;
    }
    const std::uint64_t ended = std::min(seen.ended - tenant.last.ended, most_launches);
    const Ns done =
        std::min(scaled(static_cast<std::int64_t>(ended), rate.time, rate.launches), most_done);
    if (done || tenant.held)
        tenant.open = 0;
    tenant.done += done;
    tenant.credit = std::clamp(tenant.credit + (is_looked_at ? 0 : done), -most_owed, most_done);
    tenant.last = seen;
    tenant.seconds.push_back({now, tenant.work, tenant.done});
    while (now - tenant.seconds.front().at > second)
        tenant.seconds.pop_front();
}

/// A tenant that stays behind while the others are held has its speed alone, whatever was seen
/// before.
bool Pacer::stays_behind(const Tenant &tenant, Ns now) const {
    return tenant.state == State::behind && now - tenant.behind_at > times_.longest;
}

void Pacer::begin_look(Ns now) {
    for (std::size_t n = 0; n < tenants_.size() && !look_; n++)
        if (!tenants_[n].idle && (now >= look_due_[n] || stays_behind(tenants_[n], now)))
            look_ = Look{n, now};
}

void Pacer::end_look(Ns now) {
    const bool is_known = tenants_[look_->tenant].alone.size() == looks_max;
    tenants_[look_->tenant].behind_at = now;
    look_due_[look_->tenant] = now + (is_known ? times_.again : times_.soon);
    look_.reset();
}

void Pacer::continue_look(Ns now, std::span<const Launched> seen, bool drained, bool counts) {
    Tenant &tenant = tenants_[look_->tenant];
    const Launched &is = seen[look_->tenant];
    const Ns length = now - look_->began;
    if (!look_->counts) {
        // Counted from the end of a launch on, so that whole ones are counted.
        if (counts && (drained || length >= times_.drain) && is.ended != tenant.last.ended) {
            look_->counts = true;
            look_->first = is;
        }
    } else {
        const std::uint64_t most = most_launches * static_cast<std::uint64_t>(times_.longest / ms);
        const std::uint64_t launches = std::min(is.ended - look_->first.ended, most);
        const Ns time = is.ended_at - look_->first.ended_at;
        const bool is_enough = time >= times_.count && launches >= times_.least;
        if (is_enough || (length >= times_.longest && launches >= 2 && time > 0)) {
            tenant.alone.push_back({static_cast<std::int64_t>(launches), time});
            if (tenant.alone.size() > looks_max)
                tenant.alone.pop_front();
            return end_look(now);
        }
    }
    if (length >= times_.longest)
        end_look(now);
}

void Pacer::decide(Ns now, bool others) {
    bool is_behind = false;
    const auto working = std::ranges::count(tenants_, false, &Tenant::idle);
    for (Tenant &tenant : tenants_) {
        const Ns credit = Pacer::credit(tenant);
        if (tenant.state != State::behind)
            tenant.behind_at = now;
        if (tenant.state == State::even)
            tenant.state = credit < -times_.band  ? State::behind
                           : credit > times_.band ? State::ahead
                                                  : State::even;
        else if (tenant.state == State::behind ? credit >= 0
                                               : credit <= due_for(tenant, times_.step))
            tenant.state = State::even;
        is_behind = is_behind || (tenant.state == State::behind && !tenant.idle);
    }
    for (std::size_t n = 0; n < tenants_.size(); n++) {
        Tenant &tenant = tenants_[n];
        const bool is_alone = !others && working - !tenant.idle == 0;
        // The work of a tenant that is alone is not taken from it later.
        if (is_alone)
            tenant.credit = std::min(tenant.credit, times_.band);
        const bool yields = is_behind && tenant.state != State::behind;
        tenant.held =
            look_ ? n != look_->tenant : !is_alone && (tenant.state == State::ahead || yields);
        if (tenant.held)
            tenant.held_at = now;
    }
    holds_others_ = look_ || is_behind;
}

void Pacer::step(Ns now, std::span<const Launched> seen, bool drained, bool others, bool counts) {
    const Ns passed = std::max<Ns>(0, now - at_);
    at_ = std::max(at_, now);
    if (look_)
        continue_look(now, seen, drained, counts);
    for (std::size_t n = 0; n < tenants_.size(); n++)
        settle(tenants_[n], now, passed, seen[n]);
    if (!look_)
        begin_look(now);
    decide(now, others);
}

} // namespace qos
