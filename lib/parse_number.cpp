// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/parse.hpp"
#include "text.hpp"

namespace nvdebug {

Result<std::uint64_t> parse_number(std::string_view text) {
    text::Scanner scanner(text);
    std::uint64_t number = 0;
    std::string_view line;
    if (scanner.next(line))
        text::read({scanner, "the first line", text::trim(line)}, number);
    else
        scanner.fail("a number is missing");
    return scanner.finish(number);
}

} // namespace nvdebug
