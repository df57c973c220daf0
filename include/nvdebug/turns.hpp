// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Turns on an engine, found from context switches or from samples, and what they add up to.
///
/// Nothing here reads a GPU. All times are nanoseconds of one clock, the GPU's. Objects take their
/// input in the order of time and keep no more than what is needed to go on: a recording may be of
/// any length.
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

/// The process that has an engine, as far as it is known.
struct Holder {
    /// 0: hidden from this user; 0xffffffff: the driver's own; empty: not known.
    std::optional<std::uint32_t> pid = {};
    /// Process::started, by which it differs from a later one of this number; empty: not known.
    std::optional<std::uint64_t> started = {};
    std::optional<std::uint32_t> context = {};                         ///< ContextSwitch::context
    std::optional<std::uint32_t> runlist = {}, tsg = {}, channel = {}; ///< as the hardware has it
    auto operator<=>(const Holder &) const = default;
};

/// A time in which one had an engine.
struct Turn {
    Holder who;
    std::uint64_t begin_ns, end_ns;
    bool whole; ///< it was seen to begin and to end; else it may be longer
    /// Since the turn before ended; empty: there was none, or some may be missing between them.
    std::optional<std::uint64_t> gap_ns;
    bool operator==(const Turn &) const = default;
};

/// What the end of a turn took to stop the task and to save it, once its timeslice was over: the
/// driver's record has it in the turn. While no other task wants the engine, timeslices follow each
/// other from the turn's beginning on (measured on an H100 and an H200: a turn is a whole number of
/// timeslices, and 0.06 to 0.14 ms). 0 for a turn that is not whole, and for one that ends at
/// another time: then the task gave the engine up.
NVDEBUG_API std::uint64_t saving_ns(const Turn &turn, std::uint64_t timeslice_ns);

/// Turns from the driver's record of context switches, of one engine.
class NVDEBUG_API SwitchTurns {
  public:
    /// @param begin_ns since when turns are of interest: what was before is cut off; empty: since
    /// the first switch.
    explicit SwitchTurns(std::optional<std::uint64_t> begin_ns)
        : since_(begin_ns), known_(begin_ns) {}

    /// Adds the turn that ends by it, if any. Times that go back end none.
    void add(const ContextSwitch &one, std::vector<Turn> &turns);
    /// Switches after the last one were lost: the holder since then is not known.
    void lose(std::vector<Turn> &turns);
    /// The record ends.
    void end(std::uint64_t ns, std::vector<Turn> &turns);
    /// Adds the part until @p ns of a turn that goes on. Later parts have no gap from before
    /// @p ns.
    void split(std::uint64_t ns, std::vector<Turn> &turns);

    /// The holder now; empty: none, or not known.
    const std::optional<Holder> &now() const { return now_; }

  private:
    void finish(std::uint64_t ns, bool seen, std::vector<Turn> &turns);

    std::optional<std::uint64_t> since_;
    /// Since when the holder is known; empty: not known now.
    std::optional<std::uint64_t> known_;
    std::optional<Holder> now_;
    std::uint64_t begin_ = 0;
    bool began_ = false;                ///< and the beginning was seen
    std::optional<std::uint64_t> left_; ///< when the turn before ended
};

/// Turns from samples of an engine's state. A turn begins and ends in the middle between two
/// samples that differ, so each end is wrong by half the time between them at most. What begins and
/// ends between two samples is not seen, nor is one that leaves and comes back between them.
class NVDEBUG_API SampleTurns {
  public:
    /// @param longest_ns with more than this between two samples, what was in between is not known.
    explicit SampleTurns(std::uint64_t longest_ns) : longest_(longest_ns) {}

    /// @param holder empty: none. A sample that could not be read is not added: it is a gap.
    void add(std::uint64_t ns, const std::optional<Holder> &holder, std::vector<Turn> &turns);
    /// After the last sample.
    void end(std::vector<Turn> &turns);
    /// Adds the part until the last sample of a turn that goes on.
    void split(std::vector<Turn> &turns);

    /// The time with a known holder, from sample to sample.
    std::uint64_t known_ns() const { return known_; }

  private:
    void finish(std::uint64_t ns, bool seen, std::vector<Turn> &turns);

    std::uint64_t longest_, known_ = 0;
    std::optional<std::uint64_t> last_; ///< sample
    std::optional<Holder> now_;
    std::uint64_t begin_ = 0;
    bool began_ = false;
};

/// Lengths in a bounded place: least and most are exact, what is between them to 0.4 %.
class NVDEBUG_API Lengths {
  public:
    void add(std::uint64_t ns);
    std::uint64_t count() const { return count_; }
    std::uint64_t sum() const { return sum_; }
    /// 0 if there are none, as the next two.
    std::uint64_t min() const { return count_ ? min_ : 0; }
    std::uint64_t max() const { return max_; }
    /// The least length that is not exceeded by the part @p part (0 to 1) of them.
    std::uint64_t quantile(double part) const;

  private:
    std::uint64_t count_ = 0, sum_ = 0, min_ = ~std::uint64_t{0}, max_ = 0;
    std::vector<std::uint64_t> buckets_;
};

/// What the turns of one engine add up to.
class NVDEBUG_API Tally {
  public:
    /// A longer gap is no switch: no task had work, or the driver had taken it away.
    static constexpr std::uint64_t longest_switch_ns = 1'000'000;

    struct Held {
        std::uint64_t turns = 0, ns = 0;
        std::uint64_t saving_ns = 0; ///< of these, where the timeslice is known: saving_ns()
        Lengths lengths;             ///< of whole turns
        /// Between its turns: it waited, or had no work.
        Lengths away;

      private:
        friend class Tally;
        std::optional<std::uint64_t> left_;
    };

    /// In the order of time. @param timeslice_ns empty: not known
    void add(const Turn &turn, std::optional<std::uint64_t> timeslice_ns = std::nullopt);
    /// Some turns may be missing here.
    void lose();

    /// By process where that is known (nothing but Holder::pid and Holder::started is set), else by
    /// TSG or channel.
    const std::map<Holder, Held> &holders() const { return held_; }
    /// From one turn to the next, of whomever.
    const Lengths &switches() const { return switches_; }
    /// Of turns that ended with a timeslice.
    const Lengths &savings() const { return savings_; }
    std::uint64_t held_ns() const { return held_ns_; }
    /// In gaps that were no switch.
    std::uint64_t nobody_ns() const { return nobody_ns_; }

  private:
    std::map<Holder, Held> held_;
    Lengths switches_, savings_;
    std::uint64_t held_ns_ = 0, nobody_ns_ = 0;
};

} // namespace nvdebug
