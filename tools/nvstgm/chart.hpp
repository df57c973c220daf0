// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A picture of curves with their intervals.
#pragma once

#include <string>
#include <vector>

namespace nvstgm {

/// A point of a curve with its interval. y, low and high are from 0 to 1.
struct Dot {
    double x, y, low, high;
};

struct Line {
    std::string name;
    std::vector<Dot> dots;
};

/// @param source the origin of the numbers, printed below the picture
std::string chart(const std::string &title, const std::string &subtitle, const std::string &axis,
                  const std::vector<Line> &lines, const std::string &source);

} // namespace nvstgm
