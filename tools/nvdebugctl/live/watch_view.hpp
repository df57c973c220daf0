// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The live view of `watch`.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "lib/live/view_lines.hpp"
#include "residency.hpp"

namespace nvdebugctl {

using namespace nvdebug::live;

struct WatchedGpu {
    std::string name; ///< `gpu0  GA100  0000:01:00.0`
    const Sample &sample;
    const Residency &residency;
};

/// The GPUs of one view. Their samples have the same number.
struct WatchedGpus {
    std::vector<WatchedGpu> gpus;
    std::string source; ///< `live`, `/proc`, `a capture`
    std::chrono::milliseconds period;
    bool still = false; ///< there is only one sample
};

/// The live view: the user's choices, which keys change, and the lines that result.
class WatchView {
  public:
    /// @param unicode bars are drawn with Unicode's block elements
    explicit WatchView(bool unicode) : unicode_(unicode) {}

    /// Handles a key.
    /// @return true: the view ends
    bool handle(int key);
    bool paused() const { return paused_; }

    /// Returns at most as many lines as fit.
    [[nodiscard]] std::vector<ViewLine> lines(const WatchedGpus &shown, Size size);

    enum class Order { device, busy, name };

  private:
    [[nodiscard]] std::vector<ViewLine> body(const WatchedGpus &shown, Size room);
    ViewLine keys(std::size_t count, std::size_t room) const;

    const bool unicode_;
    Order order_ = Order::device;
    /// The user's choice; empty: idle engines are folded if not all engines fit.
    std::optional<bool> fold_idle_;
    bool folds_idle_ = false; ///< whether idle engines are folded now
    bool all_residents_ = false, paused_ = false, help_ = false;
    std::size_t left_out_ = 0; ///< number of columns for which the screen is too narrow
    Scroll scroll_;
};

} // namespace nvdebugctl
