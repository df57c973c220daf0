// SPDX-License-Identifier: MIT OR GPL-2.0
#include "missed.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "lib/base/printable.hpp"
#include "tools/nvqos/goals.hpp"

namespace nvqos {

void Missed::add(std::optional<bool> is_kept, const std::string &now) {
    of++;
    unseen += !is_kept;
    if (is_kept.value_or(true))
        return;
    epochs++;
    last = now;
    if (first.empty())
        first = now;
}

void add_missed(std::vector<Missed> &list, const Missed &one) {
    constexpr std::size_t most = 100;
    auto at = std::ranges::find_if(list, [&](const Missed &other) {
        return other.tenant == one.tenant && other.goal == one.goal;
    });
    if (at == list.end() && list.size() < most) {
        list.push_back(one);
        return;
    }
    if (at == list.end()) {
        if (!list.back().tenant.empty())
            list.push_back({"", {}});
        at = list.end() - 1;
    }
    at->epochs += one.epochs;
    at->of += one.of;
    at->unseen += one.unseen;
    // Times are of one form, so that they are ordered as texts.
    if (!one.first.empty()) {
        at->first = at->first.empty() ? one.first : std::min(at->first, one.first);
        at->last = std::max(at->last, one.last);
    }
}

bool is_too_often(const Missed &missed) {
    return 100 * (missed.epochs + missed.unseen) > missed.of;
}

std::string text_of(const Missed &missed) {
    const std::string who = missed.tenant.empty() ? std::string("goals of more tenants")
                                                  : nvdebug::base::printable(missed.tenant) + ": " +
                                                        text_of(missed.goal);
    const std::string all = fmt::format("{} epoch{}", missed.of, missed.of == 1 ? "" : "s");
    constexpr const char *reason = "because turns do not show it, switches were lost, or tasks are "
                                   "clients of an MPS server";
    if (missed.epochs == 0)
        return fmt::format("{} could not be seen at the end of {} of {}, {}", who, missed.unseen,
                           all, reason);
    const std::string when = missed.first == missed.last
                                 ? "at " + missed.first
                                 : fmt::format("between {} and {}", missed.first, missed.last);
    const std::string text =
        fmt::format("{} {} not kept at the end of {} of {}, {}", who,
                    missed.tenant.empty() ? "were" : "was", missed.epochs, all, when);
    return missed.unseen
               ? fmt::format("{}; at the end of {} more epochs this could not be seen, {}", text,
                             missed.unseen, reason)
               : text;
}

} // namespace nvqos
