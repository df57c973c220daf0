// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A scenario: GPUs of one machine or of several, the jobs on them, and what happens
/// meanwhile. The fields are explained in docs/simulate.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/qos/goal.hpp"

namespace simulation {

using qos::Ns;
using qos::Part;

struct GpuModel;

/// The GPUs and NVIDIA's driver. The defaults were measured on an H100 with driver 580.159.04
/// (docs/simulate.md), but for `resume`, which was fitted: with it, loops that take turns have the
/// speeds that were measured.
struct Gpus {
    std::size_t count = 1;
    std::int64_t timeslice_us = 2000; ///< of each TSG at the start, in the driver's microseconds
    Ns timeslice_unit = 1024;         ///< the driver's microsecond, in ns
    Ns switching = 80 * qos::us;      ///< from the end of a turn to the next one
    Ns late = 123 * qos::us;          ///< from the end of a timeslice to the end of the turn
    Ns resume = 62 * qos::us;         ///< at the start of a turn of a TSG that was interrupted
    Ns request = 750 * qos::us;       ///< a timeslice or a pause of one TSG
    /// While no other TSG has work, a timeslice that is over is followed by the next one.
    bool slices_follow = false;
    Part kernel_jitter = 0;          ///< standard deviation of kernels' times
    const GpuModel *model = nullptr; ///< if the scenario names one
    /// The machines of the GPUs. Each has as many, in the order of their numbers, and a driver and a
    /// clock of its own.
    std::size_t nodes = 1;
    Ns skew = 0; ///< by which the clocks of two nodes differ at most

    std::size_t node_of(std::size_t gpu) const { return gpu / (count / nodes); }
};

/// One step of a program. Programs are flat: what a scenario repeats stands there that often.
struct Item {
    enum class Kind { kernel, collective, join, think } kind;
    Ns time = 0;             ///< on the GPU; with Kind::think, of the CPU
    Ns launch = 0;           ///< of the CPU, for a kernel or a collective
    std::int64_t rounds = 0; ///< of a collective; 0: it progresses only while all ranks run
    bool overlap = false;    ///< of a collective: later items run beside it
    bool operator==(const Item &) const = default;
};
using Program = std::vector<Item>;

/// What an LLM engine does (engine.hpp). Coefficients of variation are parts, as Part::whole is 1.
struct EngineLoad {
    Ns prefill = 0; ///< the kernel for a request's first token
    Part prefill_variation = 0;
    Ns decode = 0, decode_each = 0; ///< the kernel of a step: so much, and for each request more
    Ns pause = 0;                   ///< of the CPU, before each step
    std::int64_t tokens = 1;        ///< of a request
    Part tokens_variation = 0;
    std::size_t batch = 32; ///< requests at once, at most
    bool marks = false;     ///< it marks that it becomes busy, and that it becomes idle
};

struct Job {
    std::string name;
    std::vector<std::size_t> gpus;    ///< by rank
    std::vector<Program> programs;    ///< the first is that of all ranks without one of their own
    std::vector<std::size_t> of_rank; ///< by rank: the place of its program in Job::programs
    qos::Goal goal = {};
    std::string goal_text = "best-effort"; ///< as it was given
    bool gang = true;
    Ns mean_gap = 0; ///< between arrivals of requests; 0: a pass follows the one before it
    Part gap_variation = qos::whole; ///< coefficient of variation of the times between arrivals
    /// It is an LLM engine. Its program is then a step that decodes for one request.
    std::optional<EngineLoad> engine = {};
    Ns start = 0;
    /// The timeslice of its TSGs at the start, in the driver's microseconds; empty:
    /// Gpus::timeslice_us.
    std::optional<std::int64_t> timeslice_us = {};
    Part cpu_jitter = 2 * qos::point; ///< standard deviation of the CPU's times

    std::size_t ranks() const { return gpus.size(); }
    const Program &program(std::size_t rank) const { return programs[of_rank[rank]]; }
};

/// A process is killed.
struct Kill {
    Ns at;
    std::size_t job, rank;
};

struct Scenario {
    std::string name;
    std::uint64_t seed = 1;
    Ns duration = 10 * qos::second, warmup = 3 * qos::second;
    bool has_control = true; ///< goals are kept; else nothing is changed
    Gpus gpus;
    std::vector<Job> jobs;
    std::vector<Kill> kills;

    Ns measured() const { return duration - warmup; }
};

} // namespace simulation
