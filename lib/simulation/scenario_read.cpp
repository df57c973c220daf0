// SPDX-License-Identifier: MIT OR GPL-2.0
#include "scenario_read.hpp"

#include <algorithm>

#include "lib/base/quantity.hpp"
#include "lib/base/strict_json.hpp"
#include "models.hpp"
#include "program.hpp"

namespace simulation {
namespace {

using nvdebug::base::in_quotes;
using nvdebug::base::Place;
using nvdebug::base::wrong;

constexpr std::size_t nesting = 32, most_jobs = 40, most_gpus = 16, most_nodes = 4,
                      most_events = 10'000, longest_name = 200;
constexpr std::int64_t longest_timeslice_us = 1'000'000'000;

std::size_t index_of(const Place &place, std::int64_t most) {
    return static_cast<std::size_t>(place.number(0, most));
}

/// Reads the name of a model, which has its constants.
void read_model(const Place &place, Gpus &gpus) {
    const std::string name = place.text();
    const auto model = std::ranges::find(models(), name, &GpuModel::name);
    if (model == models().end()) {
        std::string known;
        for (const GpuModel &one : models())
            known += (known.empty() ? "" : ", ") + std::string(one.name);
        wrong(place.where(), "no model is called " + in_quotes(name) + "; those that are known: " +
                                 known + ". Without a model, give the constants themselves");
    }
    gpus = model->gpus;
    gpus.model = &*model;
}

bool is_true(const Place &place) {
    if (!place.value.is_boolean())
        wrong(place.where(), "is neither true nor false");
    return place.value.get<bool>();
}

void read_gpus(const Place &place, Gpus &gpus) {
    place.expect_object({"count", "model", "timeslice_us", "timeslice_unit_ns", "switch_us",
                         "late_us", "resume_us", "request_us", "timeslices_follow", "kernel_jitter",
                         "nodes", "skew_us"});
    const auto time = [&](const char *key, Ns &to) {
        if (place.has(key))
            to = read_time(place.at(key), qos::us);
    };
    if (place.has("model"))
        read_model(place.at("model"), gpus);
    if (place.has("nodes"))
        gpus.nodes = static_cast<std::size_t>(place.at("nodes").number(1, most_nodes));
    const auto most = static_cast<std::int64_t>(most_gpus * gpus.nodes);
    gpus.count = static_cast<std::size_t>(place.at("count").number(1, most));
    if (gpus.count % gpus.nodes)
        wrong(place.at("nodes").where(),
              std::to_string(gpus.count) + " GPUs cannot be divided evenly among so many nodes");
    constexpr std::int64_t longest_unit = 1'000'000;
    if (place.has("timeslice_us"))
        gpus.timeslice_us = place.at("timeslice_us").number(1, longest_timeslice_us);
    if (place.has("timeslice_unit_ns"))
        gpus.timeslice_unit = place.at("timeslice_unit_ns").number(1, longest_unit);
    time("switch_us", gpus.switching);
    time("late_us", gpus.late);
    time("resume_us", gpus.resume);
    time("request_us", gpus.request);
    time("skew_us", gpus.skew);
    if (place.has("timeslices_follow"))
        gpus.slices_follow = is_true(place.at("timeslices_follow"));
    if (place.has("kernel_jitter"))
        gpus.kernel_jitter = read_jitter(place.at("kernel_jitter"));
}

/// Reads the GPUs of a job's ranks.
std::vector<std::size_t> read_ranks(const Place &place, const Gpus &gpus) {
    std::vector<std::size_t> ranks;
    for (const Place &item : place.items(most_gpus * gpus.nodes)) {
        ranks.push_back(index_of(item, static_cast<std::int64_t>(gpus.count) - 1));
        if (std::ranges::count(ranks, ranks.back()) > 1)
            wrong(item.where(), "GPU " + std::to_string(ranks.back()) + " is there twice");
    }
    if (ranks.empty())
        wrong(place.where(), "is empty");
    return ranks;
}

void read_rank_programs(const Place &place, Job &job, const Collected &expected) {
    if (!place.value.is_object())
        wrong(place.where(), "is not an object");
    for (const auto &[key, value] : place.value.items()) {
        const Place program{value, place.path + "." + key};
        const auto rank =
            nvdebug::base::parse_whole(key, 0, static_cast<std::int64_t>(job.ranks()) - 1);
        if (!rank || std::to_string(*rank) != key)
            wrong(place.where(), in_quotes(key) + " is no rank: there are 0 to " +
                                     std::to_string(job.ranks() - 1));
        Collected collected;
        job.of_rank[static_cast<std::size_t>(*rank)] = job.programs.size();
        job.programs.push_back(read_program(program, job.ranks(), collected));
        check_same(program, collected, expected);
    }
}

/// Fails if the passes of a program could follow each other without end at one moment.
void check_length(const Place &place, const Job &job) {
    for (const Program &program : job.programs) {
        Ns length = 0;
        for (const Item &item : program)
            length += std::min<Ns>(item.time + item.launch, qos::us);
        if (length < qos::us && job.mean_gap == 0)
            wrong(place.where(), "a pass takes less than 1 us, so that no end of them comes");
    }
}

void read_goal_of(const Place &place, const ReadGoal &read_goal, Job &job) {
    job.goal_text = place.text();
    const auto goal = read_goal(job.goal_text);
    if (!goal)
        wrong(place.where(), goal.error());
    if (goal->aim == qos::Aim::speed)
        wrong(place.where(), "speed is not simulated; those that are: share:N%, cap:N%, "
                             "latency[:TIME], ttft:TIME, tpot:TIME, best-effort[:WEIGHT] and "
                             "timeslice:TIME");
    if (goal->is_marked() && !job.engine)
        wrong(place.where(), "ttft and tpot are goals of an 'engine', and the job has a 'program'");
    job.goal = *goal;
}

std::string read_name(const Place &place) {
    std::string name = place.text();
    if (name.empty() || name.size() > longest_name)
        wrong(place.where(), "a name has 1 to " + std::to_string(longest_name) + " bytes");
    return name;
}

/// Reads a coefficient of variation of 0 or 0.05 to 10.
Part read_variation(const Place &place) {
    constexpr Ns thousandth = 1000;
    const Part variation = read_time(place, qos::whole);
    if (variation > 10 * qos::whole || (variation > 0 && variation < 50 * thousandth))
        wrong(place.where(), "is neither 0 nor from 0.05 to 10");
    return variation;
}

/// Reads the load of an engine, which has a step in place of a program. On several GPUs its kernel
/// progresses only while all ranks have theirs, as layers are split among them.
void read_engine(const Place &place, Job &job) {
    place.expect_object({"prefill_us", "prefill_cv", "decode_us", "decode_each_us", "pause_us",
                         "tokens", "tokens_cv", "batch", "marks"});
    if (job.mean_gap == 0)
        wrong(place.where(), "an engine needs 'arrivals'");
    constexpr std::int64_t most_tokens = 1'000'000, most_batch = 10'000;
    const auto time = [&](const char *key, Ns usual) {
        return place.has(key) ? read_time(place.at(key), qos::us) : usual;
    };
    const auto variation = [&](const char *key) {
        return place.has(key) ? read_variation(place.at(key)) : Part{0};
    };
    EngineLoad load{.prefill = read_time(place.at("prefill_us"), qos::us),
                    .prefill_variation = variation("prefill_cv"),
                    .decode = read_time(place.at("decode_us"), qos::us),
                    .decode_each = time("decode_each_us", 0),
                    .pause = time("pause_us", 500 * qos::us),
                    .tokens = place.at("tokens").number(1, most_tokens),
                    .tokens_variation = variation("tokens_cv"),
                    .marks = place.has("marks") && is_true(place.at("marks"))};
    if (place.has("batch"))
        load.batch = static_cast<std::size_t>(place.at("batch").number(1, most_batch));
    if (load.pause + std::min(load.prefill, load.decode) < qos::us)
        wrong(place.where(), "a step takes less than 1 us");
    job.programs = {{Item{.kind = Item::Kind::think, .time = load.pause},
                     Item{.kind = job.ranks() > 1 ? Item::Kind::collective : Item::Kind::kernel,
                          .time = load.decode + load.decode_each}}};
    job.engine = load;
}

void read_arrivals(const Place &place, Job &job) {
    place.expect_object({"mean_ms", "cv"});
    const Place mean = place.at("mean_ms");
    job.mean_gap = read_time(mean, qos::ms);
    if (job.mean_gap < qos::us)
        wrong(mean.where(), "is less than 0.001");
    if (place.has("cv"))
        job.gap_variation = read_variation(place.at("cv"));
}

Job read_job(const Place &place, const Gpus &gpus, const ReadGoal &read_goal) {
    place.expect_object({"name", "gpus", "program", "rank_programs", "goal", "gang", "arrivals",
                         "start_ms", "timeslice_us", "cpu_jitter", "engine"});
    Job job;
    job.name = read_name(place.at("name"));
    job.gpus = read_ranks(place.at("gpus"), gpus);
    job.of_rank.assign(job.ranks(), 0);
    if (place.has("arrivals"))
        read_arrivals(place.at("arrivals"), job);
    if (place.has("engine")) {
        for (const char *other : {"program", "rank_programs"})
            if (place.has(other))
                wrong(place.at(other).where(), "an engine has no program");
        read_engine(place.at("engine"), job);
    } else {
        Collected collected;
        job.programs.push_back(read_program(place.at("program"), job.ranks(), collected));
        if (place.has("rank_programs"))
            read_rank_programs(place.at("rank_programs"), job, collected);
        check_length(place.at("program"), job);
    }
    if (place.has("goal"))
        read_goal_of(place.at("goal"), read_goal, job);
    if (place.has("gang"))
        job.gang = is_true(place.at("gang"));
    if (place.has("start_ms"))
        job.start = read_time(place.at("start_ms"), qos::ms);
    if (place.has("timeslice_us"))
        job.timeslice_us = place.at("timeslice_us").number(1, longest_timeslice_us);
    if (place.has("cpu_jitter"))
        job.cpu_jitter = read_jitter(place.at("cpu_jitter"));
    return job;
}

Kill read_event(const Place &place, const std::vector<Job> &jobs) {
    place.expect_object({"at_ms", "kill", "rank"});
    const std::string name = place.at("kill").text();
    const auto job = std::ranges::find(jobs, name, &Job::name);
    if (job == jobs.end())
        wrong(place.at("kill").where(), "no job is called " + in_quotes(name));
    return {read_time(place.at("at_ms"), qos::ms), static_cast<std::size_t>(job - jobs.begin()),
            place.has("rank")
                ? index_of(place.at("rank"), static_cast<std::int64_t>(job->ranks()) - 1)
                : 0};
}

void read_times(const Place &place, Scenario &scenario) {
    constexpr Ns longest = 600 * qos::second;
    if (place.has("duration_ms"))
        scenario.duration = read_time(place.at("duration_ms"), qos::ms);
    if (scenario.duration < qos::ms || scenario.duration > longest)
        wrong("duration_ms", "is not from 1 to 600000");
    if (place.has("warmup_ms"))
        scenario.warmup = read_time(place.at("warmup_ms"), qos::ms);
    if (scenario.warmup >= scenario.duration)
        wrong("warmup_ms", "is not below duration_ms (the default is 3000)");
}

Scenario read_whole(const Place &place, const ReadGoal &read_goal) {
    place.expect_object({"version", "name", "seed", "duration_ms", "warmup_ms", "control", "gpus",
                         "jobs", "events"});
    static_cast<void>(place.at("version").number(1, 1));
    Scenario scenario;
    if (place.has("name"))
        scenario.name = place.at("name").text();
    if (place.has("seed"))
        scenario.seed =
            static_cast<std::uint64_t>(place.at("seed").number(0, std::int64_t{1} << 53));
    read_times(place, scenario);
    if (place.has("control")) {
        const Place control = place.at("control");
        const std::string word = control.text();
        if (word != "goals" && word != "none")
            wrong(control.where(), in_quotes(word) + " is neither 'goals' nor 'none'");
        scenario.has_control = word == "goals";
    }
    read_gpus(place.at("gpus"), scenario.gpus);
    for (const Place &item : place.at("jobs").items(most_jobs)) {
        Job job = read_job(item, scenario.gpus, read_goal);
        if (std::ranges::find(scenario.jobs, job.name, &Job::name) != scenario.jobs.end())
            wrong(item.at("name").where(), "another job is called " + in_quotes(job.name));
        scenario.jobs.push_back(std::move(job));
    }
    if (scenario.jobs.empty())
        wrong("jobs", "is empty");
    if (place.has("events"))
        for (const Place &item : place.at("events").items(most_events))
            scenario.kills.push_back(read_event(item, scenario.jobs));
    return scenario;
}

} // namespace

tl::expected<Scenario, std::string> read_scenario(std::string_view text,
                                                  const ReadGoal &read_goal) {
    try {
        const auto parsed =
            nvdebug::base::document(text, {.bytes = largest_scenario, .nesting = nesting});
        return read_whole({parsed, ""}, read_goal);
    } catch (const nvdebug::base::Wrong &error) {
        return tl::unexpected(error.sentence);
    }
}

} // namespace simulation
