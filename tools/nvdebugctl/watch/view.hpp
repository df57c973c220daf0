// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file What the live view shows, as lines: no terminal is needed to make them. */
#ifndef NVDEBUGCTL_WATCH_VIEW_HPP
#define NVDEBUGCTL_WATCH_VIEW_HPP

#include <chrono>
#include <string>
#include <vector>

#include "watch/residency.hpp"

namespace nvdebugctl {

/** How the user wants it, changed by keys. */
struct ViewSettings {
    enum class Order { device, busy, name };
    Order order = Order::device;
    bool folded = false; ///< one line a runlist
    bool paused = false;
    bool help = false;

    void cycle_order();
};

struct ViewLine {
    enum class Ink { plain, bold, dim };
    std::string text; ///< ASCII
    Ink ink = Ink::plain;
};

struct Shown {
    std::string gpu;    ///< who is watched
    std::string source; ///< `live`, `capture of …: one sample`
    const Sample &sample;
    const Residency &residency;
    std::chrono::milliseconds period;
};

std::vector<ViewLine> view_lines(const Shown &shown, const ViewSettings &settings);

} // namespace nvdebugctl

#endif
