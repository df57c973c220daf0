// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The time for which a lease is held: until its limit, or until a signal interrupts it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "cli/context.hpp"

namespace nvdebugctl {

/// The time of a lease, which starts when this object is made. Whatever ends the process also ends
/// its leases. So before wait(), signals end the process as usual, and so does a timer, if the
/// limit is reached while stdout blocks.
class LeaseTime {
  public:
    using Seconds = std::chrono::duration<double>;

    /// @param limit the lease's length; none: until a signal comes
    explicit LeaseTime(std::optional<Seconds> limit);

    /// Returns when the time is up, or when SIGINT, SIGTERM, SIGHUP or SIGTSTP comes, unless the
    /// signal is ignored (as under nohup). The caller can still print the result of the lease then.
    /// @param each_second is called once a second during the wait; nullptr: nothing is called
    /// @return the time since the start
    [[nodiscard]] Seconds wait(const std::function<void()> &each_second = nullptr) const;

  private:
    Seconds elapsed() const { return std::chrono::steady_clock::now() - start_; }

    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::optional<Seconds> limit_;
};

/// Parses the value of --for, in seconds. 0 means until interrupted, and returns an empty optional.
[[nodiscard]] Outcome<std::optional<LeaseTime::Seconds>> parse_lease_time(const std::string &text);

/// The Command::check of controls with leases: fails if the value of --for is not valid.
[[nodiscard]] Outcome<void> check_lease_time(const Context &context);

} // namespace nvdebugctl
