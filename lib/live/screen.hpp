// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The terminal while the live view has it.
#pragma once

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "lib/live/view_lines.hpp"

namespace nvdebug::live {

/// Returns a sentence on why Screen::open() failed, which ends with what happens @p instead.
[[nodiscard]] std::string sentence_on_no_screen(const std::string &instead);

/// Gives the terminal back as it was when it ends, however the view is left.
class Screen {
  public:
    /// nullptr: nothing is known about this terminal (TERM).
    [[nodiscard]] static std::unique_ptr<Screen> open(bool color);

    /// The signals that wait() returns. A program with threads blocks them before it starts these:
    /// one that ends the program elsewhere would leave the terminal as it is.
    [[nodiscard]] static sigset_t signals();

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
    /// Returns the descriptors that wait() waits for, so that a program can wait for more besides.
    /// Their order is keys, then signals.
    std::vector<int> descriptors() const;

  private:
    struct Terminal;
    explicit Screen(std::unique_ptr<Terminal> terminal);
    std::unique_ptr<Terminal> terminal_;
};

} // namespace nvdebug::live
