// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "lib/live/view_lines.hpp"

namespace nvdebugctl {

using namespace nvdebug::live;

/// What `top` shows: the summary of an interval, a line for each GPU, and one for each task on each
/// engine.
class TopView {
  public:
    /// @return true: the view is to end.
    bool handle(int key);
    bool paused() const { return paused_; }

    /// No more than fit. @param summary as data of nvdebug/record @param troubles sentences about
    /// GPUs that are not in it
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
