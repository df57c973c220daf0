// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/cli/message.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/base/lines.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"

namespace nvdebug::cli {
namespace {

constexpr std::size_t usual_columns = 80, most_columns = 1000;

int write_to(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno != EINTR)
            return errno;
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return 0;
}

} // namespace

std::size_t columns_of(int descriptor) {
    if (const char *const named = std::getenv("COLUMNS"))
        if (const auto columns = base::parse_whole(named, 1, most_columns))
            return static_cast<std::size_t>(*columns);
    winsize size{};
    if (isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return usual_columns;
}

std::optional<std::size_t> terminal_width(int descriptor) {
    return isatty(descriptor) ? std::optional(columns_of(descriptor)) : std::nullopt;
}

std::string paragraph(std::string_view sentence, int descriptor) {
    if (!isatty(descriptor))
        return std::string(sentence) + "\n";
    const std::size_t columns = columns_of(descriptor);
    std::string lines;
    for (const std::string &line : base::break_lines(
             sentence, [&](std::string_view each) { return base::width_of(each) <= columns; }))
        lines += line + "\n";
    return lines;
}

std::string message(std::string_view program, std::string_view sentence) {
    return paragraph(std::string(program) + ": " + base::printable(sentence), STDERR_FILENO);
}

void say(std::string_view program, std::string_view sentence) {
    // If stderr is closed, the program goes on.
    static_cast<void>(write_to(STDERR_FILENO, message(program, sentence)));
}

int write_out(std::string_view text) {
    return write_to(STDOUT_FILENO, text);
}

std::string error_json(std::string_view program, std::string_view version, std::string_view code,
                       std::string_view sentence) {
    using Json = nlohmann::ordered_json;
    const Json document = {
        {"schema", "nvdebug/error"},
        {"schema_version", schema_version},
        {"tool", std::string(program) + " " + std::string(version)},
        {"source", nullptr},
        {"gpu", nullptr},
        {"missing", Json::array()},
        {"error", {{"code", code}, {"errno", nullptr}, {"path", nullptr}, {"message", sentence}}}};
    return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace nvdebug::cli
