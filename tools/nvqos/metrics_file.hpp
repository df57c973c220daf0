// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The file of metrics (`--metrics`) of a running nvqos.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "metrics.hpp"

namespace nvqos {

/// Writes metrics into a file, and removes it at its end, because the file would look as if goals
/// were still kept.
class MetricsFile {
  public:
    /// @param path empty: no file is written
    explicit MetricsFile(std::optional<std::string> path) : path_(std::move(path)) {}
    MetricsFile(const MetricsFile &) = delete;
    MetricsFile &operator=(const MetricsFile &) = delete;
    ~MetricsFile();

    /// Returns the metrics that the next write() has.
    Metrics &metrics() { return metrics_; }
    /// Replaces the file. Fails with a sentence.
    Outcome<void> write();

  private:
    const std::optional<std::string> path_;
    Metrics metrics_;
    bool is_there_ = false;
};

} // namespace nvqos
