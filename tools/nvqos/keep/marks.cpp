// SPDX-License-Identifier: MIT OR GPL-2.0
#include "marks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "lib/base/printable.hpp"

namespace nvqos {

using nvdebug::base::printable;
using SteadyClock = std::chrono::steady_clock;

Marks::Marks(Warn warn, Clock clock) : warn_(std::move(warn)), clock_(std::move(clock)) {}

Marks::~Marks() {
    add_left_out(true);
    if (!waiting_.empty())
        send_to(nvdebug::base::running_recorders(), waiting_,
                SteadyClock::now() + std::chrono::milliseconds(100));
    if (missed_)
        warn_(fmt::format("marks that recordings do not have, as the recorder's queue was full: {}",
                          missed_));
}

bool Marks::may_add(std::uint64_t now) {
    earned_until_ = std::max(earned_until_, now);
    if (earned_until_ > now + (burst - 1) * interval_ns)
        return false;
    earned_until_ += interval_ns;
    return true;
}

void Marks::add(std::uint32_t gpu, const std::string &text) {
    const std::uint64_t now = clock_();
    const std::scoped_lock held(lock_);
    if (may_add(now))
        waiting_.push_back({"gpu" + std::to_string(gpu), "nvqos: " + text, now});
    else
        left_out_[gpu]++;
}

/// @param all also adds marks that the rate does not allow yet
void Marks::add_left_out(bool all) {
    const std::uint64_t now = clock_();
    std::erase_if(left_out_, [&](const auto &one) {
        if (!all && !may_add(now))
            return false;
        waiting_.push_back({"gpu" + std::to_string(one.first),
                            fmt::format("nvqos: {} marks before this were left out", one.second),
                            now});
        return true;
    });
}

void Marks::send() {
    const std::uint64_t now = clock_();
    {
        const std::scoped_lock held(lock_);
        if (now < search_at_ || (waiting_.empty() && left_out_.empty()))
            return;
    }
    search_at_ = now + interval_ns;
    // Recorders decide how long both of these take, so they are done without the lock.
    const auto recorders = nvdebug::base::running_recorders();
    std::unique_lock held(lock_);
    if (recorders.empty()) {
        waiting_.clear();
        left_out_.clear();
        return;
    }
    add_left_out(false);
    const std::vector<nvdebug::base::Mark> marks = take(most_at_once);
    held.unlock();
    send_to(recorders, marks, {});
}

std::vector<nvdebug::base::Mark> Marks::take(std::size_t count) {
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(count, waiting_.size()));
    std::vector<nvdebug::base::Mark> taken(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    return taken;
}

void Marks::send_to(const std::vector<std::string> &recorders,
                    const std::vector<nvdebug::base::Mark> &marks,
                    SteadyClock::time_point deadline) {
    const std::size_t reached = std::min(recorders.size(), most_recorders);
    std::uint64_t missed = 0;
    for (const nvdebug::base::Mark &mark : marks) {
        for (std::size_t n = 0; n < reached; n++)
            missed += !nvdebug::base::send_mark(recorders[n], mark, deadline);
        missed += recorders.size() - reached;
    }
    if (missed && !missed_)
        warn_("a recording that runs now does not have each mark: the recorder's queue is full");
    missed_ += missed;
}

void GoalMarks::add(const Tenant &tenant, const std::string &text) {
    if (marks_)
        marks_->add(gpu_, printable(tenant.name) + ": " + text);
}

void GoalMarks::set(const Goals &goals) {
    const std::vector<Goal> old = std::exchange(goals_, {});
    std::vector<Tenant> tenants = goals.tenants;
    tenants.push_back({"others", {}, goals.others});
    const auto is_goal = [](const Tenant &tenant) {
        return tenant.name != "others" || tenant.goal != qos::Goal();
    };
    for (const Goal &one : old)
        if (is_goal(one.tenant) && std::ranges::none_of(tenants, [&](const Tenant &tenant) {
                return tenant.name == one.tenant.name && is_goal(tenant);
            }))
            add(one.tenant, text_of(one.tenant.goal) + " ends");
    for (Tenant &tenant : tenants) {
        const auto same = std::ranges::find(old, tenant, &Goal::tenant);
        if (same != old.end()) {
            goals_.push_back(*same);
            continue;
        }
        const auto before = std::ranges::find_if(old, [&](const Goal &one) {
            return one.tenant.name == tenant.name && is_goal(one.tenant) &&
                   one.tenant.goal != tenant.goal;
        });
        std::string text = text_of(tenant.goal);
        if (before != old.end())
            text += ", in place of " + text_of(before->tenant.goal);
        if (is_goal(tenant))
            add(tenant, text);
        goals_.push_back({std::move(tenant)});
    }
}

void GoalMarks::keep(std::size_t tenant, bool kept) {
    if (std::exchange(goals_[tenant].kept, kept) != kept)
        add(goals_[tenant].tenant,
            text_of(goals_[tenant].tenant.goal) + (kept ? " is kept again" : " is not kept"));
}

void GoalMarks::pause(std::size_t tenant) {
    Goal &goal = goals_[tenant];
    if (goal.tenant.goal.cap && !std::exchange(goal.was_paused, true))
        add(goal.tenant, text_of(goal.tenant.goal) + ": first pause");
}

} // namespace nvqos
