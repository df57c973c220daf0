// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/control.hpp"
#include "text.hpp"

#include <charconv>
#include <limits>

namespace nvdebug {
namespace {

/** As strtoul with base 0: decimal, `0x…` or `0…`. */
std::optional<std::uint32_t> id_of(std::string_view text) {
    int base = 10;
    if (text::take_prefix(text, "0x") || text::take_prefix(text, "0X"))
        base = 16;
    else if (text.size() > 1 && text.front() == '0')
        base = 8;
    std::uint32_t id = 0;
    const char *const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, id, base);
    if (error != std::errc() || stop != end)
        return std::nullopt;
    return id;
}

} // namespace

Result<Target> parse_target(std::string_view text) {
    std::string_view rest = text;
    const bool with_runlist = text.find(':') != text.npos;
    const auto first = id_of(text::take_until(rest, ':'));
    const auto second = with_runlist ? id_of(rest) : first;
    if (!first || !second)
        return tl::unexpected(Error{ErrorCode::invalid, 0, "",
                                    "'" + text::quote(text) +
                                        "' names no channel or TSG; write ID or RUNLIST:ID, with "
                                        "numbers as 12, 0xc or 014"});
    return Target{with_runlist ? first : std::nullopt, *second};
}

std::string to_string(const Target &target) {
    const std::string id = std::to_string(target.id);
    return target.runlist ? std::to_string(*target.runlist) + ":" + id : id;
}

} // namespace nvdebug
