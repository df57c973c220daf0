// SPDX-License-Identifier: MIT OR GPL-2.0
#include "changes.hpp"

#include "tools/nvqos/report.hpp"

namespace nvqos {
namespace {

std::string change_line(const Json &change) {
    return change.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

void Changes::begin(WatchedState now) {
    if (is_watched_)
        return;
    is_watched_ = true;
    last_ = std::move(now);
}

void Changes::end() {
    is_watched_ = false;
    lines_.clear();
    last_ = {};
}

void Changes::add_held(const HeldTenant &tenant) {
    if (is_watched_)
        lines_ += change_line({{"change", "held"},
                               {"name", tenant.name},
                               {"goal", text_of(tenant.goal)},
                               {"gpus", tenant.gpus}});
}

void Changes::add_end(const char *what, const std::string &name) {
    if (is_watched_)
        lines_ += change_line({{"change", what}, {"name", name}});
}

void Changes::compare(WatchedState now) {
    if (!is_watched_)
        return;
    for (const auto &[gpu, why] : now.gpus)
        if (const auto before = last_.gpus.find(gpu);
            before == last_.gpus.end() || before->second != why)
            lines_ += change_line({{"change", "gpu"},
                                   {"gpu", gpu},
                                   {"up", !why},
                                   {"why", why ? Json(*why) : Json()}});
    for (const auto &[place, kept] : now.kept) {
        const auto before = last_.kept.find(place);
        if (kept != (before == last_.kept.end() ? std::nullopt : before->second))
            lines_ += change_line({{"change", "kept"},
                                   {"gpu", place.first},
                                   {"name", place.second},
                                   {"kept", kept ? Json(*kept) : Json()}});
    }
    if (now.own != last_.own)
        lines_ += change_line({{"change", "own"}});
    last_ = std::move(now);
}

} // namespace nvqos
