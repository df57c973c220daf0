// SPDX-License-Identifier: MIT OR GPL-2.0
#include "pod_name_thread.hpp"

#include <algorithm>
#include <utility>

namespace nvdebug::base {

PodNameThread::PodNameThread(std::vector<std::string> folders)
    : known_(std::move(folders)), thread_([this] { run(); }) {}

PodNameThread::~PodNameThread() {
    {
        const std::scoped_lock held(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

std::optional<PodName> PodNameThread::find(const Identity &id) {
    if (!id.container && !id.pod)
        return std::nullopt;
    const std::scoped_lock held(mutex_);
    bool wakes = !std::exchange(is_asked_, true);
    for (const auto *const key : {&id.container, &id.pod}) {
        if (!*key)
            continue;
        const auto at = asked_.find(**key);
        if (at != asked_.end()) {
            at->second.last = Clock::now();
        } else if (asked_.size() < most_ids) {
            asked_.emplace(**key, Asked{Clock::now()});
            waiting_++;
            wakes = true;
        }
    }
    if (wakes)
        changed_.notify_all();
    return known_.find(id);
}

bool PodNameThread::wait(std::chrono::milliseconds patience) {
    std::unique_lock held(mutex_);
    return changed_.wait_for(held, patience, [&] { return waiting_ == 0 || ending_; });
}

/// Returns the ids that were asked for lately, and forgets the others.
std::set<std::string> PodNameThread::take_ids() {
    const auto now = Clock::now();
    std::erase_if(asked_, [&](const auto &one) {
        return one.second.is_looked_for && now - one.second.last > keeps;
    });
    std::set<std::string> ids;
    for (const auto &[id, asked] : asked_)
        ids.insert(id);
    return ids;
}

void PodNameThread::run() {
    // A folder is looked at once a second at most, and at once for a new id. Reading it takes a
    // tenth of the time at most, because pods of others decide how long the folder is.
    constexpr std::chrono::seconds between{1};
    constexpr int rests = 9;
    Clock::time_point next{}, next_for_new{};
    std::unique_lock held(mutex_);
    PodNames names = known_;
    while (!ending_) {
        if (!is_asked_) {
            changed_.wait(held, [&] { return ending_ || is_asked_; });
            continue;
        }
        if (const auto due = waiting_ ? next_for_new : next; Clock::now() < due) {
            changed_.wait_until(held, due);
            continue;
        }
        is_asked_ = false;
        const std::set<std::string> ids = take_ids();
        held.unlock();
        const auto begin = Clock::now();
        names.look(ids);
        const auto end = Clock::now();
        next_for_new = end + rests * (end - begin);
        next = std::max(begin + between, next_for_new);
        held.lock();
        known_ = names;
        waiting_ = 0;
        for (auto &[id, asked] : asked_) {
            asked.is_looked_for = asked.is_looked_for || ids.contains(id);
            waiting_ += !asked.is_looked_for;
        }
        is_asked_ = is_asked_ || waiting_ > 0;
        changed_.notify_all();
    }
}

} // namespace nvdebug::base
