// SPDX-License-Identifier: MIT OR GPL-2.0
#include "printer.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <unistd.h>
#include <utility>

#include "goals.hpp"

namespace nvqos {

namespace {

std::string sentence_on_stdout(int error) {
    return std::string("stdout cannot be written: ") + std::strerror(error);
}

} // namespace

Outcome<void> write(const std::string &text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout))
        return fail(failed, sentence_on_stdout(errno));
    return {};
}

Printer::~Printer() {
    constexpr int patience_ms = 1000;
    while (!unsent_.empty() && is_ready(STDOUT_FILENO, patience_ms) && send())
        continue;
}

void Printer::print_line(const Report &report, const qos::Settings &settings) {
    if (form_ != Form::json)
        return;
    if (is_done())
        print(json_line(report, settings, utc_now(), left_out_));
    else
        left_out_++;
}

bool Printer::prints_tables() {
    return form_ == Form::table && is_done();
}

void Printer::show(Shown shown) {
    if (!prints_tables())
        return;
    if (display_.is_open())
        display_.draw(std::move(shown));
    else
        print(text_of(shown, width_of_stdout()) + "\n");
}

void Printer::print_waits(const std::string &sentences) {
    if (prints_tables())
        print(sentences);
}

void Printer::print(const std::string &text) {
    unsent_ += text;
    send();
}

/// Prints the rest of the previous report. Returns whether the next one can be printed.
bool Printer::is_done() {
    send();
    return unsent_.empty() && is_ready(STDOUT_FILENO);
}

/// Writes what stdout takes now. Returns false if that is nothing. A pipe that is ready has room for
/// PIPE_BUF bytes (pipe(7)), and a longer write would wait for its reader.
bool Printer::send() {
    bool any = false;
    while (!unsent_.empty() && is_ready(STDOUT_FILENO)) {
        const std::size_t most = std::min<std::size_t>(unsent_.size(), PIPE_BUF);
        const ssize_t sent = ::write(STDOUT_FILENO, unsent_.data(), most);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (sent < 0 && !std::exchange(has_warned_, true))
            warn(sentence_on_stdout(errno) + "; goals are kept on");
        unsent_.erase(0, sent < 0 ? std::string::npos : static_cast<std::size_t>(sent));
        any = true;
    }
    return any;
}

} // namespace nvqos
