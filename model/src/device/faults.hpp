// SPDX-License-Identifier: MIT OR GPL-2.0
// Scripted faults: what goes wrong between the guest and the device.
#pragma once

#include "device/access.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace nvmodel {

class Faults {
  public:
    /// Adds one; `words` is a specification of docs/model.md split at blanks, "none" removes all.
    /// Throws ConfigError.
    void add(std::span<const std::string> words);

    /// Counts an access; true if the GPU is off the bus for it.
    bool takes_off_the_bus();

    /// What a read gives instead of the device's answer.
    [[nodiscard]] std::optional<std::uint64_t> replaces(const Access &access) const;

    /// True if a write changes nothing.
    [[nodiscard]] bool drops(const Access &access) const;

    /// What the driver does behind the reader's back.
    struct Driver {
        std::function<void(unsigned runlist)> resubmit;
        std::function<void()> move_window;
    };
    /// To be called after every read of PRAMIN.
    void after_pramin_read(const Driver &driver);

  private:
    struct Repeated {
        std::uint64_t every;
        std::uint64_t times = UINT64_MAX; // that are left
        std::uint64_t reads = 0;
        bool due() {
            if (times == 0 || ++reads < every)
                return false;
            reads = 0;
            times--;
            return true;
        }
    };
    struct MoveRunlist {
        unsigned runlist;
        Repeated when;
    };

    std::optional<std::uint64_t> ones_after_; // accesses that still work
    bool pri_error_ = false;
    std::map<std::uint64_t, std::uint32_t> replaced_;
    std::set<std::uint64_t> stuck_;
    std::vector<MoveRunlist> move_runlist_;
    std::vector<Repeated> move_window_;
};

} // namespace nvmodel
