// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Jobs on several GPUs: which processes are one job, and how much of its time all of its GPUs
/// run it at once.
///
/// A job is a process that has turns on several GPUs, or processes that belong together and have each
/// GPUs of their own, as the ranks that torchrun starts. A job with collectives makes progress only
/// while all of its GPUs run it. *Together* is the part of its time on its GPUs in which they do.
///
/// Each GPU has a clock of its own, which drifts: by 20 us in a second on an H100, and by 9 us on an
/// H200 (the recordings in tests/hardware). So turns of several GPUs are compared by CLOCK_MONOTONIC,
/// into which readings of both clocks convert them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "nvdebug/error.hpp"
#include "nvdebug/export.hpp"
#include "nvdebug/owner.hpp"
#include "nvdebug/switches.hpp"
#include "nvdebug/turns.hpp"

namespace nvdebug {

/// A moment by two clocks.
struct ClockReadings {
    std::uint64_t gpu_ns, monotonic_ns;
    std::uint64_t within_ns; ///< both were read within so much time on either side of the moment
};
/// Reads a GPU's clock and CLOCK_MONOTONIC, five times, and returns the closest readings.
NVDEBUG_API Result<ClockReadings> read_clocks(SwitchReader &reader);

/// Converts times of a GPU's clock into CLOCK_MONOTONIC, by readings of both clocks. Between two
/// readings both clocks are taken to go evenly. Before the first and after the last one they are taken
/// to go alike.
class NVDEBUG_API ClockMap {
  public:
    /// Adds a reading, unless the clocks have not gone on since the previous one.
    void add(std::uint64_t gpu_ns, std::uint64_t monotonic_ns);
    /// Removes the readings that times from @p gpu_ns on do not need.
    void forget_before(std::uint64_t gpu_ns);
    /// Returns the time by CLOCK_MONOTONIC; empty: there is no reading.
    std::optional<std::uint64_t> monotonic_ns(std::uint64_t gpu_ns) const;

  private:
    std::map<std::uint64_t, std::uint64_t> readings_; ///< CLOCK_MONOTONIC by the GPU's clock
};

/// How far times that ClockMap converts may be from the true ones.
struct ClockFit {
    std::uint64_t readings = 0;
    std::uint64_t within_ns = 0; ///< the widest ClockReadings::within_ns
    /// By how much CLOCK_MONOTONIC gains on the GPU's clock, in ns a second; empty: one reading.
    std::optional<double> drift_ns_per_s = {};
    /// How far the GPU's clock may leave the straight line between two readings; empty: there are
    /// no three readings at even distances, so the clock is taken to go evenly.
    std::optional<std::uint64_t> uneven_ns = {};

    /// Returns the bound of the error between the first and the last reading; empty: the drift is
    /// not known.
    std::optional<std::uint64_t> error_ns() const {
        if (!drift_ns_per_s)
            return std::nullopt;
        return within_ns + uneven_ns.value_or(0);
    }
};

/// Bounds the error of ClockMap from its readings, in constant memory.
///
/// A reading is wrong by up to its within_ns, so a time on the line between two readings is, too. To
/// this comes the bend of the clock between them. Each reading that stands in the middle of its
/// neighbours shows how far the clock has bent over both intervals. The bound takes the drift to
/// change steadily over such two intervals, and the errors of all three readings to hide as much of
/// the bend as they can.
class NVDEBUG_API ClockError {
  public:
    /// Adds a reading, under the same condition as ClockMap::add().
    void add(const ClockReadings &reading);
    ClockFit fit() const;

  private:
    void compare(const ClockReadings &before, const ClockReadings &middle,
                 const ClockReadings &after);

