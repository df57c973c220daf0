// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The units that this node has, and which of them nvqos can keep now.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "nvqos_state.hpp"

namespace nvdebug::kubernetes {

/// The tenants of containers with units have this name and the container's id behind it.
inline constexpr const char *tenant_prefix = "gpu-percent:";

/// The units of a GPU.
struct StockOfGpu {
    std::string uuid;
    unsigned healthy = 0; ///< units with lower numbers are healthy, and the others are not
    std::string why;      ///< the reason for which none is healthy; empty: some are
    std::optional<std::int64_t> numa_node = {};

    bool operator==(const StockOfGpu &) const = default;
};

/// Threads may use it at the same time.
class Stock {
  public:
    /// @param numa_node_of returns the NUMA node of a PCI address, if it is known
    Stock(unsigned units,
          std::function<std::optional<std::int64_t>(const std::string &)> numa_node_of)
        : units_(units), numa_node_of_(std::move(numa_node_of)) {}

    /// Takes a state of nvqos, or the reason why there is none. Each GPU that was once there stays,
    /// and its units are unhealthy while nvqos does not keep goals on it. Units for which nvqos has
    /// no promises left are unhealthy from the second state on that has none: what can be promised
    /// is from the last epoch, and the tenants are those of now. Returns a sentence about each GPU
    /// that changed.
    std::vector<std::string> take(const Outcome<NvqosState> &state);

    /// Returns the GPUs by UUID.
    [[nodiscard]] std::vector<StockOfGpu> gpus() const;
    [[nodiscard]] unsigned units() const { return units_; }

    /// A number that changes with the GPUs.
    [[nodiscard]] std::uint64_t version() const;
    /// Waits until the version differs from @p known, for @p patience at most.
    void wait(std::uint64_t known, std::chrono::milliseconds patience) const;

  private:
    struct Known {
        StockOfGpu stock;
        unsigned possible = 0; ///< units that could be healthy by the last state
    };

    const unsigned units_;
    const std::function<std::optional<std::int64_t>(const std::string &)> numa_node_of_;
    mutable std::mutex mutex_; ///< protects the members below
    mutable std::condition_variable changed_;
    std::map<std::string, Known> gpus_;
    std::uint64_t version_ = 1;
};

} // namespace nvdebug::kubernetes
