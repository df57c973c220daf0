// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Finds turns on an engine from context switches or from samples, and sums them.
///
/// No function here reads a GPU. All times are in nanoseconds of one clock, the GPU's. The objects
/// take their input in the order of time, and keep only the state that they need to go on, so a
/// recording may have any length.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "nvdebug/export.hpp"
#include "nvdebug/switches.hpp"

namespace nvdebug {

/// The process that has an engine, as far as known.
struct Holder {
    /// 0: hidden from this user; 0xffffffff: the driver's own; empty: unknown.
    std::optional<std::uint32_t> pid = {};
    /// Process::started, by which a process differs from a later one with its number; empty:
    /// unknown.
    std::optional<std::uint64_t> started = {};
    std::optional<std::uint32_t> context = {};                         ///< ContextSwitch::context
    std::optional<std::uint32_t> runlist = {}, tsg = {}, channel = {}; ///< the hardware's ids
    auto operator<=>(const Holder &) const = default;
};

/// A time during which one holder had an engine.
struct Turn {
    Holder who;
    std::uint64_t begin_ns, end_ns;
    bool whole; ///< the begin and the end were seen; else the turn may be longer
    /// The time since the previous turn ended; empty: there was none, or turns in between may be
    /// missing.
    std::optional<std::uint64_t> gap_ns;
    bool operator==(const Turn &) const = default;
};

/// Returns how long it took at the end of a turn to stop the task and to save it. The driver's
/// record includes this time in the turn. While no other task wants the engine, timeslices follow
/// each other from the turn's begin on. So a turn is a whole number of timeslices and 0.06 to 0.14
/// ms (measured on an H100 and an H200). Returns 0 for a turn that is not whole. Returns 0 also if
/// the turn ends at another time, because then the task gave the engine up.
NVDEBUG_API std::uint64_t saving_ns(const Turn &turn, std::uint64_t timeslice_ns);

/// Finds turns in the driver's record of context switches of one engine.
class NVDEBUG_API SwitchTurns {
  public:
    /// @param begin_ns turns are cut off before this time; empty: the time of the first switch
    explicit SwitchTurns(std::optional<std::uint64_t> begin_ns)
        : since_(begin_ns), known_(begin_ns) {}

    /// Adds the turn that ends by this switch, if any. A time before the previous one ends no turn.
    void add(const ContextSwitch &one, std::vector<Turn> &turns);
    /// Called if switches after the last one were lost, so that the holder is unknown from then on.
    void lose(std::vector<Turn> &turns);
    /// Called at the end of the record.
    void end(std::uint64_t ns, std::vector<Turn> &turns);
    /// Adds the part of the present turn until @p ns. Later parts have no gap from before @p ns.
    void split(std::uint64_t ns, std::vector<Turn> &turns);

    /// Returns the present holder; empty: none, or unknown.
    const std::optional<Holder> &now() const { return now_; }

  private:
    void finish(std::uint64_t ns, bool seen, std::vector<Turn> &turns);

    std::optional<std::uint64_t> since_;
    /// The time since which the holder is known; empty: it is unknown now.
    std::optional<std::uint64_t> known_;
    std::optional<Holder> now_;
    std::uint64_t begin_ = 0;
    bool began_ = false;                ///< its begin was seen
    std::optional<std::uint64_t> left_; ///< when the previous turn ended
};

/// Finds turns in samples of an engine's state. A turn begins and ends in the middle between two
/// samples that differ, so each end is wrong by at most half the time between them. A turn that
/// begins and ends between two samples is missed, and so is a holder that leaves and comes back
/// between them.
class NVDEBUG_API SampleTurns {
  public:
    /// @param longest_ns the state is unknown between two samples that are further apart
    explicit SampleTurns(std::uint64_t longest_ns) : longest_(longest_ns) {}

    /// Adds a sample. A sample that could not be read is not added, and so leaves a gap. @param
    /// holder empty: none
    void add(std::uint64_t ns, const std::optional<Holder> &holder, std::vector<Turn> &turns);
    /// Called after the last sample.
    void end(std::vector<Turn> &turns);
    /// Adds the part of the present turn until the last sample.
    void split(std::vector<Turn> &turns);

    /// Returns the time with a known holder, from sample to sample.
    std::uint64_t known_ns() const { return known_; }

  private:
    void finish(std::uint64_t ns, bool seen, std::vector<Turn> &turns);

    std::uint64_t longest_, known_ = 0;
    std::optional<std::uint64_t> last_; ///< time of the last sample
    std::optional<Holder> now_;
    std::uint64_t begin_ = 0;
    bool began_ = false;
};

/// Lengths in bounded memory. The least and the greatest length are exact, and quantiles between
/// them are right to 0.4 %.
class NVDEBUG_API Lengths {
  public:
    /// Adds a length.
    void add(std::uint64_t ns);
    /// Returns how many lengths were added.
    std::uint64_t count() const { return count_; }
    /// Returns the sum of all lengths.
    std::uint64_t sum() const { return sum_; }
    /// Returns the least length; 0 if there is none, as the next two functions do.
    std::uint64_t min() const { return count_ ? min_ : 0; }
    std::uint64_t max() const { return max_; }
    /// Returns the least length that the part @p part (0 to 1) of all lengths does not exceed.
    std::uint64_t quantile(double part) const;

  private:
    std::uint64_t count_ = 0, sum_ = 0, min_ = ~std::uint64_t{0}, max_ = 0;
    std::vector<std::uint64_t> buckets_;
};

/// Sums of the turns of one engine.
class NVDEBUG_API Tally {
  public:
    /// A longer gap is no switch: no task had work, or the driver had taken the engine away.
    static constexpr std::uint64_t longest_switch_ns = 1'000'000;

    /// The turns of one holder.
    struct Held {
        std::uint64_t turns = 0, ns = 0;
        std::uint64_t saving_ns = 0; ///< the saving_ns() of these turns, if the timeslice is known
        Lengths lengths;             ///< lengths of whole turns
        /// The times between its turns, in which it waited or had no work.
        Lengths away;

      private:
        friend class Tally;
        std::optional<std::uint64_t> left_;
    };

    /// Adds a turn. Turns come in the order of time. @param timeslice_ns empty: unknown
    void add(const Turn &turn, std::optional<std::uint64_t> timeslice_ns = std::nullopt);
    /// Called where turns may be missing.
    void lose();

    /// Returns the sums by process, with only Holder::pid and Holder::started set, or else by TSG
    /// or channel if the process is unknown.
    const std::map<Holder, Held> &holders() const { return held_; }
    /// Returns the times from a turn to the next turn, of any holder.
    const Lengths &switches() const { return switches_; }
    /// Returns the saving_ns() of turns that ended with a timeslice.
    const Lengths &savings() const { return savings_; }
    /// Returns the time of all turns.
    std::uint64_t held_ns() const { return held_ns_; }
    /// Returns the time in gaps that were too long for a switch.
    std::uint64_t nobody_ns() const { return nobody_ns_; }

  private:
    std::map<Holder, Held> held_;
    Lengths switches_, savings_;
    std::uint64_t held_ns_ = 0, nobody_ns_ = 0;
};

} // namespace nvdebug
