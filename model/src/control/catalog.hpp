// SPDX-License-Identifier: MIT OR GPL-2.0
// Finds board and workload files by name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace nvmodel {

/// A data folder: boards/NAME.json and workloads/NAME.json.
class Catalog {
  public:
    explicit Catalog(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// The file of a board or workload. The name is a path if there is a "/" in it. Throws
    /// ConfigError that lists the known names if there is no such file.
    [[nodiscard]] std::filesystem::path board(const std::string &name) const;
    [[nodiscard]] std::filesystem::path workload(const std::string &name) const;

    [[nodiscard]] std::vector<std::string> boards() const { return names("boards"); }
    [[nodiscard]] std::vector<std::string> workloads() const { return names("workloads"); }

  private:
    [[nodiscard]] std::vector<std::string> names(const std::string &kind) const;
    [[nodiscard]] std::filesystem::path find(const std::string &kind,
                                             const std::string &name) const;

    std::filesystem::path folder_;
};

} // namespace nvmodel
