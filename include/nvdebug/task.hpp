// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Tasks: which processes are meant, what they have on the GPU, where runlists have it, and
/// which values may be set for it. Pure functions over what Gpu::owners() and Gpu::runlist() read,
/// but for parent_of(), descends_from() and TaskSelection::ancestor, which read /proc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nvdebug/control.hpp"
#include "nvdebug/export.hpp"
#include "nvdebug/owner.hpp"
#include "nvdebug/runlist.hpp"

namespace nvdebug {

class Gpu;

// --- values that may be set ---

/// Limits of timeslices that are set through NVIDIA's driver, and the unit that it takes, in ns.
/// The driver takes any number. The shortest is above what a switch of contexts takes, 84 us
/// (measured on an H100); the longest is far below what an entry of a runlist holds, 8.5 s.
inline constexpr std::uint64_t shortest_timeslice_ns = 100'000,
                               longest_timeslice_ns = 1'000'000'000, timeslice_unit_ns = 1'000;

/// May a timeslice of @p ns be set through NVIDIA's driver?
[[nodiscard]] constexpr bool is_settable_timeslice(std::uint64_t ns) {
    return ns >= shortest_timeslice_ns && ns <= longest_timeslice_ns && ns % timeslice_unit_ns == 0;
}

/// By how much a timeslice may differ and still be the expected one: by a part of that, and by some
/// ns. Between a request and the list, NVIDIA's driver takes a microsecond as 1,024 ns, which is
/// 1/42 more (measured on an H100, docs/hardware.md). An entry of a list holds (timeout << scale) *
/// 1,024 ns with a timeout of 8 bits (dev_ram.ref.txt): its steps are 1,024 ns up to 261 us, and
/// 1/128 of more at most.
struct TimesliceTolerance {
    std::uint64_t parts; ///< of this many parts one
    std::uint64_t ns;
};

/// Of what a request leads to: about twice what was measured, and two of the shortest steps, as
/// other drivers may round otherwise. A change by less cannot be verified.
inline constexpr TimesliceTolerance requested_tolerance{16, 2'048};

/// Of a timeslice that was set or seen before, to find whether others have changed it since: little
/// more than what was measured (1/42), and less than two of the shortest steps.
inline constexpr TimesliceTolerance unchanged_tolerance{32, 2'000};

/// Is @p ns the timeslice that is expected, by @p tolerance?
[[nodiscard]] constexpr bool is_about(std::uint64_t ns, std::uint64_t expected_ns,
                                      TimesliceTolerance tolerance) {
    const std::uint64_t apart = ns > expected_ns ? ns - expected_ns : expected_ns - ns;
    return apart <= expected_ns / tolerance.parts + tolerance.ns;
}

/// The words of Interleave and PreemptionMode in requests, in the order of their values.
inline constexpr std::array<const char *, 3> interleave_words = {"low", "medium", "high"},
                                             preemption_words = {"wfi", "cta", "cilp"};

/// The word of a level or a mode: `low`, `wfi`.
[[nodiscard]] constexpr const char *name_of(Interleave level) {
    return interleave_words[static_cast<std::size_t>(level)];
}
[[nodiscard]] constexpr const char *name_of(PreemptionMode mode) {
    return preemption_words[static_cast<std::size_t>(mode)];
}

/// From a word to what it names; empty: it is none of interleave_words, of preemption_words.
[[nodiscard]] NVDEBUG_API std::optional<Interleave> parse_interleave(std::string_view word);
[[nodiscard]] NVDEBUG_API std::optional<PreemptionMode>
parse_preemption_mode(std::string_view word);

// --- what processes have ---

/// The channels that a client of a process made in one TSG; one that it made in none stands alone.
/// Never empty. The pointers live as long as the Owners.
using OwnedTsg = std::vector<const OwnedChannel *>;

/// What a process has, in the order of Owners::channels; empty: nothing, or it is none of @p
/// owners.
[[nodiscard]] NVDEBUG_API std::vector<OwnedTsg> tsgs_of(const Owners &owners, std::uint32_t pid);
std::vector<OwnedTsg> tsgs_of(const Owners &&owners, std::uint32_t pid) = delete;
/// These channels, by TSG, in the same order.
[[nodiscard]] NVDEBUG_API std::vector<OwnedTsg>
tsgs_of(std::span<const OwnedChannel *const> channels);

/// Where a runlist has a channel. The pointers live as long as the list.
struct RunlistPlace {
    std::uint32_t runlist;
    std::optional<std::uint32_t> tsg; ///< empty: it is bare
    const Channel *channel;           ///< its first entry
    const Tsg *header;                ///< the first of its TSG; nullptr: it is bare
};

/// A TSG in which a named process and another one have channels (clients of an MPS server).
struct SharedByProcesses {
    Target tsg; ///< with its runlist
    const Process *named, *other;
};

/// Processes and what they have, joined with runlists by the places of instance blocks. It may be
/// moved, not copied; what it points to stays where it is.
class NVDEBUG_API OwnersOnLists {
  public:
    /// @param lists those that could be read; none: nothing is on a list
    explicit OwnersOnLists(Owners owners, std::vector<Runlist> lists = {});
    OwnersOnLists(OwnersOnLists &&other) noexcept;
    OwnersOnLists &operator=(OwnersOnLists &&other) noexcept;
    ~OwnersOnLists();

    /// Joins the same owners with lists that were read later. Places from before end.
    void update(std::vector<Runlist> lists);

    const Owners &owners() const { return owners_; }
    const std::vector<Runlist> &lists() const { return lists_; }
    /// Has a list any channel of owners()?
    bool any_listed() const { return !places_.empty(); }

    /// Where a list has a channel of owners(); nullptr: none has it, or several processes claim it.
    const RunlistPlace *place_of(const OwnedChannel &channel) const;
    /// The same of the first channel that is in a list.
    const RunlistPlace *place_of(const OwnedTsg &tsg) const;
    /// Channels of owners() that are the one of a list: of several processes only if the driver's
    /// answers changed while they were read.
    std::vector<const OwnedChannel *> claimants(const Channel &channel) const;

    /// The timeslice of a TSG: as the list has it, else as lists have what the driver was asked
    /// for, of which a microsecond has 1,024 ns (docs/hardware.md). Empty: not known.
    std::optional<std::uint64_t> timeslice_ns(const OwnedTsg &tsg) const;
    /// All headers of a TSG in its list; none: it is in no list, or bare.
    std::vector<const Tsg *> headers_of(const OwnedTsg &tsg) const;

    /// Pids of processes with channels in a TSG, given with its runlist: more than one with MPS.
    std::set<std::uint32_t> sharers(const Target &tsg) const;
    /// What is set for a TSG is set for all that share it: the first that a process of @p pids
    /// shares with one that is not among them; empty: they name each TSG whole.
    std::optional<SharedByProcesses> shared_with_others(Pids pids) const;

  private:
    using Key = std::pair<std::uint64_t, std::optional<Aperture>>;

    Owners owners_;
    std::vector<Runlist> lists_;
    std::map<Key, std::vector<const OwnedChannel *>> claimants_;
    std::map<const OwnedChannel *, RunlistPlace> places_;
};

/// Reads Gpu::owners() and then the lists that can be read: none where that is for root.
[[nodiscard]] NVDEBUG_API Result<OwnersOnLists> owners_on_lists(const Gpu &gpu,
                                                                Detail detail = Detail::brief);

/// `train[4711]`: the name of its command, with `?` for what is not printable, and its pid.
[[nodiscard]] NVDEBUG_API std::string to_string(const Process &process);

/// For a sentence about a process that has no channels: `those that have one: train[4711],
/// serve[4712]`, the oldest eight, or that none has.
[[nodiscard]] NVDEBUG_API std::string describe_owners(const Owners &owners);

// --- which processes are meant ---

/// Processes by what is known of them. All that is given must hold of a process; with nothing given
/// none is selected.
struct TaskSelection {
    std::vector<std::uint32_t> pids = {};       ///< it is one of these; empty: not asked
    std::optional<std::string> container = {};  ///< Identity::container begins so
    std::optional<std::string> pod = {};        ///< Identity::pod begins so
    std::optional<std::string> job = {};        ///< `JOB` or `JOB.STEP`, of Identity
    std::optional<std::string> cgroup = {};     ///< its cgroup is this path, or below it
    std::optional<std::string> command = {};    ///< Process::command is this, or its 15 first bytes
    std::optional<std::uint32_t> ancestor = {}; ///< it is this process, or descends from it

    [[nodiscard]] bool empty() const { return pids.empty() && !command && !is_group(); }
    /// Are all processes that it selects one tenant? So it is where it names what holds several: a
    /// container, a pod, a job, a cgroup, an ancestor.
    [[nodiscard]] bool is_group() const { return container || pod || job || cgroup || ancestor; }
};

/// Is @p process selected? With TaskSelection::ancestor /proc is read.
[[nodiscard]] NVDEBUG_API bool is_selected(const TaskSelection &selection, const Process &process);

/// Pids of the selected processes that have channels, in the order of Owners::processes. A pid
/// alone names no process for long: same_process() compares two readings.
[[nodiscard]] NVDEBUG_API std::vector<std::uint32_t> select(const TaskSelection &selection,
                                                            const Owners &owners);

/// The parent of a process of this machine, from /proc/PID/stat (proc_pid_stat(5)); 0: it has none.
/// Empty: it has ended, or is hidden from this one.
[[nodiscard]] NVDEBUG_API std::optional<std::uint32_t> parent_of(std::uint32_t pid);

/// Is @p pid @p ancestor, or does it descend from it, by parent_of()? False where a process between
/// the two has ended: then its children have another parent.
[[nodiscard]] NVDEBUG_API bool descends_from(std::uint32_t pid, std::uint32_t ancestor);

} // namespace nvdebug
