// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Prometheus' text format, version 0.0.4:
/// https://prometheus.io/docs/instrumenting/exposition_formats/
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nvdebug::exporter {

struct Label {
    std::string name, value;
};
using Labels = std::vector<Label>;

struct Quantile {
    double part, value; ///< `part` of the samples are at most `value`
};

/// Metrics by family, in the order in which the families are first named. The caller gives valid
/// names of families and labels, and one type for each family. Values of labels and help texts may
/// be any UTF-8.
class TextFormat {
  public:
    void counter(const std::string &family, const std::string &help, const Labels &labels,
                 double value);
    void gauge(const std::string &family, const std::string &help, const Labels &labels,
               double value);
    void summary(const std::string &family, const std::string &help, const Labels &labels,
                 std::uint64_t count, double sum, const std::vector<Quantile> &quantiles);

    /// Returns the text of all metrics. A number has as few digits as give the same double when it
    /// is read.
    [[nodiscard]] std::string text() const;

  private:
    std::string &lines_of(const std::string &family, const std::string &help, const char *type);

    std::vector<std::string> families_; ///< the lines of each family
    std::map<std::string, std::size_t> place_;
};

} // namespace nvdebug::exporter
