// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How long a lease is held: until its time is up or a signal interrupts it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "cli/context.hpp"

namespace nvdebugctl {

/// The time of a lease; it starts with the object. Whatever ends the process ends its leases, so
/// before wait() signals just do that, and so does the time when it is up while stdout blocks.
class LeaseTime {
  public:
    using Seconds = std::chrono::duration<double>;

    /// @param limit none: until a signal comes
    explicit LeaseTime(std::optional<Seconds> limit);

    /// Returns when the time is up, or when SIGINT, SIGTERM, SIGHUP or SIGTSTP comes (unless it is
    /// ignored, as under nohup). The result of the lease can still be printed then.
    /// @param each_second is called meanwhile, if there is one
    /// @return the time since the start
    [[nodiscard]] Seconds wait(const std::function<void()> &each_second = nullptr) const;

  private:
    Seconds elapsed() const { return std::chrono::steady_clock::now() - start_; }

    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::optional<Seconds> limit_;
};

/// The value of --for, in seconds: 0 (until interrupted) is empty.
[[nodiscard]] Outcome<std::optional<LeaseTime::Seconds>> parse_lease_time(const std::string &text);

/// Command::check of a control with leases: the value of --for.
[[nodiscard]] Outcome<void> check_lease_time(const Context &context);

} // namespace nvdebugctl
