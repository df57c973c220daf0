// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU that takes turns, simulated in steps: timeslices, switches and pauses as they were measured
// on an H100 (docs/partitions-measured.md). It shares nothing with what is tested but the type of a turn.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "lib/qos/demand.hpp"

namespace simulated {

using qos::Ns;

struct Task {
    std::size_t tenant;
    /// How much work there is from now on: called each step.
    std::function<Ns(Ns now)> arrives = nullptr;
    Ns work = 0;
    Ns timeslice = 2048 * qos::us;
    bool paused = false;                                       ///< as it is now
    std::optional<std::pair<Ns, bool>> pausing = std::nullopt; ///< from when on it is so
    Ns used = 0;
};

class Gpu {
  public:
    static constexpr Ns step = 12 * qos::us, change = 84 * qos::us, rest = 103 * qos::us;
    std::vector<Task> tasks;
    std::vector<qos::TenantTurn> turns; ///< not yet taken; of the one that goes on, its part so far
    /// A context that has no work stays there while no other one comes.
    bool stays = true;
    /// The use of each tenant by steps of 1 ms.
    std::vector<std::vector<std::int32_t>> use_by_ms;

    explicit Gpu(std::size_t tenants) : use_by_ms(tenants) {}

    Ns now() const { return now_; }

    void set_paused(std::size_t tenant, bool paused, Ns after) {
        for (Task &task : tasks)
            if (task.tenant == tenant &&
                (task.pausing ? task.pausing->second : task.paused) != paused)
                task.pausing = {now_ + after, paused};
    }
    /// The turn that goes on may end with that (docs/qos-measured.md).
    void set_timeslice(std::size_t tenant, Ns timeslice) {
        for (Task &task : tasks)
            if (task.tenant == tenant && std::exchange(task.timeslice, timeslice) != timeslice)
                ends_ = now_;
    }

    void run_until(Ns end) {
        for (; now_ < end; now_ += step) {
            for (Task &task : tasks) {
                if (task.pausing && task.pausing->first <= now_) {
                    task.paused = task.pausing->second;
                    task.pausing.reset();
                }
                if (task.arrives)
                    task.work += task.arrives(now_);
            }
            advance();
        }
        split();
    }

  private:
    bool wants(const Task &task) const { return task.work > 0 && !task.paused; }

    std::optional<std::size_t> next() const {
        const std::size_t after = on_ ? *on_ : last_.value_or(tasks.size() - 1);
        for (std::size_t n = 1; n <= tasks.size(); n++)
            if (wants(tasks[(after + n) % tasks.size()]))
                return (after + n) % tasks.size();
        return std::nullopt;
    }

    void leave(Ns when) {
        Task &task = tasks[*on_];
        turns.push_back({task.tenant, *on_, begin_, when, true});
        last_ = on_;
        on_.reset();
        free_at_ = when + change;
    }

    void advance() {
        if (on_) {
            Task &task = tasks[*on_];
            const auto other = next();
            const bool others = other && *other != *on_;
            const bool over = now_ >= ends_;
            if (task.paused || (!wants(task) && (others || !stays)))
                leave(now_);
            else if (over && others)
                leave(now_);
            else if (over)
                ends_ = now_ + task.timeslice + rest;
        }
        if (!on_ && now_ >= free_at_)
            if (const auto who = next()) {
                on_ = who;
                begin_ = now_;
                ends_ = now_ + tasks[*who].timeslice + rest;
            }
        if (on_) {
            Task &task = tasks[*on_];
            task.work = std::max<Ns>(0, task.work - step);
            task.used += step;
            auto &use = use_by_ms[task.tenant];
            use.resize(static_cast<std::size_t>(now_ / qos::ms) + 1);
            use.back() += static_cast<std::int32_t>(step);
        }
    }

    void split() {
        if (!on_ || begin_ == now_)
            return;
        turns.push_back({tasks[*on_].tenant, *on_, begin_, now_, false});
        begin_ = now_;
    }

    Ns now_ = 0, begin_ = 0, ends_ = 0, free_at_ = 0;
    std::optional<std::size_t> on_, last_;
};

/// It always has work.
inline std::function<Ns(Ns)> always() {
    return [](Ns) { return Gpu::step; };
}

/// One piece of work each period.
inline std::function<Ns(Ns)> every(Ns period, Ns work) {
    return
        [=](Ns now) { return now == 0 || now / period != (now - Gpu::step) / period ? work : 0; };
}

/// It has work and none in turns of random lengths up to @p longest.
inline std::function<Ns(Ns)> at_random(unsigned seed, Ns longest) {
    return [random = std::mt19937(seed), longest, until = Ns{0}, on = false](Ns now) mutable {
        if (now >= until) {
            on = !on;
            until = now + static_cast<Ns>(random() % static_cast<std::uint64_t>(longest));
        }
        return on ? Gpu::step : 0;
    };
}

} // namespace simulated
