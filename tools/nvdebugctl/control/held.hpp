// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file How long a lease is held: until its time is up or somebody interrupts. */
#ifndef NVDEBUGCTL_CONTROL_HELD_HPP
#define NVDEBUGCTL_CONTROL_HELD_HPP

#include <chrono>
#include <optional>
#include <string>

#include "failure.hpp"

namespace nvdebugctl {

/**
 * The time of a lease; it starts with the object. Whatever ends the process ends its leases, so
 * before wait() signals just do that, and so does the time when it is up while stdout blocks.
 */
class LeaseTime {
  public:
    using Seconds = std::chrono::duration<double>;

    /** @param limit none: until a signal comes */
    explicit LeaseTime(std::optional<Seconds> limit);

    /**
     * Returns when the time is up, or when SIGINT, SIGTERM, SIGHUP or SIGTSTP comes (unless it is
     * ignored, as under nohup): then there is somebody to be told what became of the lease.
     * @return the time since the start
     */
    Seconds wait() const;

  private:
    Seconds elapsed() const { return std::chrono::steady_clock::now() - start_; }

    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::optional<Seconds> limit_;
};

/** What --for says, in seconds: 0 (until interrupted) is empty. */
Outcome<std::optional<LeaseTime::Seconds>> parse_lease_time(const std::string &text);

} // namespace nvdebugctl

#endif
