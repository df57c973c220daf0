// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Goals and what came of them as Prometheus reads them from a file: the textfile collector
/// of node_exporter. Names and labels are in docs/qos.md.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "failure.hpp"
#include "lib/base/clock_state.hpp"
#include "tools/nvqos/keep/gpu_report.hpp"

namespace nvqos {

class Metrics {
  public:
    /// Adds an epoch that has ended on a GPU.
    void add(const Report &report);
    /// Sets whether goals are kept on the GPU now. For a GPU that is left out, text() has that
    /// alone.
    void set_up(std::uint32_t gpu, bool is_up);
    /// Sets the state of the clock; empty: no tenant needs it.
    void set_clock(std::optional<nvdebug::base::ClockVerdict> clock) { clock_ = std::move(clock); }
    /// Forgets all counts, for other goals.
    void clear() { gpus_.clear(); }
    /// Returns Prometheus' text format. Counters begin with the goals.
    std::string text() const;

    /// Replaces the file @p path, so that no reader sees a part of it. All users may read it. Fails
    /// with a sentence.
    Outcome<void> write(const std::string &path) const;

  private:
    struct Sums {
        qos::Ns used = 0, backlogged = 0;
        std::uint64_t turns = 0;
    };
    /// A tenant's name, and how many tenants before it have the same name.
    using Key = std::pair<std::string, std::ptrdiff_t>;
    struct OfGpu {
        Report last;
        std::vector<Key> keys; ///< of the last report's tenants
        std::map<Key, Sums> sums;
        std::uint64_t epochs = 0;
    };
    std::map<std::uint32_t, OfGpu> gpus_;
    std::map<std::uint32_t, bool> up_;
    std::optional<nvdebug::base::ClockVerdict> clock_;
};

} // namespace nvqos
