// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The requests of services, by what the pages of their tasks show: how long each took, and
/// whether one is open. A request lasts from the first launch until the program has waited for the
/// last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "lib/partition/state.hpp"
#include "lib/qos/waits.hpp"

namespace nvqos {

/// The times of a service's requests.
struct Requests {
    qos::Waits took = {};     ///< all requests
    std::uint64_t recent = 0; ///< requests that ended in the last second
    std::uint64_t late = 0;   ///< recent requests that took longer than the goal
};

/// How far the requests of one task were read.
struct RequestsRead {
    std::uint32_t begun = 0, finished = 0;
    std::uint32_t lost = 0; ///< requests without an end
    std::uint64_t begun_at_us = 0;
};

class Services {
  public:
    /// Begins a new list of services. end_list() forgets services that were not added again.
    void begin_list();
    /// Adds a process of a service to the list.
    /// @param p99 the tenant's goal; requests are forgotten if the goal was another one before
    /// @param shows_requests its page shows requests
    void add_process(std::size_t tenant, qos::Ns p99, bool shows_requests);
    void end_list() { before_.clear(); }

    /// Takes the requests that have ended, and returns whether one is open.
    /// @param now in us of CLOCK_MONOTONIC
    bool read(std::size_t tenant, const nvtaskset::Work &work, RequestsRead &read,
              std::uint64_t now);
    /// Returns what requests took; none: the tenant is no service, or nvtaskset did not start all
    /// of its processes.
    std::optional<Requests> requests(std::size_t tenant, std::uint64_t now) const;

  private:
    struct Service {
        std::size_t processes = 0, seen = 0; ///< seen: with a page that shows requests
        qos::Waits took = {};
        qos::Ns p99 = 0; ///< its goal
        /// The end and the length of each request of the last second.
        std::deque<std::pair<std::uint64_t, qos::Ns>> recent = {};
    };
    std::map<std::size_t, Service> services_, before_; ///< by tenant
};

} // namespace nvqos
