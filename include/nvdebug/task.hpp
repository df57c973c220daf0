// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Tasks: selecting processes, their objects on the GPU and in runlists, and the values that
/// may be set for them. The functions are pure, over the results of Gpu::owners() and
/// Gpu::runlist(). Only parent_of(), descends_from() and TaskSelection::ancestor read /proc.
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

/// Limits of timeslices that are set through NVIDIA's driver, and the driver's unit, in ns. The
/// driver itself accepts any number. The shortest one is longer than a context switch, which takes
/// 84 us (measured on an H100). The longest one is far below the 8.5 s that an entry of a runlist
/// can hold.
inline constexpr std::uint64_t shortest_timeslice_ns = 100'000,
                               longest_timeslice_ns = 1'000'000'000, timeslice_unit_ns = 1'000;

/// Returns whether a timeslice of @p ns may be set through NVIDIA's driver.
[[nodiscard]] constexpr bool is_settable_timeslice(std::uint64_t ns) {
    return ns >= shortest_timeslice_ns && ns <= longest_timeslice_ns && ns % timeslice_unit_ns == 0;
}

/// How far a timeslice may be from the expected one: a part of the expected one, and some ns.
/// NVIDIA's driver turns a requested microsecond into 1,024 ns, which is 1/42 more (measured on an
/// H100, docs/hardware-measured.md). An entry of a list holds (timeout << scale) * 1,024 ns with a
/// timeout of 8 bits (dev_ram.ref.txt). So its steps are 1,024 ns up to 261 us, and above that at
/// most 1/128.
struct TimesliceTolerance {
    std::uint64_t parts; ///< one of so many parts of the expected timeslice
    std::uint64_t ns;
};

