// SPDX-License-Identifier: MIT OR GPL-2.0
#include "bursts.hpp"

#include <algorithm>
#include <set>

namespace simulation {
namespace {

/// A longer time between two turns is no switch: no task had work (nvdebug::Tally has the same
/// limit).
constexpr Ns longest_switch = qos::ms;
/// A turn that ends at the end of a timeslice is up to 0.14 ms longer (an H100 and an H200,
/// nvdebug::saving_ns()).
constexpr Ns longest_late = 250 * qos::us;
/// Entries of runlists hold timeslices to 1/128 (dev_ram.ref.txt).
constexpr Ns timeslice_steps = 128;

std::optional<Ns> median(std::vector<Ns> times) {
    if (times.empty())
        return std::nullopt;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    return *middle;
}

/// Returns how long after the end of a timeslice the turn ended; empty: it was given up, or is
/// shorter than a timeslice.
std::optional<Ns> late_of(Ns length, Ns timeslice) {
    const Ns slices = (length + timeslice / timeslice_steps) / timeslice;
    const Ns late = length - slices * timeslice;
    return slices > 0 && late <= longest_late ? std::optional(std::max<Ns>(late, 0)) : std::nullopt;
}

/// Returns the timeslice of a task if most of its turns have one length.
std::optional<Ns> timeslice_from(const std::vector<Ns> &lengths, Ns late) {
    const auto middle = median(lengths);
    if (!middle || *middle <= late)
        return std::nullopt;
    const auto like = std::ranges::count_if(lengths, [&](Ns length) {
        return std::abs(length - *middle) <= *middle / 20; // 5 %
    });
    if (2 * static_cast<std::size_t>(like) <= lengths.size())
        return std::nullopt;
    return *middle - late;
}

class Analysis {
  public:
    Analysis(const SeenGpu &gpu, Ns timeslice) : gpu_(gpu) {
        find_switching();
        join_turns();
        find_timeslices(timeslice);
        find_late();
        for (at_ = 0; at_ < turns_.size(); at_++)
            add(turns_[at_]);
        bound_pauses();
        end_open_bursts();
    }

    GpuBursts result;

  private:
    /// The present burst of a task, or the pause after it.
    struct State {
        bool is_known = false;         ///< the begin of its burst was seen
        bool follows = false;          ///< the task's last burst was added to its list
        Ns begin = 0;                  ///< of the present burst
        Ns work = 0;                   ///< of the present burst
        std::optional<Ns> given_up;    ///< when its pause began
        bool may_have_work = false;    ///< its turn ended when another task came
        std::optional<Ns> first_pause; ///< after a burst with a begin that was not seen
        std::optional<Ns> first_begin; ///< of its first turn
        Ns last_end = 0;
    };

    bool is_hole_between(Ns from, Ns to) const {
        return std::ranges::any_of(gpu_.holes, [&](const SeenGpu::Hole &hole) {
            return hole.begin < to && hole.end > from;
        });
    }

    void find_switching() {
        std::vector<Ns> gaps;
        for (std::size_t n = 1; n < gpu_.turns.size(); n++) {
            const SeenTurn &one = gpu_.turns[n - 1], &next = gpu_.turns[n];
            const Ns gap = next.begin - one.end;
            if (one.task != next.task && gap >= 0 && gap <= longest_switch &&
                !is_hole_between(one.end, next.begin))
                gaps.push_back(gap);
        }
        result.switching = median(std::move(gaps));
    }

    /// Joins turns of one task between which there is no more than a switch: parts of a turn, or
    /// turns of two contexts of a process.
    void join_turns() {
        const Ns longest = 2 * result.switching.value_or(longest_late / 2);
        for (const SeenTurn &turn : gpu_.turns) {
            TaskBursts &task = result.tasks[turn.task];
            task.held += turn.end - turn.begin;
            task.turns++;
            if (!turns_.empty() && turns_.back().task == turn.task &&
                turn.begin - turns_.back().end <= longest &&
                !is_hole_between(turns_.back().end, turn.begin)) {
                // A joined turn is whole if one of its parts is.
                turns_.back().end = turn.end;
                turns_.back().whole = turns_.back().whole || turn.whole;
            } else {
                turns_.push_back(turn);
            }
        }
    }

    void find_timeslices(Ns otherwise) {
        constexpr Ns usual_late = 100 * qos::us;
        for (auto &[number, task] : result.tasks) {
            if (const auto known = gpu_.timeslices.find(number); known != gpu_.timeslices.end()) {
                task.timeslice = known->second;
                task.is_timeslice_known = true;
                continue;
            }
            std::vector<Ns> lengths;
            for (const SeenTurn &turn : turns_)
                if (turn.task == number && turn.whole)
                    lengths.push_back(turn.end - turn.begin);
            task.timeslice = timeslice_from(lengths, usual_late).value_or(otherwise);
        }
    }

    void find_late() {
        std::vector<Ns> late_times;
        for (const SeenTurn &turn : turns_)
            if (const auto late = turn.whole ? late_of_turn(turn) : std::nullopt)
                late_times.push_back(*late);
        result.late = median(std::move(late_times));
    }

    std::optional<Ns> late_of_turn(const SeenTurn &turn) const {
        return late_of(turn.end - turn.begin, result.tasks.at(turn.task).timeslice);
    }

