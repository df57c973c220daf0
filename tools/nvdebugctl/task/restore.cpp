// SPDX-License-Identifier: MIT OR GPL-2.0
#include "restore.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "cli/json.hpp"
#include "cli/text.hpp"

namespace nvdebugctl {

Outcome<void> check_restore(const Context &context) {
    for (const std::string &word : context.words("PID"))
        if (!parse_id(word))
            return usage(fmt::format("'{}' is not the number of a process", word));
    return {};
}

Outcome<Document> restore_tasks(Context &context) {
    std::vector<std::uint32_t> pids;
    for (const std::string &word : context.words("PID"))
        pids.push_back(*parse_id(word));
    const auto restored = context.gpu().restore(pids);
    if (!restored)
        return tl::unexpected(Failure(restored.error()));
    for (const std::uint32_t pid : pids)
        if (std::ranges::find(restored->tasks, pid, &nvdebug::LeftOver::pid) ==
            restored->tasks.end())
            return fail(nvdebug::ErrorCode::not_found,
                        fmt::format("nothing of process {} was left changed on {}", pid,
                                    context.gpu().folder()));
    for (const std::string &trouble : restored->troubles)
        context.missing({nvdebug::ErrorCode::busy, 0, "", trouble});
    if (restored->tasks.empty() && restored->troubles.empty())
        context.note("no task was left changed");
    Json rows = Json::array();
    for (const nvdebug::LeftOver &task : restored->tasks)
        rows.push_back({{"pid", task.pid},
                        {"command", task.command.empty() ? Json() : Json(printable(task.command))},
                        {"channels", task.channels},
                        {"tsgs", task.tsgs},
                        {"restored", task.restored}});
    return Document{rows};
}

} // namespace nvdebugctl
