// SPDX-License-Identifier: MIT OR GPL-2.0
#include <fmt/format.h>

#include "control/carry_out.hpp"
#include "page.hpp"
#include "units.hpp"

namespace nvdebugctl {
namespace {

/** `channel 0:5 enabled: yes -> no` */
std::string change_line(const Json &change, bool dry) {
    const std::string property = change["property"];
    std::string subject = change["object"];
    for (const char *key : {"runlist", "id"})
        if (!change[key].is_null())
            subject += (subject.find(' ') == subject.npos ? " " : ":") + change[key].dump();
    std::string line =
        fmt::format("{} {}: {}", subject, without_unit(property), shown(property, change["old"]));
    return dry ? line : line + " -> " + shown(property, change["new"]);
}

} // namespace

void show_control(const Json &data, Page &page) {
    const bool dry = data["dry_run"].get<bool>();
    if (dry)
        page.line(fmt::format("would write \"{}\" to {}", data["write"]["text"].get<std::string>(),
                              data["write"]["file"].get<std::string>()));
    for (const Json &change : data["changes"])
        page.line(change_line(change, dry));
    if (dry || !data["lease"].get<bool>())
        return;
    const Json &seconds = data["lease_seconds"];
    page.line(seconds.is_null() ? "until interrupted (Ctrl-C)"
                                : fmt::format("for {} s (Ctrl-C ends it sooner)", seconds.dump()));
}

} // namespace nvdebugctl
