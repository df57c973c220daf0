// SPDX-License-Identifier: MIT OR GPL-2.0
#include "search.hpp"

#include <algorithm>
#include <numeric>

namespace stgm {
namespace {

void shuffle(std::vector<std::size_t> &order, Random &random) {
    for (std::size_t n = order.size(); n > 1; n--)
        std::swap(order[n - 1], order[random.below(n)]);
}

/// Returns the longest part of any job. Interesting offsets differ by no more than a few such
/// parts.
Time longest_part(const TaskSet &set) {
    Time longest = 1;
    for (const Task &task : set.tasks)
        for (const Time part : worst_parts(task, set.sms))
            longest = std::max(longest, part);
    return longest;
}

class Chooser {
  public:
    Chooser(const TaskSet &set, std::uint64_t seed)
        : set_(set), random_(seed), longest_(longest_part(set)) {}

    Random &random() { return random_; }

    Choices any() {
        Choices choices = synchronous(set_);
        shuffle(choices.order, random_);
        const std::size_t kind = random_.below(4);
        for (std::size_t task = 0; task < set_.tasks.size(); task++) {
            const Time period = set_.tasks[task].period;
            const Time most = kind == 0   ? 0
                              : kind == 1 ? std::min(period, longest_)
                              : kind == 2 ? std::min(period, 4 * longest_)
                                          : period;
            choices.offset[task] = random_.between(0, most);
            if (random_.chance(30))
                choices.later[task] = {random_.between(0, longest_), random_.between(0, longest_)};
        }
        choices.seed = random_.next();
        choices.shorter_percent =
            random_.chance(50) ? 0 : static_cast<unsigned>(random_.between(1, 60));
        return choices;
    }

    Choices near(Choices choices) {
        const std::size_t changes = 1 + random_.below(3);
        for (std::size_t n = 0; n < changes; n++)
            change(choices);
        return choices;
    }

  private:
    void change(Choices &choices) {
        const std::size_t task = random_.below(set_.tasks.size()),
                          other = random_.below(set_.tasks.size());
        Time &offset = choices.offset[task];
        switch (random_.below(7)) {
        case 0:
            offset = std::clamp(offset + random_.between(-2, 2), Time{0}, longest_time);
            break;
        case 1:
            offset = std::clamp(choices.offset[other] + random_.between(-1, longest_), Time{0},
                                longest_time);
            break;
        case 2:
            offset = random_.between(0, set_.tasks[task].period);
            break;
        case 3:
            std::swap(choices.order[task], choices.order[other]);
            break;
        case 4:
            choices.seed = random_.next();
            break;
        case 5:
            choices.shorter_percent =
                random_.chance(50) ? 0 : static_cast<unsigned>(random_.between(1, 60));
            break;
        default:
            choices.later[task] = {random_.between(0, longest_)};
        }
    }

    const TaskSet &set_;
    Random random_;
    const Time longest_;
};

} // namespace

Choices synchronous(const TaskSet &set) {
    Choices choices;
    choices.offset.assign(set.tasks.size(), 0);
    choices.later.resize(set.tasks.size());
    choices.order.resize(set.tasks.size());
    const std::vector<std::size_t> rank = ranks(set);
    for (std::size_t task = 0; task < rank.size(); task++)
        choices.order[rank[task]] = task;
    return choices;
}

Plan plan_of(const TaskSet &set, const Choices &choices, Time until, std::size_t most_jobs) {
    Plan plan{.jobs = {}, .order = choices.order};
    std::vector<std::size_t> place(set.tasks.size());
    for (std::size_t at = 0; at < choices.order.size(); at++)
        place[choices.order[at]] = at;
    for (std::size_t task = 0; task < set.tasks.size(); task++) {
        Random random(choices.seed + task);
        Time release = choices.offset[task];
        for (std::size_t job = 0; job < most_jobs && release < until; job++) {
            std::vector<Time> parts = worst_parts(set.tasks[task], set.sms);
            for (Time &part : parts)
                if (part > 0 && random.chance(choices.shorter_percent))
                    part =
                        random.between(random.chance(50) ? 0 : std::max(Time{0}, part - 2), part);
            plan.jobs.push_back({task, release, std::move(parts)});
            const auto &later = choices.later[task];
            release = add(release, add(set.tasks[task].period,
                                       later.empty() ? 0 : later[job % later.size()]));
        }
    }
    std::ranges::stable_sort(plan.jobs, [&](const Job &a, const Job &b) {
        return a.release != b.release ? a.release < b.release : place[a.task] < place[b.task];
    });
    return plan;
}

Found search(const TaskSet &set, const Search &how) {
    const std::size_t count = set.tasks.size();
    Found found{.worst = std::vector<Worst>(count), .misses = std::vector<std::uint64_t>(count)};
    Time until = how.until;
    if (!until)
        for (const Task &task : set.tasks)
            until = std::max(until, multiply(2, task.period));
    Chooser chooser(set, how.seed);
    for (found.schedules = 0; found.schedules < how.schedules;) {
        const Worst &seed = found.worst[chooser.random().below(count)];
        const Choices choices = found.schedules == 0 ? synchronous(set)
                                : seed.response < 0 || chooser.random().chance(40)
                                    ? chooser.any()
                                    : chooser.near(seed.choices);
        const Plan plan = plan_of(set, choices, until, how.most_jobs);
        const std::vector<Time> responses = simulate(set, how.waiting, plan);
        for (std::size_t job = 0; job < responses.size(); job++) {
            const std::size_t task = plan.jobs[job].task;
            if (responses[job] > found.worst[task].response)
                found.worst[task] = {responses[job], choices};
            found.misses[task] += responses[job] > set.tasks[task].deadline;
        }
        found.jobs += responses.size();
        found.schedules++;
        if (how.enough && how.enough(found))
            break;
    }
    return found;
}

} // namespace stgm
