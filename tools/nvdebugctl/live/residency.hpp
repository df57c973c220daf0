// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How often each TSG was on an engine, estimated from the last samples.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sample.hpp"

namespace nvdebugctl {

struct EngineResidency {
    struct Part {
        nvdebug::Occupant who;
        double part; ///< of the samples, 0 to 1
    };
    std::vector<Part> parts;    ///< largest first
    std::optional<double> busy; ///< empty: not known in any sample
};

class Residency {
  public:
    /// An engine in one sample.
    struct Seen {
        std::optional<nvdebug::Occupant> who; ///< empty: no occupant
        std::optional<bool> busy;             ///< empty: not known
    };

    /// @param window estimates are of so many samples at most.
    explicit Residency(std::size_t window);

    /// A sample without readable engines does not count.
    void add(const Sample &sample);

    /// That count.
    std::size_t samples() const { return samples_; }
    std::size_t window() const { return window_; }

    /// Those samples, oldest first; nullptr: the engine could not be read.
    [[nodiscard]] std::vector<const Seen *> history(const std::string &engine) const;

    /// Empty with fewer than two samples, and for an engine that cannot be read.
    [[nodiscard]] std::optional<EngineResidency> of(const std::string &engine) const;

  private:
    std::size_t window_, samples_ = 0;
    /// In those samples; empty: it could not be read.
    std::map<std::string, std::deque<std::optional<Seen>>> seen_;
};

} // namespace nvdebugctl