/// Tolerance between a request and its effect: about twice the measured difference, and two of the
/// shortest steps, since other drivers may round in another way. A smaller change cannot be
/// verified.
inline constexpr TimesliceTolerance requested_tolerance{16, 2'048};

/// Tolerance for finding out whether others have changed a timeslice since it was set or read: a
/// little more than the measured difference (1/42), and less than two of the shortest steps.
inline constexpr TimesliceTolerance unchanged_tolerance{32, 2'000};

/// Returns whether @p ns is the expected timeslice within @p tolerance.
[[nodiscard]] constexpr bool is_about(std::uint64_t ns, std::uint64_t expected_ns,
                                      TimesliceTolerance tolerance) {
    const std::uint64_t apart = ns > expected_ns ? ns - expected_ns : expected_ns - ns;
    return apart <= expected_ns / tolerance.parts + tolerance.ns;
}

/// The words of Interleave and PreemptionMode in requests, in the order of their values.
inline constexpr std::array<const char *, 3> interleave_words = {"low", "medium", "high"},
                                             preemption_words = {"wfi", "cta", "cilp"};

/// Returns the word of a level or a mode: `low`, `wfi`.
[[nodiscard]] constexpr const char *name_of(Interleave level) {
    return interleave_words[static_cast<std::size_t>(level)];
}
[[nodiscard]] constexpr const char *name_of(PreemptionMode mode) {
    return preemption_words[static_cast<std::size_t>(mode)];
}

/// Returns the level or mode that a word names; empty: no word of interleave_words, or of
/// preemption_words.
[[nodiscard]] NVDEBUG_API std::optional<Interleave> parse_interleave(std::string_view word);
[[nodiscard]] NVDEBUG_API std::optional<PreemptionMode>
parse_preemption_mode(std::string_view word);

// --- objects of processes ---

/// The channels that a client of a process made in one TSG, or a single channel that is in no TSG.
/// Never empty. The pointers live as long as the Owners.
using OwnedTsg = std::vector<const OwnedChannel *>;

/// Returns the channels of a process by TSG, in the order of Owners::channels; empty: it has none,
/// or is not in @p owners.
[[nodiscard]] NVDEBUG_API std::vector<OwnedTsg> tsgs_of(const Owners &owners, std::uint32_t pid);
std::vector<OwnedTsg> tsgs_of(const Owners &&owners, std::uint32_t pid) = delete;
/// Returns these channels by TSG, in the same order.
[[nodiscard]] NVDEBUG_API std::vector<OwnedTsg>
tsgs_of(std::span<const OwnedChannel *const> channels);

/// The place of a channel in a runlist. The pointers live as long as the list.
struct RunlistPlace {
    std::uint32_t runlist;
    std::optional<std::uint32_t> tsg; ///< empty: the channel is bare
    const Channel *channel;           ///< its first entry
    const Tsg *header;                ///< the first header of its TSG; nullptr: the channel is bare
};

/// A TSG in which a named process and another process have channels (clients of an MPS server).
struct SharedByProcesses {
    Target tsg; ///< with its runlist
    const Process *named, *other;
};

/// Processes and their channels, joined with runlists by the places of instance blocks. The object
/// can be moved but not copied, and pointers into it stay valid when it is moved.
class NVDEBUG_API OwnersOnLists {
  public:
    /// @param lists the lists that could be read; without any, no channel has a place
    explicit OwnersOnLists(Owners owners, std::vector<Runlist> lists = {});
    OwnersOnLists(OwnersOnLists &&other) noexcept;
    OwnersOnLists &operator=(OwnersOnLists &&other) noexcept;
    ~OwnersOnLists();

    /// Joins the same owners with lists that were read later. Earlier RunlistPlaces become invalid.
    void update(std::vector<Runlist> lists);

    const Owners &owners() const { return owners_; }
    const std::vector<Runlist> &lists() const { return lists_; }
    /// Returns whether a list has any channel of owners().
    bool any_listed() const { return !places_.empty(); }

    /// Returns the place of a channel of owners(); nullptr: no list has it, or several processes
    /// claim it.
    const RunlistPlace *place_of(const OwnedChannel &channel) const;
    /// Returns the place of the TSG's first channel that is in a list.
    const RunlistPlace *place_of(const OwnedTsg &tsg) const;
    /// Returns the channels of owners() that are this channel of a list. They belong to several
    /// processes only if the driver's answers changed during the search.
    std::vector<const OwnedChannel *> claimants(const Channel &channel) const;

    /// Returns the timeslice of a TSG in its list. If no list has the TSG, returns the requested
    /// timeslice as lists would have it, with 1,024 ns for a microsecond
    /// (docs/hardware-measured.md). Empty: unknown.
    std::optional<std::uint64_t> timeslice_ns(const OwnedTsg &tsg) const;
    /// Returns all headers of a TSG in its list; none: the TSG is in no list, or its channels are
    /// bare.
    std::vector<const Tsg *> headers_of(const OwnedTsg &tsg) const;

    /// Returns the pids of processes with channels in a TSG, given with its runlist: several with
    /// MPS.
    std::set<std::uint32_t> sharers(const Target &tsg) const;
    /// Returns the first TSG that a process of @p pids shares with a process outside of @p pids;
    /// empty: there is none. A change of a TSG affects all processes that share it.
    std::optional<SharedByProcesses> shared_with_others(Pids pids) const;

  private:
    using Key = std::pair<std::uint64_t, std::optional<Aperture>>;

    Owners owners_;
    std::vector<Runlist> lists_;
    std::map<Key, std::vector<const OwnedChannel *>> claimants_;
    std::map<const OwnedChannel *, RunlistPlace> places_;
};

/// Reads Gpu::owners(), and then the lists that this user may read; without root there may be none.
[[nodiscard]] NVDEBUG_API Result<OwnersOnLists> owners_on_lists(const Gpu &gpu,
                                                                Detail detail = Detail::brief);

/// Returns `train[4711]`: the command's name, with `?` for unprintable characters, and the pid.
[[nodiscard]] NVDEBUG_API std::string to_string(const Process &process);

/// Returns the end of a sentence about a process without channels: `those that have one:
/// train[4711], serve[4712]` with the oldest eight processes, or that there is no such process.
[[nodiscard]] NVDEBUG_API std::string describe_owners(const Owners &owners);

// --- selecting processes ---

/// Selects processes by facts about them. A process must fit all given criteria. Without any
/// criterion, no process is selected.
struct TaskSelection {
    std::vector<std::uint32_t> pids = {};       ///< the process is one of these; empty: any
    std::optional<std::string> container = {};  ///< Identity::container begins with it
    std::optional<std::string> pod = {};        ///< Identity::pod begins with it
    std::optional<std::string> job = {};        ///< `JOB` or `JOB.STEP`, compared with Identity
    std::optional<std::string> cgroup = {};     ///< the process's cgroup is this path, or below it
    std::optional<std::string> command = {};    ///< Process::command equals it, or its first 15
                                                ///< bytes
    std::optional<std::uint32_t> ancestor = {}; ///< the process is this one, or descends from it

    [[nodiscard]] bool empty() const { return pids.empty() && !command && !is_group(); }
    /// Returns whether the selected processes are one tenant. They are if a criterion names a group
    /// of processes: a container, a pod, a job, a cgroup or an ancestor.
    [[nodiscard]] bool is_group() const { return container || pod || job || cgroup || ancestor; }
};

/// Returns whether @p process is selected. Reads /proc if TaskSelection::ancestor is set.
[[nodiscard]] NVDEBUG_API bool is_selected(const TaskSelection &selection, const Process &process);

/// Returns the pids of the selected processes with channels, in the order of Owners::processes.
/// Pids are reused, so compare two readings by same_process().
[[nodiscard]] NVDEBUG_API std::vector<std::uint32_t> select(const TaskSelection &selection,
                                                            const Owners &owners);

/// Returns the parent of a process of this machine, from /proc/PID/stat (proc_pid_stat(5)); 0: it
/// has none. Empty: the process has ended, or is hidden from this one.
[[nodiscard]] NVDEBUG_API std::optional<std::uint32_t> parent_of(std::uint32_t pid);

/// Returns whether @p pid is @p ancestor or descends from it, by parent_of(). Returns false where a
/// process between the two has ended, because its children then have another parent.
[[nodiscard]] NVDEBUG_API bool descends_from(std::uint32_t pid, std::uint32_t ancestor);

} // namespace nvdebug
