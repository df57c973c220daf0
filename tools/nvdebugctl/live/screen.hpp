// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The terminal while the live view has it.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "view_lines.hpp"

namespace nvdebugctl {

/// Gives the terminal back as it was when it ends, however the view is left.
class Screen {
  public:
    /// nullptr: nothing is known about this terminal (TERM).
    [[nodiscard]] static std::unique_ptr<Screen> open(bool color);

    Screen(const Screen &) = delete;
    Screen &operator=(const Screen &) = delete;
    ~Screen();

    Size size() const;
    void draw(const std::vector<ViewLine> &lines);

    struct Event {
        enum class Kind { time_is_up, key, resized, signal, hung_up } kind;
        int value; ///< of a key (a character or a Key) or a signal
    };
    Event wait(std::chrono::milliseconds at_most);

  private:
    struct Terminal;
    explicit Screen(std::unique_ptr<Terminal> terminal);
    std::unique_ptr<Terminal> terminal_;
};

} // namespace nvdebugctl
