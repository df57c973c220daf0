// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file What nvtaskset and the library that CUDA loads share: one page of memory, a memfd that
/// nvtaskset makes and the command and its children inherit, so that they are one task. A user that
/// may open /proc/PID/fd/N (and so may look into the process) may change the task's partitions. The
/// page ends with the last process that has it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvtaskset {

/// The memfd's name: the link /proc/PID/fd/N is `/memfd:nvtaskset (deleted)`.
inline constexpr const char *state_name = "nvtaskset";
/// `PID:FD:INODE`: the page, as a descriptor of the process that nvtaskset started.
inline constexpr const char *page_variable = "NVTASKSET_PAGE";
/// For a process that finds no page: its partitions, partition_text() for each, `;` between.
inline constexpr const char *partitions_variable = "NVTASKSET_PARTITIONS";
/// If on (variables.hpp), a process that cannot be kept to its partition goes on, with a warning.
inline constexpr const char *best_effort_variable = "NVTASKSET_BEST_EFFORT";
/// If on, the program sees the GPU's number of SMs, not the partition's.
inline constexpr const char *whole_count_variable = "NVTASKSET_WHOLE_COUNT";
/// What CUDA loads into each process.
inline constexpr const char *injection_variable = "CUDA_INJECTION64_PATH";

/// Tasks that one MPS server takes. The paper (ECRTS 2025) found 15 of 8 channels: a TSG has 128,
/// and the server 8 of them.
inline constexpr std::uint32_t clients_max = 15;

using Uuid = std::array<std::uint8_t, 16>;
/// A bit for each TPC, at the place that the hardware gives it.
using Bits = std::array<std::uint32_t, 8>;

/// The TPCs of a GPU that a process may use.
struct Partition {
    Uuid uuid{};
    Bits disabled{};               ///< 1: must not be used
    Bits exists{};                 ///< 1: the GPU has it
    std::uint32_t sms = 0;         ///< that may be used
    std::uint32_t largest_gpc = 0; ///< of them in the GPC that has most: where a cluster must fit
    bool operator==(const Partition &) const = default;
};

/// What became of the launches on a GPU; only the task's processes write.
struct Counts {
    std::atomic<std::uint64_t> kept;    ///< launches with the mask
    std::atomic<std::uint64_t> cluster; ///< without: a cluster that might never fit
    std::atomic<std::uint64_t> unknown; ///< without: a descriptor or a graph that cannot be checked
    std::atomic<std::uint64_t>
        outside; ///< without: the partitions that were asked for are of other GPUs
    std::atomic<std::uint64_t> refused;    ///< cooperative launches that do not fit: an error
    std::atomic<std::uint32_t> graphs;     ///< executable graphs that there are
    std::atomic<std::uint32_t> old_graphs; ///< of them, those that keep an older partition
};

/// What holds for a GPU.
enum class Use : std::uint32_t {
    unset,     ///< nothing was asked for there
    partition, ///< the partition
    whole,     ///< all of the GPU, as was asked for
};

struct Setting {
    Use use;
    Partition partition;
};

struct Slot {
    enum Owner : std::uint32_t { free, being_taken, taken };
    /// Once taken it is that of its GPU for good.
    std::atomic<std::uint32_t> owner;
    Uuid uuid;
    /// settings[sequence % 2] holds; the other one may be half written, by a process that has
    /// ended.
    std::atomic<std::uint32_t> sequence;
    Setting settings[2];
    Counts counts;
};

/// Limits the launches in flight on a GPU, in each process of the task: those that CUDA has taken
/// and that have not ended. A graph is one. The task's processes write the counts.
struct Gate {
    std::atomic<std::uint32_t> limit;    ///< the user's; 0: none
    std::atomic<std::uint32_t> unmarked; ///< of `launched`, those that no event follows so far
    std::atomic<std::uint64_t> lease;    ///< that of a program that keeps goals (gate.hpp); 0: none
    std::atomic<std::uint64_t> launched; ///< launches while there was a limit
    std::atomic<std::uint64_t> ended;    ///< of them; a launch looks which ones have
    std::atomic<std::uint64_t> waited;   ///< of them, those that had to wait
    std::atomic<std::uint64_t> waited_ns; ///< all of their waits
    std::atomic<std::uint64_t> overdue;   ///< that went on as no other one ended in time
    std::atomic<std::uint64_t> unlimited; ///< of `launched`, those whose end CUDA does not show
};

/// Requests and progress on a GPU, while a lease asks for them (gate.hpp). A request is what a
/// process launches until it has waited for all of it. The task's processes write.
struct Work {
    static constexpr std::uint32_t kept = 16;

    std::atomic<std::uint32_t> begun;    ///< requests; a futex
    std::atomic<std::uint32_t> finished; ///< of them; a futex
    std::atomic<std::uint64_t> ended_us; ///< CLOCK_MONOTONIC when Gate::ended grew last
    /// How long requests took, by their number among `finished`, modulo `kept`; 0: not known.
    std::atomic<std::uint32_t> took_us[kept];
};

/// TPCs that a program which keeps goals leaves to the task for a while, beside its own partition:
/// launches get what both allow. Launches for which they might be too few are not kept to them.
struct MaskLease {
    std::atomic<std::uint64_t> until_us; ///< CLOCK_MONOTONIC; 0: none
    std::atomic<std::uint32_t> sequence; ///< odd: what follows is being written
    std::uint32_t largest_gpc;           ///< as Partition's
    Bits disabled;
};

struct State {
    static constexpr std::uint32_t magic_number = 0x4e565453, current_version = 2;
    static constexpr std::size_t slots_max = 16, bytes = 8192;

    std::uint32_t magic, version;
    /// Processes that see each of their launches, and those that see none; both may have ended.
    std::atomic<std::uint32_t> attached, failed;
    /// Counts changes of any slot.
    std::atomic<std::uint32_t> generation;
    /// From 1, which of nvtaskset's MPS servers the task is at; 0: none of them.
    std::atomic<std::uint32_t> mps_server;
    /// The warning about launches outside of the partition was printed, once for the whole task.
    std::atomic<std::uint32_t> warned;
    /// 1: no task's page, but the one with which nvtaskset finds out which TPCs there are.
    std::atomic<std::uint32_t> probes;
    /// Launches without the mask on a GPU that could not be identified.
    std::atomic<std::uint64_t> lost;
    Slot slots[slots_max];
    // What follows was added to version 2: it is 0 in pages of earlier programs, which leave it
    // alone.
    /// Of `attached`, processes whose library limits launches in flight.
    std::atomic<std::uint32_t> limiting;
    /// 1: there was a limit on some GPU, so that launches are looked at.
    std::atomic<std::uint32_t> has_limits;
    /// By the number of the GPU's slot.
    Gate gates[slots_max];
    /// Of `attached`, processes with a library that holds launches and shows requests.
    std::atomic<std::uint32_t> pacing;
    /// 1: the task was given TPCs that no other task had, and should stay alone there (-x).
    std::atomic<std::uint32_t> exclusive;
    /// By the number of the GPU's slot.
    Work work[slots_max];
    MaskLease masks[slots_max];
};
static_assert(sizeof(State) <= State::bytes);
// Programs of several versions share a page.
static_assert(offsetof(State, limiting) == 4136 && sizeof(Gate) == 64);
static_assert(offsetof(State, pacing) == 5168 && offsetof(State, masks) == 6456 &&
              sizeof(Work) == 80 && sizeof(MaskLease) == 48);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

} // namespace nvtaskset