    void add(const SeenTurn &turn) {
        if (at_ > 0 && is_hole_between(turns_[at_ - 1].end, turn.begin))
            forget_all();
        State &state = states_[turn.task];
        TaskBursts &task = result.tasks[turn.task];
        state.first_begin = state.first_begin.value_or(turn.begin);
        state.last_end = turn.end;
        if (state.given_up) {
            const Burst pause = pause_before(turn, *state.given_up);
            if (!pause.bound || !state.may_have_work)
                end_burst(state, task, pause, *state.given_up);
            state.given_up.reset();
        }
        const auto late = late_of_turn(turn);
        state.work += turn.end - turn.begin - late.value_or(0);
        const Ns length = turn.end - turn.begin;
        if (turn.whole && !late) {
            state.given_up = turn.end;
            state.may_have_work = length > task.timeslice;
        }
        task.unasked += std::max<Ns>(length - late.value_or(0) - task.timeslice, 0);
    }

    static void end_burst(State &state, TaskBursts &task, const Burst &pause, Ns given_up) {
        if (state.is_known)
            task.bursts.push_back(
                {state.work, pause.pause, pause.bound, state.begin, state.follows});
        else
            state.first_pause = pause.pause;
        state.follows = state.is_known;
        state.is_known = true;
        state.begin = given_up + pause.pause;
        state.work = 0;
    }

    /// Sets each pause that has a bound to half of it, or half of TaskBursts::bound if that is
    /// less.
    void bound_pauses() {
        constexpr std::size_t shortest_part = 20;
        for (auto &[number, task] : result.tasks) {
            std::vector<Ns> bounds;
            for (const Burst &one : task.bursts)
                if (one.bound)
                    bounds.push_back(*one.bound);
            if (bounds.empty())
                continue;
            const auto at =
                bounds.begin() + static_cast<std::ptrdiff_t>(bounds.size() / shortest_part);
            std::ranges::nth_element(bounds, at);
            task.bound = *at;
            for (Burst &one : task.bursts)
                if (one.bound)
                    one.pause = std::max<Ns>(std::min(*one.bound, task.bound) / 2, 1);
        }
    }

    /// Forgets the present bursts, because turns were lost.
    void forget_all() {
        for (auto &[number, state] : states_) {
            state.is_known = false;
            state.work = 0;
            state.given_up.reset();
        }
        since_ = at_;
    }

    /// Returns the pause from @p given_up to when the task had work again, before @p turn.
    Burst pause_before(const SeenTurn &turn, Ns given_up) const {
        const auto exact = [&](Ns end) {
            return Burst{0, std::clamp<Ns>(end - given_up, 1, turn.begin - given_up), {}};
        };
        const SeenTurn &other = turns_[at_ - 1];
        if (other.task == turn.task ||
            turn.begin - other.end > 2 * result.switching.value_or(longest_late))
            return exact(turn.begin - result.switching.value_or(0));
        const Ns slice = result.tasks.at(other.task).timeslice, length = other.end - other.begin;
        const auto late = late_of(length, slice);
        // The GPU asks for the next task at the end of each timeslice, so that half of one is
        // taken.
        if (late && length >= 2 * slice)
            return exact(other.end - *late - slice / 2);
        if (!late && length > slice)
            return exact(other.end);
        // Find the turns of other tasks that come before this turn in any case, one of each task.
        std::set<std::size_t> waited_for;
        std::size_t first = at_;
        while (first > since_ && turns_[first - 1].task != turn.task &&
               waited_for.insert(turns_[first - 1].task).second)
            first--;
        // Beside several other tasks, this task may have been passed over before these turns.
        const Ns passed = std::max<Ns>(turns_[first].begin - given_up, 0);
        const Ns bound = std::max<Ns>(other.end - given_up, 1);
        return passed > longest_switch ? exact((turns_[first].begin + other.end) / 2)
                                       : Burst{0, bound / 2, bound};
    }

    /// Gives one burst to a task that paused but has no whole burst: it came late, ended early, or
    /// had one pause.
    void end_open_bursts() {
        constexpr std::int64_t parts_to_count = 20; // 5 % of the record
        for (auto &[number, task] : result.tasks) {
            const State &state = states_[number];
            if (!task.bursts.empty())
                continue;
            const Ns outside = *state.first_begin - gpu_.begin + gpu_.end - state.last_end;
            if (outside > gpu_.known() / parts_to_count)
                task.bursts.push_back({task.held, outside, {}});
            else if (state.first_pause)
                task.bursts.push_back({task.held, *state.first_pause, {}});
        }
    }

    const SeenGpu &gpu_;
    std::vector<SeenTurn> turns_; ///< joined
    std::size_t at_ = 0;          ///< the turn that is added now
    std::size_t since_ = 0;       ///< no turn was lost after this one
    std::map<std::size_t, State> states_;
};

} // namespace

Ns SeenGpu::known() const {
    Ns time = end - begin;
    for (const Hole &hole : holes)
        time -= std::max<Ns>(0, std::min(hole.end, end) - std::max(hole.begin, begin));
    return time;
}

GpuBursts bursts_of(const SeenGpu &gpu, Ns timeslice) {
    return Analysis(gpu, timeslice).result;
}

} // namespace simulation
