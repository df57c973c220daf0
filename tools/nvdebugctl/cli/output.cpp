// SPDX-License-Identifier: MIT OR GPL-2.0
#include "output.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <langinfo.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/cli/message.hpp"
#include "text.hpp"

namespace nvdebugctl {

void say(const std::string &sentence) {
    nvdebug::cli::say("nvdebugctl", sentence);
}

Outcome<void> Output::write(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0) {
            const int number = errno;
            if (number == EINTR)
                continue;
            broken_pipe_ = number == EPIPE;
            return tl::unexpected(
                Failure(failed, {nvdebug::code_of_errno(number), number, "",
                                 fmt::format("cannot write to stdout: {}", strerror(number))}));
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

bool Output::is_terminal() {
    return isatty(STDOUT_FILENO) == 1;
}

std::optional<int> descriptor_named(const std::string &path) {
    if (path == "-" || path == "/dev/stdout")
        return STDOUT_FILENO;
    if (path == "/dev/stderr")
        return STDERR_FILENO;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        int number = 0;
        const std::string_view rest =
            std::string_view(path).substr(std::min(folder.size(), path.size()));
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        if (path.starts_with(folder) && error == std::errc() && end == rest.data() + rest.size() &&
            number >= 0)
            return number;
    }
    return std::nullopt;
}

bool use_color(const std::optional<std::string> &when) {
    if (when == "always")
        return true;
    if (when == "never")
        return false;
    const char *const no_color = std::getenv("NO_COLOR");
    const char *const term = std::getenv("TERM");
    return Output::is_terminal() && !(no_color && *no_color) &&
           !(term && std::string_view(term) == "dumb");
}

Terminal this_terminal() {
    // Only the characters follow the locale: numbers keep their decimal point.
    std::setlocale(LC_CTYPE, "");
    Terminal terminal{std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0, std::nullopt};
    winsize size{};
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        terminal.width = size.ws_col;
    return terminal;
}

} // namespace nvdebugctl
