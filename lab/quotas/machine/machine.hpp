// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The quota machine: counters for each kernel and SM, which let a kernel issue instructions
/// or keep it from that, cycle by cycle and epoch by epoch (Sections 3.3 to 3.5 of the paper named
/// in readings.hpp). What could be issued, and which blocks are where, is its caller's: a list of
/// offers, or a model of a GPU.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "policy.hpp"

namespace qos {

inline constexpr int lanes_of_warp = 32;
/// No count is larger: sums over SMs fit 64 bits, and any reader of JSON has the number exactly.
inline constexpr std::int64_t largest_count = std::int64_t{1} << 53;

struct Kernel {
    bool qos = false;
    Rational goal = 0; ///< of a QoS kernel: thread instructions per cycle of the whole GPU, above 0
};

struct Shape {
    std::size_t sms = 1;
    int slots = 1;          ///< warp instructions that an SM can issue in a cycle
    std::int64_t epoch = 1; ///< cycles
    std::vector<Kernel> kernels = {};
};

/// A count for each kernel on each SM.
class Table {
  public:
    Table() = default;
    Table(std::size_t sms, std::size_t kernels, std::int64_t value = 0)
        : kernels_(kernels), values_(sms * kernels, value) {}

    std::int64_t &operator()(std::size_t sm, std::size_t kernel) {
        return values_[sm * kernels_ + kernel];
    }
    std::int64_t operator()(std::size_t sm, std::size_t kernel) const {
        return values_[sm * kernels_ + kernel];
    }
    std::size_t kernels() const { return kernels_; }
    std::size_t sms() const { return kernels_ ? values_.size() / kernels_ : 0; }
    /// Returns the counts of a kernel, by SM.
    std::vector<std::int64_t> of_kernel(std::size_t kernel) const;

  private:
    std::size_t kernels_ = 0;
    std::vector<std::int64_t> values_;
};

/// The record of an epoch.
struct Epoch {
    std::int64_t first_cycle = 0, length = 0;
    std::vector<Rational> alpha; ///< by kernel; 1 where it is not in use
    std::vector<Rational> goal;  ///< by kernel: a QoS kernel's own, else the artificial one
    Table quota;
    Table counter_start;   ///< after the boundary
    Table counter_end;     ///< after the last cycle and its refill
    Table issued, refused; ///< warp instructions
    Table used;            ///< thread instructions that were charged
    Table refills;         ///< refills by more than 0
};

/// The counters of all SMs. In each cycle call boundary() if it is due, leave(), offer(), and
/// end_cycle(). Arguments must be within the shape; they are not checked.
class Machine {
  public:
    Machine(Shape shape, Scheme scheme, Readings readings);

    /// Returns true in the first cycle and when an epoch has lasted its time. With the scheme
    /// elastic for the whole GPU it is also true when all SMs have used up their quotas.
    bool boundary_is_due() const;
    /// Begins an epoch with the next cycle, and returns the epoch that ends, if there is one.
    /// @param blocks of each kernel on each SM, allocated from now on
    std::optional<Epoch> boundary(const Table &blocks);
    /// Ends the epoch after the last cycle. Returns none if no cycle has passed in it.
    std::optional<Epoch> finish();

    /// Notes that the kernel has no block on this SM until the next boundary.
    void leave(std::size_t sm, std::size_t kernel);
    /// Notes that the kernel has a block on this SM again. Its quota and its counter are unchanged.
    void come_back(std::size_t sm, std::size_t kernel);

    /// Returns whether quotas let the kernel issue on this SM now.
    bool is_open(std::size_t sm, std::size_t kernel) const;
    /// Issues as many of the offered warp instructions as quotas and slots allow.
    /// @param lanes 1 to lanes_of_warp
    /// @param count warp instructions that could be issued
    /// @returns how many are issued
    std::int64_t offer(std::size_t sm, std::size_t kernel, int lanes, std::int64_t count = 1);
    /// Charges the instructions that complete, and refills counters.
    void end_cycle();
    /// Returns whether the next end_cycle() tests this SM for a refill. If not, and if nothing is
    /// offered, the SM's counters do not change. With Charge::complete they also change when
    /// instructions in flight complete.
    bool is_stirred(std::size_t sm) const { return stirred_[sm]; }
    /// Has the effect of @p cycles calls of end_cycle() without an offer, but stops at a boundary.
    /// @param cycles at least 1
    /// @returns how many cycles have passed
    std::int64_t pass(std::int64_t cycles);

    std::int64_t cycle() const { return cycle_; }
    const Shape &shape() const { return shape_; }
    const Readings &readings() const { return readings_; }
    std::int64_t counter(std::size_t sm, std::size_t kernel) const { return counter_(sm, kernel); }
    bool is_resident(std::size_t sm, std::size_t kernel) const { return blocks_(sm, kernel) > 0; }
    /// Returns the epoch so far, without counter_end and length.
    const Epoch &epoch() const { return epoch_; }
    /// Returns false once a quota or a counter was larger than largest_count. Later results are not
    /// exact then.
    bool is_exact() const { return exact_; }

  private:
    /// The past of a kernel since it first had a block.
    struct History {
        bool launched = false;
        Progress total = {}; ///< of all epochs, or of the epochs in window
        std::deque<Progress> window =
            {}; ///< the last epochs, if α_k looks back on a limited number
        Progress last = {};
        std::int64_t last_used = 0;
    };

    bool is_gpu_wide() const;
    std::int64_t bounded(const Integer &value);
    void close_statistics();
    void set_goals(const std::vector<Rational> &last_alpha, const std::vector<Rational> &last_goal);
    void set_quotas(std::size_t kernel);
    void set_counters(std::size_t kernel, bool early);
    void charge(std::size_t sm, std::size_t kernel, int lanes);
    void refill(std::size_t sm);
    bool all_are_exhausted() const;
    Seat seat(std::size_t sm, std::size_t kernel) const;

    struct InFlight {
        std::int64_t due;
        std::size_t sm, kernel;
        int lanes;
    };

    Shape shape_;
    Scheme scheme_;
    Readings readings_;                 ///< how questions that the paper leaves open are answered
    Rational peak_;                     ///< thread instructions per cycle
    Table blocks_, counter_, at_start_; ///< at_start_: counters when the cycle began
    std::vector<History> history_;
    std::vector<int> slots_left_;
    std::vector<char> stirred_; ///< by SM: has something changed in this cycle?
    std::deque<InFlight> in_flight_;
    Epoch epoch_;
    std::int64_t cycle_ = 0;
    bool begun_ = false, early_ = false, exact_ = true;
};

} // namespace qos
