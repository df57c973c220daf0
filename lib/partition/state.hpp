// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The page of a task: memory that nvtaskset and the library that CUDA loads share. It is a
/// memfd that nvtaskset makes, and that the command and its children inherit, which makes them one
/// task. A user that may open /proc/PID/fd/N (and so may look into the process) may change the
/// task's partitions. The page ends with the last process that has it open or mapped.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvtaskset {

/// The memfd's name: the link /proc/PID/fd/N is `/memfd:nvtaskset (deleted)`.
inline constexpr const char *state_name = "nvtaskset";
/// Names the page, as `PID:FD:INODE`, by a descriptor of the process that nvtaskset started.
inline constexpr const char *page_variable = "NVTASKSET_PAGE";
/// Has the partitions for a process that finds no page: partition_text() of each, separated by `;`.
inline constexpr const char *partitions_variable = "NVTASKSET_PARTITIONS";
/// If on (variables.hpp), a process that cannot be kept to its partition goes on, with a warning.
inline constexpr const char *best_effort_variable = "NVTASKSET_BEST_EFFORT";
/// If on, the program sees the GPU's number of SMs, not the partition's.
inline constexpr const char *whole_count_variable = "NVTASKSET_WHOLE_COUNT";
/// Names the folder in which each process notes its launches.
inline constexpr const char *kernels_variable = "NVTASKSET_KERNELS";
/// Names the library that CUDA loads into each process.
inline constexpr const char *injection_variable = "CUDA_INJECTION64_PATH";

/// The number of tasks that one MPS server takes. The paper (ECRTS 2025) found 15 tasks with 8
/// channels each: a TSG has 128 channels, of which the server has 8.
inline constexpr std::uint32_t clients_max = 15;

using Uuid = std::array<std::uint8_t, 16>;
/// A mask with a bit for each TPC, in the order of the hardware.
using Bits = std::array<std::uint32_t, 8>;

/// The TPCs of a GPU that a process may use.
struct Partition {
    Uuid uuid{};
    Bits disabled{};               ///< 1: the TPC must not be used
    Bits exists{};                 ///< 1: the GPU has the TPC
    std::uint32_t sms = 0;         ///< SMs that may be used
    std::uint32_t largest_gpc = 0; ///< these SMs in the GPC with most, in which a cluster must fit
    bool operator==(const Partition &) const = default;
};

/// Counts of the launches on a GPU. Only the task's processes write them.
struct Counts {
    std::atomic<std::uint64_t> kept; ///< launches with the mask
    // Launches without the mask:
    std::atomic<std::uint64_t> cluster; ///< with a cluster that might never fit
    std::atomic<std::uint64_t> unknown; ///< with a descriptor or a graph that cannot be checked
    std::atomic<std::uint64_t> outside; ///< on a GPU without a partition, while others have one
    // Others:
    std::atomic<std::uint64_t> refused;    ///< cooperative launches that failed as they do not fit
    std::atomic<std::uint32_t> graphs;     ///< executable graphs that exist
    std::atomic<std::uint32_t> old_graphs; ///< executable graphs that keep an older partition
};

/// The part of a GPU that a task may use.
enum class Use : std::uint32_t {
    unset,     ///< nothing was asked for on this GPU
    partition, ///< a partition
    whole,     ///< the whole GPU was asked for
};

struct Setting {
    Use use;
    Partition partition;
};

struct Slot {
    enum Owner : std::uint32_t { free, being_taken, taken };
    /// A slot that was taken for a GPU is never freed.
    std::atomic<std::uint32_t> owner;
    Uuid uuid;
    /// settings[sequence % 2] is valid. The other one may be half written by a process that was
    /// killed.
    std::atomic<std::uint32_t> sequence;
    Setting settings[2];
    Counts counts;
};

