// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The reports of a running nvqos on stdout.
#pragma once

#include <cstdint>
#include <string>

#include "display.hpp"
#include "failure.hpp"

namespace nvqos {

/// Writes the text to stdout. Fails with a sentence.
Outcome<void> write(const std::string &text);

/// Prints reports in one form, and never waits for the reader of stdout. While stdout does not take
/// the whole of a report, further ones are left out. If it cannot be written, the printer warns once,
/// because goals are kept in any case.
class Printer {
  public:
    enum class Form {
        table, ///< in place on a terminal, or block after block
        json,  ///< a line for each report
        nothing
    };

    explicit Printer(Form form) : form_(form) {}
    Printer(const Printer &) = delete;
    Printer &operator=(const Printer &) = delete;
    /// Prints the rest of the last report, as long as it is read.
    ~Printer();

    Display &display() { return display_; }
    /// Prints a line, if the form is JSON.
    void print_line(const Report &report, const qos::Settings &settings);
    [[nodiscard]] bool prints_tables();
    /// Prints the table, if prints_tables().
    void show(Shown shown);
    /// Prints sentences on the whole run, if prints_tables().
    void print_waits(const std::string &sentences);
    void warn(const std::string &sentence) const { display_.messages()->say(sentence); }

  private:
    void print(const std::string &text);
    bool is_done();
    bool send();

    const Form form_;
    Display display_;
    std::string unsent_;         ///< the rest of the last report
    std::uint64_t left_out_ = 0; ///< lines that were not printed
    bool has_warned_ = false;
};

} // namespace nvqos
