// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Requests to NVIDIA's driver, which serves them one at a time in their order.
#pragma once

#include <deque>

#include "host.hpp"

namespace simulation {

/// Asks NVIDIA's driver for a timeslice or a pause of one task.
struct Request {
    std::size_t task;
    enum class What { timeslice, pause, resume } what;
    std::int64_t driver_us = 0; ///< with What::timeslice
};

/// Changes a TSG as a request wants it.
inline void serve(const Request &request, Host &host, std::size_t tsg, Ns now) {
    if (request.what == Request::What::timeslice)
        host.set_timeslice(tsg, request.driver_us, now);
    else
        host.set_paused(tsg, request.what == Request::What::pause, now);
}

class Requests {
  public:
    /// @param takes one request takes so long
    explicit Requests(Ns takes) : takes_(takes) {}

    void add(const Request &request, Ns now) {
        requests_.push_back(request);
        if (requests_.size() == 1)
            due_ = now + takes_;
    }
    /// Returns when the first request is to be served; never: there is none.
    Ns due() const { return due_; }
    /// Removes the first request, and begins the next one.
    Request take(Ns now) {
        const Request first = requests_.front();
        requests_.pop_front();
        due_ = requests_.empty() ? never : now + takes_;
        return first;
    }

  private:
    Ns takes_;
    std::deque<Request> requests_;
    Ns due_ = never;
};

} // namespace simulation
