// SPDX-License-Identifier: MIT OR GPL-2.0
#include "output.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

#include "printable.hpp"

namespace nvdebugctl {

void say(const std::string &sentence) {
    const std::string line = fmt::format("nvdebugctl: {}\n", printable(sentence));
    // where nobody can be told, what was asked for is done all the same
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
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
                Failure({nvdebug::code_of_errno(number), number, "",
                         fmt::format("cannot write to stdout: {}", strerror(number))}));
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

bool Output::is_terminal() {
    return isatty(STDOUT_FILENO) == 1;
}

} // namespace nvdebugctl
