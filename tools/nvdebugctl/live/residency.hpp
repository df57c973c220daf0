// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Estimates from the last samples how often each TSG was on an engine.
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
        double part; ///< part of the samples, 0 to 1
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

    /// @param window estimates use at most so many of the last samples
    explicit Residency(std::size_t window);

    /// Adds a sample. A sample in which no engine could be read does not count.
    void add(const Sample &sample);

    /// Returns the number of samples in use.
    std::size_t samples() const { return samples_; }
    std::size_t window() const { return window_; }

    /// Returns the samples of an engine, oldest first. An element is nullptr if the engine could
    /// not be read in that sample.
    [[nodiscard]] std::vector<const Seen *> history(const std::string &engine) const;

    /// Returns the estimate for an engine; empty: there are fewer than two samples, or the engine
    /// cannot be read.
    [[nodiscard]] std::optional<EngineResidency> of(const std::string &engine) const;

  private:
    std::size_t window_, samples_ = 0;
    /// The samples of each engine; an empty element: the engine could not be read.
    std::map<std::string, std::deque<std::optional<Seen>>> seen_;
};

} // namespace nvdebugctl