    std::optional<ClockReadings> first_, previous_, last_;
    std::uint64_t readings_ = 0, within_ns_ = 0, longest_ns_ = 0;
    std::optional<double> bend_; ///< the largest one, in ns for each square of a ns
};

/// A process that has turns on a GPU.
struct JobProcess {
    std::uint32_t gpu;
    Process process;
    bool operator==(const JobProcess &) const = default;
};

/// Returns the jobs on several GPUs, each as numbers of @p processes in rising order. A process with
/// several GPUs has a number for each. These rules need no configuration. Of processes that have each
/// GPUs of their own, the following are one job:
///
/// 1. Tasks of the same step of a Slurm job. The steps `batch`, `interactive` and `extern` are shells.
///    Their programs need not belong together, so they do not count.
/// 2. Processes in the same container. If their launchers (Process::launcher) are known and differ,
///    they are several jobs, as replicas of a service.
/// 3. Processes with the same launcher that were started within ten seconds, and the launcher itself
///    if it has turns on a GPU, too.
///
/// If processes share a GPU, the next rule decides. In doubt they are separate jobs. NVIDIA's MPS
/// server, under which the driver counts all of its clients, is no job.
NVDEBUG_API std::vector<std::vector<std::size_t>>
jobs_on_several_gpus(const std::vector<JobProcess> &processes);

/// A turn by a clock that all GPUs share.
struct JobTurn {
    std::uint64_t begin_ns, end_ns;
    bool whole = true; ///< Turn::whole
};

/// The sums of a job's turns.
class NVDEBUG_API JobTimes {
  public:
    /// Adds the turns of a time.
    /// @param ranks the turns on each GPU, in the order of time, which do not overlap
    void add(const std::vector<std::vector<JobTurn>> &ranks);

    /// Returns how long all GPUs ran the job at once.
    std::uint64_t together_ns() const { return together_ns_; }
    /// Returns *together*: that time, as a part of the mean time of the job on its GPUs, from 0 to 1;
    /// empty: it had no turn.
    std::optional<double> together() const;
    /// Returns how much later the job began on the last of its GPUs than on the first one, for each
    /// time that it began on all of them: one whole turn on each GPU, all at once, none counted twice.
    const Lengths &skews() const { return skews_; }

  private:
    std::uint64_t together_ns_ = 0;
    /// The sum over all GPUs, and together_ns_ for each of them.
    double used_ns_ = 0, together_of_ranks_ns_ = 0;
    Lengths skews_;
};

/// A job and what was measured of it.
struct MeasuredJob {
    std::vector<JobProcess> processes; ///< by GPU
    /// Empty: a GPU's clock cannot be read, so its turns cannot be compared with those of others.
    std::optional<JobTimes> times;
};

/// Measures the jobs of a machine by the turns of all of its GPUs, in bounded memory.
class NVDEBUG_API JobMeter {
  public:
    /// @param most_pending so many turns are kept at most until they are compared
    explicit JobMeter(std::size_t most_pending = 200'000) : most_pending_(most_pending) {}

    void clock(std::uint32_t gpu, std::uint64_t gpu_ns, std::uint64_t monotonic_ns);
    /// Adds a process before its first turn, or replaces it because more is known of it.
    void process(std::uint32_t gpu, const Process &process);
    /// Adds a turn. The turns of a GPU come in the order of time. A turn of an unknown
    /// process belongs to no job.
    void turn(std::uint32_t gpu, const Turn &turn);

    /// Returns the jobs that had turns since the last call, and begins anew. Processes without turns in
    /// that time are forgotten.
    std::vector<MeasuredJob> take();

  private:
    /// A process by its pid and its start, on a GPU.
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::optional<std::uint64_t>>;

    /// Compares the turns that ended before a time by CLOCK_MONOTONIC; the rest stays. A turn that
    /// goes on is cut there.
    void settle(std::uint64_t until_ns);
    /// Returns the time by CLOCK_MONOTONIC until which the turns of all GPUs are known.
    std::uint64_t known_until() const;

    const std::size_t most_pending_;
    std::size_t pending_ = 0;
    std::map<std::uint32_t, ClockMap> clocks_;
    std::map<std::uint32_t, std::uint64_t> last_ns_; ///< the end of each GPU's last turn
    std::map<Key, Process> processes_;
    /// Turns that were not compared yet, by the GPU's clock; a key for each process that had a turn
    /// since take().
    std::map<Key, std::vector<JobTurn>> turns_;
    std::map<Key, MeasuredJob> found_; ///< by the job's first process
};

} // namespace nvdebug
