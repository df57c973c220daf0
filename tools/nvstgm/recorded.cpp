// SPDX-License-Identifier: MIT OR GPL-2.0
#include "recorded.hpp"

#include <fmt/format.h>

#include "check.hpp"
#include "lib/base/words.hpp"
#include "lib/recording/file.hpp"
#include "lib/simulation/watched.hpp"

namespace nvstgm {
namespace {

using simulation::Burst;
using simulation::Ns;
using simulation::TaskBursts;
using stgm::Time;

constexpr Time one_us = 1000; ///< in ns
constexpr std::size_t least_jobs = 3;
/// A task that had the GPU for more than this part of the record while no other task wanted it
/// gets a note, because it may have had no work then.
constexpr double worth_a_note = 0.1;

/// A job with a known begin and a known end.
struct SeenJob {
    Ns begin;
    std::vector<Ns> work;
    std::vector<Ns> pauses; ///< after each burst but the last
};

/// Returns the jobs that were seen whole: from the end of a long pause to the begin of the next.
std::vector<SeenJob> jobs_of(const std::vector<Burst> &bursts, Ns job_pause) {
    std::vector<SeenJob> jobs;
    std::optional<SeenJob> job;
    for (std::size_t n = 0; n < bursts.size(); n++) {
        const Burst &burst = bursts[n];
        const bool follows = n > 0 && burst.follows;
        if (!follows)
            job.reset();
        else if (bursts[n - 1].pause >= job_pause)
            job = SeenJob{burst.begin, {}, {}};
        else if (job)
            job->pauses.push_back(bursts[n - 1].pause);
        if (!job)
            continue;
        job->work.push_back(burst.work);
        if (burst.pause >= job_pause)
            jobs.push_back(*std::exchange(job, std::nullopt));
    }
    return jobs;
}

/// Returns the shortest and the median time between the begins of two jobs.
std::pair<Ns, Ns> periods_of(const std::vector<SeenJob> &jobs) {
    std::vector<Ns> between;
    for (std::size_t n = 1; n < jobs.size(); n++)
        between.push_back(jobs[n].begin - jobs[n - 1].begin);
    std::ranges::sort(between);
    return {between.front(), between[between.size() / 2]};
}

/// Returns the longest time of each place in a job, in us with the margin.
std::vector<Time> longest(const std::vector<SeenJob> &jobs, std::vector<Ns> SeenJob::*times,
                          std::int64_t margin) {
    std::vector<Time> found;
    for (const SeenJob &job : jobs)
        for (std::size_t n = 0; n < (job.*times).size(); n++) {
            found.resize(std::max(found.size(), n + 1));
            found[n] = std::max(found[n], Time{(job.*times)[n]});
        }
    for (Time &time : found)
        time = stgm::divide_up(stgm::multiply(time, 100 + margin), 100 * one_us);
    return found;
}

std::vector<stgm::Segment> segments_of(const std::vector<Time> &work,
                                       const std::vector<Time> &pauses,
                                       const RecordingRules &rules) {
    std::vector<stgm::Segment> segments;
    for (std::size_t n = 0; n < work.size(); n++) {
        if (n)
            segments.push_back({.cpu = pauses[n - 1]});
        segments.push_back({.gpu = true,
                            .to_device = rules.to_device,
                            .from_device = rules.from_device,
                            .kernel = {work[n]}});
    }
    return segments;
}

/// Returns why a task with these jobs is no task of a set; empty: it is one.
std::string why_left_out(const TaskBursts &task, const std::vector<SeenJob> &jobs) {
    if (task.bursts.empty())
        return "had work all the time, so that it has no period";
    if (jobs.size() < least_jobs)
        return fmt::format("has {} from begin to end, and {} are needed: record for longer, or "
                           "give another --job-pause",
                           nvdebug::base::counted(jobs.size(), "job", "jobs"), least_jobs);
    std::size_t most = 0;
    for (const SeenJob &job : jobs)
        most = std::max(most, job.work.size());
    if (2 * most > stgm::limit::segments)
        return fmt::format("has a job of {} bursts: a shorter --job-pause divides it", most);
    return "";
}

class Maker {
  public:
    Maker(const simulation::Sighting &sighting, std::size_t place, const RecordingRules &rules)
        : names_(sighting.seen.tasks), gpu_(sighting.seen.gpus[place]), rules_(rules) {
        made.rows = Json::array();
        made.gpu = static_cast<std::uint32_t>(gpu_.index);
        made.seconds = qos::seconds(gpu_.end - gpu_.begin);
        made.notes = sighting.notes;
        made.set.time_unit = "us";
        made.set.sms = 1;
        constexpr Ns usual_timeslice = 2 * qos::ms; // of NVIDIA's driver
        for (const auto &[number, task] : bursts_of(gpu_, usual_timeslice).tasks)
            add(names_[number], task);
        made.set.cores = static_cast<std::uint32_t>(made.set.tasks.size());
    }

