// SPDX-License-Identifier: MIT OR GPL-2.0
#include "stand_in_parts.hpp"

#include <ctime>
#include <unistd.h>

namespace driver_test {

void StandIn::keep(const Change &change) {
    while (shared_->busy.test_and_set())
        ::usleep(10);
    const std::uint32_t at = shared_->count.load();
    if (at < Shared::most) {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        shared_->changes[at] = change;
        shared_->changes[at].ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
        shared_->count.store(at + 1);
    }
    shared_->busy.clear();
    if (noted)
        noted(change);
    if (at >= Shared::most)
        wrong("more changes than can be kept");
}

std::uint64_t StandIn::ioctls_of_others() const {
    return shared_->ioctls;
}

std::vector<StandIn::Change> StandIn::changes() const {
    return {shared_->changes, shared_->changes + shared_->count.load()};
}

std::uint64_t StandIn::latest(const rm::Control &asked, std::uint32_t command,
                              std::uint64_t before) const {
    for (const Change &change : changes())
        if (change.client == asked.client && change.object == asked.object &&
            change.command == command)
            before = change.value;
    return before;
}

void StandIn::take_effect() {
    const std::uint32_t all = shared_->count.load();
    bool any = false;
    for (; effects_ < all; effects_++)
        if (effect && !takes_without_effect && shared_->changes[effects_].command != closed) {
            effect(shared_->changes[effects_]);
            any = true;
        }
    for (auto at = mapped_.begin(); any && at != mapped_.end(); ++at)
        fill(at->second);
}

void StandIn::refuse_from(std::uint64_t nth, std::uint64_t times, std::uint32_t status,
                          bool all_the_same) {
    shared_->refuse_status = status;
    shared_->refuses_what_it_does = all_the_same;
    shared_->refused = 0;
    shared_->asked = 0;
    shared_->refuse_begin = nth;
    shared_->refuse_end = nth + times;
}

std::uint64_t StandIn::refused() const {
    return shared_->refused;
}

std::uint64_t StandIn::asked_by_all() const {
    return shared_->asked;
}

std::uint32_t StandIn::change_or_refuse(const rm::Control &asked, const Objects &objects) {
    if (++asked_to_change == refuse_change)
        return refuse_with;
    if (const std::uint32_t status = refuses ? refuses(asked) : rm::ok)
        return status;
    const std::uint64_t number = ++shared_->asked;
    if (number < shared_->refuse_begin || number >= shared_->refuse_end)
        return change(asked, objects);
    shared_->refused++;
    if (shared_->refuses_what_it_does)
        change(asked, objects);
    return shared_->refuse_status;
}

std::uint32_t StandIn::change(const rm::Control &asked, const Objects &objects) {
    const std::uint32_t object_class = objects.at(asked.object).object_class;
    Change made{asked.client, asked.object, asked.command, 0, ::getpid()};
    const auto is = [&](std::uint32_t wanted, std::size_t bytes) {
        if (object_class != wanted || asked.params_size != bytes)
            wrong("a change of another kind of object, or of another size");
        return object_class == wanted && asked.params_size == bytes;
    };
    if (asked.command == rm::DisableChannels::command)
        return is(rm::class_subdevice, sizeof(rm::DisableChannels)) ? disable(asked, objects)
                                                                    : rm::invalid_argument;
    if (asked.command == rm::SetPreemptionMode::command) {
        if (!is(rm::class_subdevice, sizeof(rm::SetPreemptionMode)))
            return rm::invalid_argument;
        const auto &mode = *at<rm::SetPreemptionMode>(asked.params);
        if (mode.flags != rm::SetPreemptionMode::set_compute || mode.compute > 2)
            wrong("a preemption mode that is none");
        // The real driver accepts a channel, too, but without effect, so the stand-in refuses it.
        if (!objects.contains(mode.channel) ||
            objects.at(mode.channel).object_class != rm::class_tsg)
            return rm::object_not_found;
        made.object = mode.channel;
        made.value = mode.compute;
    } else if (asked.command == rm::SetTimeslice::command) {
        if (!is(rm::class_tsg, sizeof(rm::SetTimeslice)))
            return rm::invalid_argument;
        made.value = at<rm::SetTimeslice>(asked.params)->us;
    } else if (asked.command == rm::SetInterleave::command) {
        if (!is(rm::class_tsg, sizeof(rm::SetInterleave)))
            return rm::invalid_argument;
        if (!root)
            return rm::insufficient_permissions;
        made.value = at<rm::SetInterleave>(asked.params)->level;
    } else {
        if (!is(rm::class_tsg, sizeof(rm::Preempt)))
            return rm::invalid_argument;
        const auto &preempt = *at<rm::Preempt>(asked.params);
        if (preempt.wait != 1 || preempt.own_timeout != 1 ||
            preempt.timeout_us > rm::Preempt::longest_us)
            wrong("a preemption that is not waited for, or too long");
    }
    keep(made);
    return rm::ok;
}

std::uint32_t StandIn::disable(const rm::Control &asked, const Objects &objects) {
    const auto &request = *at<rm::DisableChannels>(asked.params);
    if (request.only_scheduling || request.rewind || request.event || !request.count)
        wrong("channels disabled in another way");
    if (request.count > rm::DisableChannels::most)
        return rm::invalid_argument;
    // Measured: a list is handled in its order, up to the first channel that does not exist.
    for (std::uint32_t n = 0; n < request.count; n++) {
        if (request.clients[n] != asked.client || !objects.contains(request.channels[n]))
            return rm::invalid_channel;
        keep({asked.client, request.channels[n], asked.command, request.disable ? 0U : 1U,
              ::getpid()});
    }
    return rm::ok;
}

} // namespace driver_test
