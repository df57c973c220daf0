// SPDX-License-Identifier: MIT OR GPL-2.0
#include "result.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "clock_windows.hpp"
#include "governed.hpp"
#include "lib/qos/ledger.hpp"
#include "machine.hpp"

namespace simulation {
namespace {

/// How far a result may be from its goal.
constexpr Part tolerance = qos::point;

/// So many passes, and no less than this time, show how fast a job is alone, within a thousandth or
/// so. The beginning may be slower.
constexpr Ns enough_passes = 2000, enough_time = qos::second, beginning = 200 * qos::ms;

/// Returns no less than what a pass of a job takes alone, unless its times vary much.
Ns longest_pass(const Job &job) {
    Ns longest = 0;
    for (const Program &program : job.programs) {
        Ns sum = 0;
        for (const Item &item : program)
            sum += item.time + item.launch;
        longest = std::max(longest, sum);
    }
    return longest;
}

/// Returns the scenario with one job alone, without control. It is shorter for a job whose passes
/// follow each other from the beginning to the end. A job with requests is compared with the same ones.
Scenario alone(const Scenario &scenario, std::size_t job) {
    Scenario one = scenario;
    one.has_control = false;
    one.jobs = {scenario.jobs[job]};
    std::erase_if(one.kills, [&](const Kill &kill) { return kill.job != job; });
    for (Kill &kill : one.kills)
        kill.job = 0;
    const Job &only = one.jobs.front();
    const Ns enough = std::max(enough_time, enough_passes * longest_pass(only));
    if (only.mean_gap == 0 && only.start == 0 && one.kills.empty() &&
        enough < scenario.measured()) {
        one.warmup = std::min(one.warmup, beginning);
        one.duration = one.warmup + enough;
    }
    return one;
}

/// Returns when processes of a job are killed, and which.
std::vector<std::pair<Ns, std::size_t>> kills_of(const Scenario &scenario, std::size_t job) {
    std::vector<std::pair<Ns, std::size_t>> all;
    for (const Kill &kill : scenario.kills)
        if (kill.job == job)
            all.emplace_back(kill.at, kill.rank);
    return all;
}

/// Returns whether two jobs alone differ at most in their random times. The requests of a service
/// come at times of its own, so it is compared with these same requests.
bool are_same_alone(const Scenario &scenario, std::size_t a, std::size_t b) {
    const Job &one = scenario.jobs[a], &other = scenario.jobs[b];
    const auto fields = [](const Job &job) {
        return std::tie(job.of_rank, job.start, job.cpu_jitter, job.programs);
    };
    return one.mean_gap == 0 && other.mean_gap == 0 && fields(one) == fields(other) &&
           kills_of(scenario, a) == kills_of(scenario, b);
}

/// Runs each job alone and without goals; jobs that are the same alone share a run.
/// @return by job
std::vector<std::shared_ptr<const Measures>> run_alone(const Scenario &scenario) {
    std::vector<std::shared_ptr<const Measures>> all;
    for (std::size_t job = 0; job < scenario.jobs.size(); job++) {
        std::size_t same = 0;
        while (same < job && !are_same_alone(scenario, same, job))
            same++;
        all.push_back(same < job ? all[same]
                                 : std::make_shared<const Measures>(
                                       Machine(alone(scenario, job), nullptr).run()));
    }
    return all;
}

/// @param times sorted
std::optional<Ns> percentile(const std::vector<Ns> &times, std::int64_t percent) {
    return times.empty()
               ? std::nullopt
               : std::optional(
                     times[(times.size() * static_cast<std::size_t>(percent) + 99) / 100 - 1]);
}

Times times_of(std::vector<Ns> times) {
    std::ranges::sort(times);
    return {static_cast<std::int64_t>(times.size()), percentile(times, 50), percentile(times, 99)};
}

Part part_of(Ns time, Ns whole) {
    return qos::scaled(time, qos::whole, whole);
}

Part per_second(std::int64_t count, Ns time) {
    return qos::scaled(count * qos::whole, qos::second, time);
}

Part least_got(const JobResult &job) {
    return std::ranges::min_element(job.gpus, {}, &JobResult::OnGpu::got)->got;
}

/// Returns whether a job got its share of a GPU, or what it has alone, in a time in which it had
/// @p got.
bool has_share(const qos::Goal &goal, Part got, Part got_alone) {
    return got >= std::min(goal.part, qos::scaled(got_alone, qos::enough_of_alone, qos::whole)) -
                      tolerance;
}

/// Returns whether a job got its share of each of its GPUs. An engine is judged by the time in which
/// it had requests. If it is slower than alone, its steps are for more requests at once, so that it
/// needs less of the whole time.
bool has_shares(const qos::Goal &goal, const JobResult &job) {
    if (job.engine)
        return !job.engine->got_of_serving ||
               has_share(goal, *job.engine->got_of_serving,
                         job.engine->alone_got_of_serving.value_or(0));
    return std::ranges::all_of(job.gpus, [&](const JobResult::OnGpu &one) {
        return has_share(goal, one.got, one.got_alone);
    });
}

/// Returns the speed of a job with so many passes as a part of that alone.
Part speed_of(std::int64_t passes, Ns length, const JobUse &alone, Ns length_alone) {
    return qos::scaled(passes * length_alone, qos::whole, alone.passes * length);
}

/// Returns whether a gang makes at least three quarters of the progress of its share. It has less if
/// its ranks have their GPUs at different times, and wait for each other there.
/// @param speed of the job if one more pass had ended, as it may end just after the run; empty: it has
/// none alone
bool has_progress_of_share(const Job &job, std::optional<Part> speed, const JobResult &result) {
    constexpr Part least = 75 * qos::point;
    if (!job.gang || job.ranks() == 1 || job.goal.aim != qos::Aim::share || !speed)
        return true;
    const Part alone = std::ranges::max_element(result.gpus, {}, &JobResult::OnGpu::got_alone)
                           ->got_alone,
               own = std::min(qos::whole,
                              qos::scaled(job.goal.part, qos::whole, std::max<Part>(alone, 1)));
    return *speed >= qos::scaled(own, least, qos::whole);
}

bool is_kept(const qos::Goal &goal, const JobResult &job) {
    if (goal.aim == qos::Aim::share && !has_shares(goal, job))
        return false;
    if (goal.cap && job.most_in_a_second.value_or(0) > *goal.cap + tolerance)
        return false;
    if (goal.is_marked())
        return job.engine->goal_ttft.value_or(0) <= goal.ttft.most &&
               job.engine->goal_tpot.value_or(0) <= goal.tpot.most &&
               (job.engine->to_first.count > 0 || job.engine->alone_to_first.count == 0);
    // A service that had requests alone, and ended none beside others, was too slow.
    if (goal.aim == qos::Aim::latency && goal.p99)
        return job.times.p99 ? *job.times.p99 <= goal.p99 : !job.alone_times.p99;
    return true;
}

std::optional<std::int64_t> number_of(const qos::Goal &goal, const JobResult &job) {
    if (goal.aim == qos::Aim::share)
        return least_got(job);
    if (goal.is_marked())
        return goal.ttft.most > 0 ? job.engine->goal_ttft : job.engine->goal_tpot;
    if (goal.aim == qos::Aim::latency)
        return job.times.p99;
    return goal.cap ? job.most_in_a_second : std::nullopt;
}

/// Judges each second of a share or a cap by itself, and counts the reasons that nvqos gives.
void judge_seconds(const qos::Goal &goal, const JobUse &use, JobResult &result) {
    // An engine's seconds differ from those alone in the requests that it has.
    if (result.engine || (goal.aim != qos::Aim::share && !goal.cap))
        return;
    std::vector<bool> kept;
    std::vector<std::optional<qos::WhyNot>> why_not;
    for (std::size_t rank = 0; rank < use.ranks.size(); rank++) {
        const std::vector<Ns> got = use.ranks[rank].in_seconds();
        const auto reasons = use.ranks[rank].reasons_in_seconds();
        kept.resize(got.size(), true);
        why_not.resize(got.size());
        for (std::size_t n = 0; n < got.size(); n++) {
            const Part part = part_of(got[n], qos::second);
            if (!why_not[n])
                why_not[n] = reasons[n];
            if (goal.aim == qos::Aim::share && !has_share(goal, part, result.gpus[rank].got_alone))
                kept[n] = false;
            if (goal.cap && part > *goal.cap + tolerance)
                kept[n] = false;
        }
    }
    result.seconds = kept.size();
    result.seconds_kept = static_cast<std::size_t>(std::ranges::count(kept, true));
    for (const auto &why : why_not)
        if (why)
            result.why_not[static_cast<std::size_t>(*why)]++;
}

constexpr std::int64_t attained_percent = 125; ///< of the time alone

/// Returns whether a request was no slower than 1.25 times alone, in both of its times.
bool is_attained(const ServedRequest &one, const ServedRequest &alone) {
    const auto is_near = [](Ns time, Ns time_alone) {
        return 100 * time <= attained_percent * time_alone;
    };
    return is_near(one.to_first(), alone.to_first()) &&
           (one.tokens < 2 || is_near(one.per_token(), alone.per_token()));
}

using RequestTime = Ns (ServedRequest::*)() const;

/// Returns a time of each request with so many tokens or more, sorted.
std::vector<Ns> all_times(const std::vector<ServedRequest> &requests, RequestTime time,
                          std::int64_t least_tokens) {
    std::vector<Ns> times;
    for (const ServedRequest &one : requests)
        if (one.tokens >= least_tokens)
            times.push_back((one.*time)());
    std::ranges::sort(times);
    return times;
}

Times times_of_requests(const std::vector<ServedRequest> &requests, RequestTime time,
                        std::int64_t least_tokens) {
    return times_of(all_times(requests, time, least_tokens));
}

Times times_of_gaps(const std::vector<ServedRequest> &requests) {
    std::vector<Ns> times;
    for (const ServedRequest &one : requests)
        times.insert(times.end(), one.gaps.begin(), one.gaps.end());
    return times_of(std::move(times));
}

/// Returns the part of the time with requests that an engine had its GPU.
std::optional<Part> of_serving(const JobUse &use) {
    return use.serving > 0 ? std::optional(part_of(use.ranks.front().used(), use.serving))
                           : std::nullopt;
}

EngineResult judge_engine(const qos::Goal &goal, const JobUse &use, const JobUse &use_alone) {
    const auto &seen = use.requests, &alone = use_alone.requests;
    EngineResult result{
        .to_first = times_of_requests(seen, &ServedRequest::to_first, 1),
        .alone_to_first = times_of_requests(alone, &ServedRequest::to_first, 1),
        .per_token = times_of_requests(seen, &ServedRequest::per_token, 2),
        .alone_per_token = times_of_requests(alone, &ServedRequest::per_token, 2),
        .gaps = times_of_gaps(seen),
        .alone_gaps = times_of_gaps(alone),
        .got_of_serving = of_serving(use),
        .alone_got_of_serving = of_serving(use_alone),
    };
    if (goal.ttft.most > 0)
        result.goal_ttft =
            percentile(all_times(seen, &ServedRequest::to_first, 1), goal.ttft.percent);
    if (goal.tpot.most > 0)
        result.goal_tpot =
            percentile(all_times(seen, &ServedRequest::per_token, 2), goal.tpot.percent);
    std::map<std::size_t, const ServedRequest *> by_number;
    for (const ServedRequest &one : seen)
        by_number[one.number] = &one;
    // A request that ended alone, and not beside the others, was not attained.
    for (const ServedRequest &one : alone) {
        const auto same = by_number.find(one.number);
        result.compared++;
        result.attained += same != by_number.end() && is_attained(*same->second, one);
    }
    return result;
}

/// Returns whether another job on a GPU of the job is an engine.
bool is_beside_engine(const Scenario &scenario, std::size_t job) {
    for (std::size_t other = 0; other < scenario.jobs.size(); other++)
        if (other != job && scenario.jobs[other].engine &&
            std::ranges::any_of(scenario.jobs[other].gpus, [&](std::size_t gpu) {
                return std::ranges::count(scenario.jobs[job].gpus, gpu) > 0;
            }))
            return true;
    return false;
}

JobResult judge(const Scenario &scenario, std::size_t number, const Measures &seen,
                const Measures &seen_alone) {
    const Job &job = scenario.jobs[number];
    const JobUse &use = seen.jobs[number], &use_alone = seen_alone.jobs.front();
    const Ns length = seen.length(), length_alone = seen_alone.length();
    JobResult result;
    result.name = job.name;
    result.goal = job.goal_text;
    Ns used = 0;
    for (std::size_t rank = 0; rank < job.ranks(); rank++) {
        const RankUse &one = use.ranks[rank];
        result.gpus.push_back({job.gpus[rank], part_of(one.used(), length),
                               part_of(use_alone.ranks[rank].used(), length_alone), one.turns()});
        used += one.used();
        if (const auto most = one.most_in_a_second())
            result.most_in_a_second =
                std::max(result.most_in_a_second.value_or(0), part_of(*most, qos::second));
    }
    const auto ranks = static_cast<std::int64_t>(job.ranks());
    result.got = part_of(used, length * ranks);
    if (ranks > 1 && used > 0)
        result.together = part_of(use.together * ranks, used);
    result.per_s = per_second(use.passes, length);
    result.alone_per_s = per_second(use_alone.passes, length_alone);
    std::optional<Part> speed_with_one_more;
    if (use_alone.passes > 0) {
        result.speed = speed_of(use.passes, length, use_alone, length_alone);
        speed_with_one_more = speed_of(use.passes + 1, length, use_alone, length_alone);
    }
    result.times = times_of(use.times);
    result.alone_times = times_of(use_alone.times);
    if (job.engine)
        result.engine = judge_engine(job.goal, use, use_alone);
    if (is_beside_engine(scenario, number) && use.free > 0)
        result.got_while_free = part_of(use.used_while_free, use.free);
    result.number = number_of(job.goal, result);
    result.has_latency = job.goal.aim == qos::Aim::latency;
    const bool has_progress = has_progress_of_share(job, speed_with_one_more, result);
    if (scenario.has_control && !use.was_killed)
        result.kept = is_kept(job.goal, result) && has_progress;
    if (result.kept && has_progress)
        judge_seconds(job.goal, use, result);
    return result;
}

/// Adds whether and why the job had windows.
void add_windows(const Scenario &scenario, const Gangs &gangs, std::size_t job, JobResult &result) {
    const Ns time = gangs.time_in_windows(job, scenario.warmup, scenario.duration);
    result.gang = scenario.jobs[job].ranks() > 1 && scenario.jobs[job].gang &&
                  2 * time >= scenario.measured();
    result.gang_why = gangs.why(job);
}

} // namespace

bool Result::all_kept() const {
    return std::ranges::none_of(jobs, [](const JobResult &job) { return job.kept == false; });
}

Result simulate(const Scenario &scenario, Observer *observer) {
    Governed governed(scenario);
    ClockWindows by_clock(scenario);
    const bool is_governed = scenario.has_control && scenario.gpus.nodes == 1;
    Controller *const controller = is_governed            ? static_cast<Controller *>(&governed)
                                   : scenario.has_control ? &by_clock
                                                          : nullptr;
    Measures seen = Machine(scenario, controller, observer).run();
    if (is_governed)
        governed.add_verdicts(seen);
    const auto seen_alone = run_alone(scenario);
    Result result;
    result.model = scenario.gpus.model;
    std::vector<Ns> busy(scenario.gpus.count);
    for (std::size_t n = 0; n < scenario.jobs.size(); n++) {
        result.jobs.push_back(judge(scenario, n, seen, *seen_alone[n]));
        JobResult &job = result.jobs.back();
        if (is_governed) {
            add_windows(scenario, governed.gangs(), n, job);
        } else if (scenario.has_control) {
            job.gang = job.gpus.size() > 1 && scenario.jobs[n].gang && by_clock.has_windows(n);
            job.gang_why = by_clock.why(n);
        }
        for (std::size_t rank = 0; rank < scenario.jobs[n].ranks(); rank++)
            busy[scenario.jobs[n].gpus[rank]] += seen.jobs[n].ranks[rank].used();
    }
    for (const Ns one : busy)
        result.busy.push_back(part_of(one, seen.length()));
    result.requests_per_s = per_second(seen.requests, scenario.duration);
    return result;
}

} // namespace simulation
