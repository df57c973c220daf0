// SPDX-License-Identifier: MIT OR GPL-2.0
// Scripted faults between the guest and the device.
#pragma once

#include "device/access.hpp"
#include "device/random_reads.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nvmodel {

class Faults {
  public:
    /// Adds a fault. `words` is a specification of docs/model.md split at blanks; "none" removes
    /// all faults and forgets the hits. Throws ConfigError.
    void add(std::span<const std::string> words);

    /// The faults of an access as a whole. next_access() is called once for each access.
    struct Mood {
        bool gone = false;   // the GPU is off the bus
        bool frozen = false; // no time passes
    };
    Mood next_access();

    /// Returns the value of a read. `device` is asked, unless a fault takes its place.
    std::uint64_t read(const Access &access, std::string_view block,
                       const std::function<std::uint64_t()> &device);

    /// True if a write changes nothing.
    bool drops(const Access &access);

    /// Accesses whose result a fault changed, and actions of the driver between accesses.
    [[nodiscard]] std::uint64_t hits() const { return hits_; }
    /// All accesses since the last "none".
    [[nodiscard]] std::uint64_t accesses() const { return accesses_; }

    /// Actions of the driver behind the reader's back.
    struct Driver {
        std::function<void(unsigned runlist)> resubmit;
        std::function<void(unsigned runlist)> rotate;
        std::function<void()> move_window;
    };
    /// Acts for the driver if a fault is due; called after every read of PRAMIN.
    void after_pramin_read(const Driver &driver);

  private:
    struct Repeated {
        std::uint64_t every;
        std::uint64_t times = UINT64_MAX; // times that are left
        std::uint64_t reads = 0;
        bool due() {
            if (times == 0 || ++reads < every)
                return false;
            reads = 0;
            times--;
            return true;
        }
    };
    struct RunlistEvent {
        unsigned runlist;
        Repeated when;
    };
    static RunlistEvent runlist_event(std::span<const std::string> args);

    /// A stretch of counted events: it begins after the first `after` and has `times` of them.
    struct Stretch {
        std::uint64_t after;
        std::uint64_t times = UINT64_MAX;
        bool next() {
            if (after > 0) {
                after--;
                return false;
            }
            if (times == 0)
                return false;
            times--;
            return true;
        }
    };
    struct Wrong {
        std::uint32_t value;
        Stretch reads;
    };
    struct Bits {
        std::uint32_t set = 0;
        std::uint32_t clear = 0;
    };

    static Stretch stretch_of(std::span<const std::string> args);
    void add_block(std::string_view name, std::uint32_t word);
    [[nodiscard]] std::optional<std::uint64_t> replaces(const Access &access,
                                                        std::string_view block) const;
    [[nodiscard]] std::uint64_t with_bits(const Access &access, std::uint64_t value) const;

    std::uint64_t hits_ = 0;
    std::uint64_t accesses_ = 0;
    std::optional<Stretch> gone_;
    std::optional<Stretch> frozen_;
    std::optional<Stretch> lost_writes_;
    std::optional<Wrong> wrong_;
    std::optional<std::uint32_t> everywhere_; // answers all of BAR0
    std::map<std::string, std::uint32_t, std::less<>> blocks_;
    std::map<std::uint64_t, std::uint32_t> replaced_;
    std::map<std::uint64_t, Bits> bits_;
    std::set<std::uint64_t> stuck_;
    std::optional<RandomReads> random_;
    std::vector<RunlistEvent> move_runlist_;
    std::vector<RunlistEvent> rotate_runlist_;
    std::vector<Repeated> move_window_;
};

} // namespace nvmodel
