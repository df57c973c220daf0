// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What a scenario comes to: the numbers of docs/simulate.md, as JSON and as a table.
#pragma once

#include <array>
#include <optional>

#include "measures.hpp"
#include "observer.hpp"
#include "scenario.hpp"

namespace simulation {

/// Times of requests.
struct Times {
    std::int64_t count = 0;
    std::optional<Ns> p50, p99; ///< empty: there is none
};

/// Requests of an engine that came and ended in the measured time, with and without the other jobs.
struct EngineResult {
    /// From arrival to the first token, the mean of a request's later tokens, and each gap between
    /// two tokens.
    Times to_first, alone_to_first, per_token, alone_per_token, gaps, alone_gaps;
    /// The parts of the time with requests that it had its GPU; empty: it had none.
    std::optional<Part> got_of_serving, alone_got_of_serving;
    /// The percentiles of the goals; empty: there is no such goal, or no request.
    std::optional<Ns> goal_ttft = {}, goal_tpot = {};
    std::int64_t compared = 0; ///< requests that ended alone, too
    /// Those of them of which neither the time to the first token nor the time per token was longer
    /// than 1.25 times that of the same request alone.
    std::int64_t attained = 0;
};

struct JobResult {
    struct OnGpu {
        std::size_t gpu;
        Part got, got_alone;
        std::int64_t turns;
    };
    std::string name, goal;
    bool gang = false;    ///< it had windows for at least half of the measured time
    std::string gang_why; ///< why it has windows or none; empty: there is no reason to show
    std::vector<OnGpu> gpus;
    Part got = 0;
    std::optional<Part> most_in_a_second;
    Part per_s = 0, alone_per_s = 0; ///< in millionths
    std::optional<Part> speed, together;
    Times times, alone_times;
    /// What was compared: a part, or a time if the goal is a latency.
    std::optional<std::int64_t> number;
    std::optional<bool> kept;
    bool has_latency = false;
    std::optional<EngineResult> engine; ///< of an engine
    /// The part of the time in which no engine on its GPU had a request that the job had its GPU;
    /// empty: no other job on it is an engine, or engines always had requests.
    std::optional<Part> got_while_free;
    /// Whole seconds that are measured, and those of them in which a share or a cap was kept on
    /// each GPU; 0 for other goals.
    std::size_t seconds = 0, seconds_kept = 0;
    /// How many of these seconds have a reason of nvqos, on any GPU, by qos::WhyNot. If a second has
    /// different ones, the first GPU's counts.
    std::array<std::size_t, qos::reasons.size()> why_not = {};
};

struct Result {
    std::optional<std::string> refused; ///< then the rest is empty, but for the model
    const GpuModel *model = nullptr;    ///< that the scenario names
    std::vector<JobResult> jobs;
    std::vector<Part> busy;  ///< by GPU
    Part requests_per_s = 0; ///< in millionths

    bool all_kept() const;
};

/// Runs the scenario, and its jobs alone and without goals. Jobs that differ only in their names,
/// goals and GPUs share such a run, unless they have arrivals of requests.
/// @param observer sees the scenario's run, and not those of the jobs alone; may be null
Result simulate(const Scenario &scenario, Observer *observer = nullptr);

/// Returns the result as one line of JSON.
std::string json_of(const Result &result);

/// Returns the result as a table that is at most 80 columns wide.
std::string table_of(const Scenario &scenario, const Result &result);

} // namespace simulation
