// SPDX-License-Identifier: MIT OR GPL-2.0
#include "printer.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "goals.hpp"

namespace nvqos {

Outcome<void> write(const std::string &text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout))
        return fail(failed, std::string("stdout cannot be written: ") + std::strerror(errno));
    return {};
}

void Printer::print_line(const Report &report, const qos::Settings &settings) {
    if (form_ != Form::json)
        return;
    if (is_stdout_ready())
        print(json_line(report, settings, utc_now(), left_out_));
    else
        left_out_++;
}

bool Printer::prints_tables() const {
    return form_ == Form::table && is_stdout_ready();
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
    if (const auto written = write(text); !written && !std::exchange(has_warned_, true))
        warn(written.error().sentence + "; goals are kept on");
}

} // namespace nvqos
