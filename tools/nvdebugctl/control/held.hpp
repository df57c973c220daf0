// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file How long a lease is held: until its time is up or somebody interrupts. */
#ifndef NVDEBUGCTL_CONTROL_HELD_HPP
#define NVDEBUGCTL_CONTROL_HELD_HPP

#include <chrono>
#include <csignal>
#include <optional>
#include <string>

#include "failure.hpp"

namespace nvdebugctl {

/**
 * Keeps SIGINT, SIGTERM and SIGHUP back for as long as it lives, so that they end the wait and not
 * the process. Made before the lease is taken: nothing depends on it (a process that dies ends its
 * leases as well), but the user is told what became of it.
 */
class SignalHold {
  public:
    SignalHold();
    ~SignalHold();
    SignalHold(const SignalHold &) = delete;
    SignalHold &operator=(const SignalHold &) = delete;

    /** @param limit none: until a signal comes. Returns the time waited. */
    std::chrono::duration<double> wait(std::optional<std::chrono::duration<double>> limit) const;

  private:
    sigset_t signals_;
    sigset_t before_;
};

/** What --for says, in seconds: 0 (until interrupted) is empty. */
Outcome<std::optional<std::chrono::duration<double>>> parse_lease_time(const std::string &text);

} // namespace nvdebugctl

#endif