    RecordedSet made;
    std::vector<std::string> left_out; ///< the reasons

  private:
    void add(const std::string &name, const TaskBursts &task) {
        const std::vector<SeenJob> jobs = jobs_of(task.bursts, rules_.job_pause * one_us);
        if (const std::string why = why_left_out(task, jobs); !why.empty()) {
            left_out.push_back(printable(name) + " " + why);
            return;
        }
        const auto [period, usual] = periods_of(jobs);
        const auto work = longest(jobs, &SeenJob::work, rules_.margin),
                   pauses = longest(jobs, &SeenJob::pauses, rules_.margin);
        const auto part = [&](Ns time) {
            return static_cast<double>(time) / static_cast<double>(std::max<Ns>(gpu_.known(), 1));
        };
        if (part(task.unasked) > worth_a_note)
            made.notes.push_back(fmt::format(
                "{} had the GPU for {:.1f} % of the time while no other task wanted it: whether it "
                "had work then does not show, and it counts as work",
                printable(name), 100 * part(task.unasked)));
        if (task.bound > 0)
            made.notes.push_back(fmt::format(
                "{} has pauses of which only a bound is known, about {} us: its period and its "
                "jobs are as uncertain",
                printable(name), task.bound / one_us));
        Time sum = 0;
        for (const Time one : work)
            sum += one;
        stgm::Task one{.name = name, .period = period / one_us, .deadline = period / one_us};
        one.segments = segments_of(work, pauses, rules_);
        one.core = static_cast<std::uint32_t>(made.set.tasks.size());
        one.sms = std::vector<std::uint32_t>{0};
        made.rows.push_back({{"name", name},
                             {"jobs", jobs.size()},
                             {"period", one.period},
                             {"usual", usual / one_us},
                             {"gpu_segments", work.size()},
                             {"kernels", sum},
                             {"percent", rounded(100 * part(task.held))}});
        made.set.tasks.push_back(std::move(one));
    }

    const std::vector<std::string> &names_;
    const simulation::SeenGpu &gpu_;
    const RecordingRules &rules_;
};

/// Returns the place of the GPU that the rules name, or of the only one.
Outcome<std::size_t> chosen_gpu(const std::vector<simulation::SeenGpu> &gpus,
                                const RecordingRules &rules) {
    std::string all;
    for (std::size_t n = 0; n < gpus.size(); n++) {
        if (rules.gpu == std::to_string(gpus[n].index) || (rules.gpu.empty() && gpus.size() == 1))
            return n;
        all += (n ? ", " : "") + std::to_string(gpus[n].index);
    }
    return fail(rules.gpu.empty()
                    ? fmt::format("it has the GPUs {}; name one with --gpu", all)
                    : fmt::format("two tasks or more had turns on the GPUs {} alone, not on {}",
                                  all, nvdebug::base::quote(rules.gpu)));
}

} // namespace

Answer<RecordedSet> set_of_recording(const std::string &path, const RecordingRules &rules) {
    simulation::Watched watched;
    recording::RecordedFile file;
    const auto whole = file.replay(path, watched);
    if (!whole)
        return fail(nvdebug::base::exit_status::of_file(whole.error().number),
                    whole.error().sentence);
    const std::string name = path == "-" ? "standard input" : printable(path);
    const std::string cut = name + " is incomplete: its end was cut off";
    auto sighting = watched.sighting(name);
    if (!sighting)
        return fail(sighting.error() + (*whole ? "" : "; " + cut));
    if (!*whole)
        sighting->notes.push_back(cut);
    const auto place = chosen_gpu(sighting->seen.gpus, rules);
    if (!place)
        return fail(name + ": " + place.error());
    Maker maker(*sighting, *place, rules);
    RecordedSet &made = maker.made;
    made.source = name;
    std::string reasons;
    for (const std::string &one : maker.left_out)
        reasons += "; " + one;
    if (made.set.tasks.empty())
        return fail(name + " shows no task with a period" + reasons);
    for (const std::string &one : maker.left_out)
        made.notes.push_back(one + "; the set is without it, and no bound counts its work");
    return std::move(made);
}

} // namespace nvstgm
