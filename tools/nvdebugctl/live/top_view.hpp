// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "lib/live/view_lines.hpp"

namespace nvdebugctl {

using namespace nvdebug::live;

/// The view of `top`. It shows the summary of an interval, with a line for each GPU and a line for
/// each task on each engine.
class TopView {
  public:
    /// Handles a key.
    /// @return true: the view ends
    bool handle(int key);
    bool paused() const { return paused_; }

    /// Returns at most as many lines as fit.
    /// @param summary the data of nvdebug/record
    /// @param troubles sentences about the GPUs that are missing from the summary
    [[nodiscard]] std::vector<ViewLine> lines(const Json &summary,
                                              const std::vector<std::string> &troubles,
                                              std::chrono::milliseconds interval, Size size);

    enum class Order { engine, share, turns, name };

  private:
    Order order_ = Order::engine;
    bool paused_ = false, help_ = false;
    Scroll scroll_;
};

} // namespace nvdebugctl
