// SPDX-License-Identifier: MIT OR GPL-2.0
#include "missed.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "lib/base/printable.hpp"
#include "tools/nvqos/goals.hpp"

namespace nvqos {

void Missed::add(bool is_kept, const std::string &now) {
    of++;
    if (is_kept)
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
    // Times are of one form, so that they are ordered as texts.
    if (!one.first.empty()) {
        at->first = at->first.empty() ? one.first : std::min(at->first, one.first);
        at->last = std::max(at->last, one.last);
    }
}

bool is_too_often(const Missed &missed) {
    return 100 * missed.epochs > missed.of;
}

std::string text_of(const Missed &missed) {
    const std::string who = missed.tenant.empty() ? std::string("goals of more tenants")
                                                  : nvdebug::base::printable(missed.tenant) + ": " +
                                                        text_of(missed.goal);
    const std::string when = missed.first == missed.last
                                 ? "at " + missed.first
                                 : fmt::format("between {} and {}", missed.first, missed.last);
    return fmt::format("{} {} not kept at the end of {} of {} epoch{}, {}", who,
                       missed.tenant.empty() ? "were" : "was", missed.epochs, missed.of,
                       missed.of == 1 ? "" : "s", when);
}

} // namespace nvqos
