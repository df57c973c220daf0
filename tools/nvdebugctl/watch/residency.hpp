// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Who was on an engine how often: estimated from the last samples. */
#ifndef NVDEBUGCTL_WATCH_RESIDENCY_HPP
#define NVDEBUGCTL_WATCH_RESIDENCY_HPP

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "watch/sample.hpp"

namespace nvdebugctl {

struct EngineResidency {
    struct Part {
        nvdebug::Occupant who;
        double part; ///< of the samples, 0 to 1
    };
    std::vector<Part> parts;    ///< largest first
    std::optional<double> busy; ///< empty: no sample told
};

class Residency {
  public:
    /** @param window estimates are of so many samples at most. */
    explicit Residency(std::size_t window);

    /** A sample whose engines could not be read does not count. */
    void add(const Sample &sample);

    /** That count. */
    std::size_t samples() const { return seen_.size(); }

    /** Empty with fewer than two samples, and for an engine that does not tell. */
    std::optional<EngineResidency> of(const std::string &engine) const;

  private:
    struct Seen {
        std::optional<nvdebug::Occupant> who;
        std::optional<bool> busy;
    };
    std::size_t window_;
    std::deque<std::map<std::string, Seen>> seen_; ///< of engines that tell
};

} // namespace nvdebugctl

#endif