/// The limit of launches in flight on a GPU, for each process of the task. A launch is in flight
/// from the call until its end; a graph counts as one launch. The task's processes write the
/// counts.
struct Gate {
    std::atomic<std::uint32_t> limit;    ///< the user's limit; 0: none
    std::atomic<std::uint32_t> unmarked; ///< launches that no event follows so far
    /// The limit or demand that a program which keeps goals leases (lease_word()), or 0.
    std::atomic<std::uint64_t> lease;
    std::atomic<std::uint64_t> launched;  ///< launches while there was a limit or a demand
    std::atomic<std::uint64_t> ended;     ///< launches whose end was seen, or that of their context
    std::atomic<std::uint64_t> waited;    ///< launches that had to wait
    std::atomic<std::uint64_t> waited_ns; ///< the sum of their waits
    std::atomic<std::uint64_t> overdue;   ///< launches that went on, as no other one ended in time
    std::atomic<std::uint64_t> unlimited; ///< launches with an end that CUDA does not show
};

/// Requests and progress on a GPU, while a lease asks for them (gate.hpp). A request is a series of
/// launches of a process, until the process has waited for all of them. The task's processes write.
struct Work {
    static constexpr std::uint32_t kept = 16;

    std::atomic<std::uint32_t> begun;    ///< requests that have begun; a futex
    std::atomic<std::uint32_t> finished; ///< requests that have finished; a futex
    std::atomic<std::uint64_t> ended_us; ///< CLOCK_MONOTONIC when Gate::ended last grew
    /// The lengths of the last finished requests, where request n, from 0, is at n modulo `kept`. A
    /// length of 0 is unknown.
    std::atomic<std::uint32_t> took_us[kept];
};

/// TPCs that a program which keeps goals leaves to the task for a while. Launches get the TPCs that
/// are both leased and in the task's partition. The lease has no effect on launches for which these
/// TPCs might be too few.
struct MaskLease {
    std::atomic<std::uint64_t> until_us; ///< end of the lease by CLOCK_MONOTONIC; 0: none
    std::atomic<std::uint32_t> sequence; ///< odd while the members below are being written
    std::uint32_t largest_gpc;           ///< as in Partition
    Bits disabled;
};

struct State {
    static constexpr std::uint32_t magic_number = 0x4e565453, current_version = 2;
    static constexpr std::size_t slots_max = 16, bytes = 8192;

    std::uint32_t magic, version;
    /// The number of processes in which the library sees each launch, and of processes in which it
    /// sees none. They count processes that have ended, too.
    std::atomic<std::uint32_t> attached, failed;
    /// The number of changes of any slot.
    std::atomic<std::uint32_t> generation;
    /// The number, from 1, of nvtaskset's MPS server that serves the task, or 0.
    std::atomic<std::uint32_t> mps_server;
    /// 1: the warning about launches outside of the partition was printed, which is done once for
    /// the whole task.
    std::atomic<std::uint32_t> warned;
    /// 1: this is no task's page, but the page of a probe of TPCs.
    std::atomic<std::uint32_t> probes;
    /// Launches without the mask on a GPU that could not be identified.
    std::atomic<std::uint64_t> lost;
    Slot slots[slots_max];
    // The members below were added to version 2. Earlier programs leave them at 0.
    /// The number of attached processes in which the library limits launches in flight.
    std::atomic<std::uint32_t> limiting;
    /// 1: some GPU has had a limit or a demand, so that the library looks at launches.
    std::atomic<std::uint32_t> has_limits;
    Gate gates[slots_max]; ///< gates[n] is for the GPU of slots[n]
    /// The number of attached processes in which the library holds launches and shows requests.
    std::atomic<std::uint32_t> pacing;
    /// 1: the task was given TPCs that no other task had, and should stay alone there (-x).
    std::atomic<std::uint32_t> exclusive;
    Work work[slots_max];       ///< work[n] is for the GPU of slots[n]
    MaskLease masks[slots_max]; ///< masks[n] is for the GPU of slots[n]
};
static_assert(sizeof(State) <= State::bytes);
// Programs of several versions share a page.
static_assert(offsetof(State, limiting) == 4136 && sizeof(Gate) == 64);
static_assert(offsetof(State, pacing) == 5168 && offsetof(State, masks) == 6456 &&
              sizeof(Work) == 80 && sizeof(MaskLease) == 48);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

} // namespace nvtaskset
