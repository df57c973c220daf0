// SPDX-License-Identifier: MIT OR GPL-2.0
#include "events.hpp"

#include <fmt/format.h>

#include "lib/base/printable.hpp"

namespace drawing {

using nvdebug::Holder;
using nvdebug::base::printable;

std::string name_of(const Holder &who, const RecordedProcess *process) {
    constexpr std::uint32_t drivers_own = 0xffffffff;
    if (process && process->command)
        return fmt::format("{}[{}]", printable(*process->command), process->pid);
    if (who.pid == 0U)
        return "hidden";
    if (who.pid == drivers_own)
        return "the driver";
    if (who.pid)
        return fmt::format("pid {}", *who.pid);
    // Commands take a TSG or channel in this form: RUNLIST:ID.
    const std::string where = who.runlist ? fmt::format("{}:", *who.runlist) : std::string();
    if (who.tsg)
        return fmt::format("TSG {}{}", where, *who.tsg);
    if (who.channel)
        return fmt::format("channel {}{}", where, *who.channel);
    return "unknown";
}

} // namespace drawing
