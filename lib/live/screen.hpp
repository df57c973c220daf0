// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The terminal while a live view uses it.
#pragma once

#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "lib/live/view_lines.hpp"

namespace nvdebug::live {

/// Returns a sentence on why Screen::open() failed. @p instead is what the program does now.
[[nodiscard]] std::string sentence_on_no_screen(const std::string &instead);

/// A view's terminal. Its end restores the terminal, however the view ends.
class Screen {
  public:
    /// Returns nullptr if the terminal (TERM) is unknown.
    [[nodiscard]] static std::unique_ptr<Screen> open(bool color);

    /// Returns the signals that wait() returns. A program blocks them before it starts threads.
    /// Otherwise a thread could take a signal that ends the program, and the terminal would not be
    /// restored.
    [[nodiscard]] static sigset_t signals();

    Screen(const Screen &) = delete;
    Screen &operator=(const Screen &) = delete;
    ~Screen();

    Size size() const;
    void draw(const std::vector<ViewLine> &lines);

    struct Event {
        enum class Kind { time_is_up, key, resized, signal, hung_up } kind;
        int value; ///< the character or Key, or the signal
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
