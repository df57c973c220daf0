// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver_effect.hpp"

#include <cerrno>
#include <ctime>

namespace nvdebug::driver {
namespace {

std::string word_of(bool enabled) {
    return enabled ? "enabled" : "disabled";
}

/// Returns what the lists still show instead of the requested value, as a sentence; empty: they
/// show no difference.
std::string missing_effect(const DriverTasks &tasks, const TaskRequest &request,
                           const OwnedChannels &channels) {
    const OwnersOnLists &on_lists = tasks.on_lists();
    if (!request.is_of_tsgs()) {
        for (const OwnedChannel *const channel : channels)
            if (const RunlistPlace *const place = on_lists.place_of(*channel);
                place && place->channel->enabled &&
                *place->channel->enabled != (request.control.verb == Verb::enable))
                return "channel " + to_string(Target{place->runlist, place->channel->id}) +
                       " is still " + word_of(*place->channel->enabled);
        return "";
    }
    const std::vector<OwnedTsg> tsgs = tsgs_in(channels);
    for (std::size_t n = 0; n < tsgs.size(); n++) {
        if (request.control.verb == Verb::mode) {
            const auto context = context_mode(tasks, tsgs[n]);
            if (context && static_cast<std::uint64_t>(context->mode) != request.values.front())
                return "the context of " + name_of(tasks.process(*tsgs[n].front())) +
                       " still has " + nvdebug::name_of(context->mode);
        }
        if (request.control.verb != Verb::timeslice)
            continue;
        for (const Tsg *const header : on_lists.headers_of(tsgs[n]))
            if (!is_about(header->timeslice_ns, request.value_of(n) * ns_per_us,
                          requested_tolerance))
                return "the timeslice of TSG " +
                       to_string(Target{on_lists.place_of(tsgs[n])->runlist, header->id}) +
                       " is still " + std::to_string(header->timeslice_ns / ns_per_us) + " us";
    }
    return "";
}

/// Returns how often the lists have each TSG of the channels. TSGs in no list are left out.
std::vector<std::size_t> times_listed(const DriverTasks &tasks, const OwnedChannels &channels) {
    std::vector<std::size_t> times;
    for (const OwnedTsg &tsg : tsgs_in(channels))
        if (const auto headers = tasks.on_lists().headers_of(tsg); !headers.empty())
            times.push_back(headers.size());
    return times;
}

} // namespace

Result<void> verify_effect(DriverTasks &tasks, const TaskRequest &request,
                           const OwnedChannels &channels, const ReadLists &read_lists) {
    constexpr int tries = 10;
    constexpr timespec pause{0, 10'000'000};
    if (tasks.on_lists().lists().empty() || request.control.verb == Verb::preempt)
        return {};
    const auto before = times_listed(tasks, channels);
    std::string missing;
    for (int n = 0; n < tries; n++) {
        if (n)
            ::nanosleep(&pause, nullptr);
        auto lists = read_lists(detail_for(request));
        if (!lists)
            return tl::unexpected(lists.error());
        tasks.update(std::move(*lists));
        missing = missing_effect(tasks, request, channels);
        if (request.control.verb == Verb::interleave && times_listed(tasks, channels) == before)
            missing = "runlists have the TSGs as often as before";
        if (missing.empty())
            return {};
    }
    return tl::unexpected(
        Error{ErrorCode::unsupported, EOPNOTSUPP, "",
              "NVIDIA's driver accepted the request, but it had no effect: " + missing});
}

std::optional<TsgEntry> entry_of(const DriverTasks &tasks, const OwnedChannel &channel) {
    const OwnedTsg tsg{&channel};
    const auto headers = tasks.on_lists().headers_of(tsg);
    if (headers.empty())
        return std::nullopt;
    const Tsg &first = *headers.front();
    return TsgEntry{tasks.on_lists().place_of(channel)->runlist,
                    first.id,
                    first.timeout,
                    first.scale,
                    first.timeslice_ns,
                    headers.size()};
}

std::string timeslice_answer(const TsgEntry &old, const TsgEntry &now, std::uint64_t asked_us) {
    const auto line = [](const char *key, std::uint64_t value) {
        return std::string(key) + ": " + std::to_string(value) + "\n";
    };
    const auto us = [](const char *key, std::uint64_t ns) {
        return std::string(key) + ": " + std::to_string(ns / ns_per_us) + "." +
               std::to_string(ns_per_us + ns % ns_per_us).substr(1) + "\n";
    };
    return line("runlist", now.runlist) + line("tsg", now.tsg) +
           us("asked_us", asked_us * ns_per_us) + us("old_us", old.ns) + us("new_us", now.ns) +
           line("timeout", now.timeout) + line("scale", now.scale) + line("headers", now.headers);
}

} // namespace nvdebug::driver
