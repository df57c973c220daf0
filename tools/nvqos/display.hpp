// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The output of a running nvqos: a view in place on a terminal, text elsewhere.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <poll.h>
#include <string>
#include <vector>

#include "lib/live/screen.hpp"
#include "report.hpp"

namespace nvqos {

/// Returns how wide lines for stdout may be; empty: it is no terminal.
std::optional<std::size_t> width_of_stdout();

/// Returns whether PIPE_BUF bytes can be written without blocking: goals are kept even if the
/// reader is slow or the terminal is stopped.
/// @param wait_ms the longest wait for the reader
bool is_ready(int descriptor, int wait_ms = 0);

/// The state of all GPUs.
struct Shown {
    std::string title;
    std::vector<Json> epochs;            ///< of each GPU, as epoch_json() returns them
    std::vector<std::string> notes = {}; ///< sentences below the table
};

/// Returns the state as text.
/// @param width in columns, for a terminal; empty: lines are as wide as they are
std::string text_of(const Shown &shown, std::optional<std::size_t> width);

/// The lines of the view in place: they scroll, and there is help.
class LiveView {
  public:
    /// Returns true for a key that ends the program.
    bool handle(int key);
    /// Returns the lines that fit. @param said messages since the start
    std::vector<nvdebug::live::ViewLine>
    lines(const Shown &shown, const std::vector<std::string> &said, nvdebug::live::Size size);

  private:
    bool help_ = false;
    nvdebug::live::Scroll scroll_;
};

/// Messages of all threads, for stderr. They are kept while a view has the terminal, or nobody reads
/// stderr, and printed later.
class Messages {
  public:
    Messages() = default;
    Messages(const Messages &) = delete;
    Messages &operator=(const Messages &) = delete;
    /// Prints the messages that are kept, as long as they are read.
    ~Messages() { release(); }

    void say(const std::string &sentence);
    void keep();
    void release();
    /// Returns the last messages that are kept.
    std::vector<std::string> last() const;

  private:
    void print(int wait_ms);

    mutable std::mutex lock_;
    bool keeps_ = false;
    std::deque<std::string> kept_;
    std::uint64_t dropped_ = 0;
};

class Display {
  public:
    /// Returns whether this terminal can have a view in place: it reads keys, and the program is
    /// in its foreground.
    static bool is_possible();

    Display() = default;
    Display(const Display &) = delete;
    Display &operator=(const Display &) = delete;
    ~Display() { close(); }

    /// Returns the object that takes messages from all threads, which may outlive the display.
    const std::shared_ptr<Messages> &messages() const { return messages_; }
    /// Takes the terminal. Adds a message with the reason if it cannot be drawn on.
    void open();
    /// Gives the terminal back, and prints the messages.
    void close();
    bool is_open() const { return screen_ != nullptr; }
    void draw(Shown shown);

    void add_to(std::vector<pollfd> &awaited) const;
    /// Handles keys and sizes. Returns the signal that came, SIGINT for the key that ends the
    /// program; 0: none.
    int take_events();

  private:
    void draw();

    const std::shared_ptr<Messages> messages_ = std::make_shared<Messages>();
    std::unique_ptr<nvdebug::live::Screen> screen_;
    LiveView view_;
    std::optional<Shown> shown_;
};

} // namespace nvqos
