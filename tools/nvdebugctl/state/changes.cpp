// SPDX-License-Identifier: MIT OR GPL-2.0
#include "changes.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "cli/page.hpp"
#include "cli/text.hpp"
#include "copy_wiring.hpp"
#include "nvdebug/answers.hpp"
#include "state.hpp"
#include "task_owners.hpp"

namespace nvdebugctl {
namespace {

using nvdebug::Runlist;
using Kind = ObjectPlace::Kind;
using Scheduled = std::map<std::uint32_t, bool>; ///< by runlist

void add(Facts &to, const ObjectPlace &place, std::string name, Json facts) {
    to.objects.insert_or_assign(place, ObjectFacts{std::move(name), std::move(facts)});
}

void add_list(Facts &to, const Runlist &list, const Scheduled &scheduling,
              const nvdebug::Owners &owners_of_gpu) {
    Json facts = {{"entries", list.entries}, {"pending", list.pending}};
    if (const auto on = scheduling.find(list.id); on != scheduling.end())
        facts["scheduling"] = on->second;
    add(to, {Kind::runlist, list.id, 0}, fmt::format("runlist {}", list.id), std::move(facts));
    TaskOwners owners;
    owners.add(list, owners_of_gpu);
    const std::vector<nvdebug::ListedChannel> channels = nvdebug::channels_of(list);
    for (const nvdebug::ListedTsg &listed : nvdebug::tsgs_of(list)) {
        Json ids = Json::array();
        for (const nvdebug::ListedChannel &one : channels)
            if (one.tsg && one.tsg->id == listed.id)
                ids.push_back(one.channel->id);
        Json tsg = {{"timeslice_us", microseconds(listed.headers.front()->timeslice_ns)},
                    {"channels", std::move(ids)},
                    {"headers", listed.headers.size()}};
        if (to.has_owners)
            tsg["processes"] = processes(
                owners.of(list.id, nvdebug::Occupant{nvdebug::Occupant::Kind::tsg, listed.id}));
        add(to, {Kind::tsg, list.id, listed.id}, fmt::format("TSG {}:{}", list.id, listed.id),
            std::move(tsg));
    }
    for (const nvdebug::ListedChannel &one : channels) {
        const Json state_of = channel_state(*one.channel, owners_of_gpu);
        Json channel = {{"tsg", one.tsg ? Json(one.tsg->id) : Json()}};
        for (const char *const key : {"error", "enabled", "pbdma_faulted", "engine_faulted",
                                      "instance_address", "instance_aperture"})
            channel[key] = state_of[key];
        if (to.has_owners)
            channel["process"] = state_of["process"];
        add(to, {Kind::channel, list.id, one.channel->id},
            fmt::format("channel {}:{}", list.id, one.channel->id), std::move(channel));
    }
}

void add_copies(Facts &to, const nvdebug::CopyTopology &copy) {
    std::uint64_t number = 0;
    for (const nvdebug::LogicalCopyEngine &lce : copy.lces)
        add(to, {Kind::lce, std::nullopt, number++}, lce.name,
            {{"runlist", or_null(lce.runlist)},
             {"own_pces", bits_of(lce.pces)},
             {"borrows_from", or_null(lce.shares)},
             {"pces", bits_of(nvdebug::pces_of(copy, lce))}});
}

/// Returns whether the objects of that kind and runlist are known at both moments.
bool is_comparable(const ObjectPlace &place, const Facts &before, const Facts &after) {
    if (place.kind == Kind::process)
        return before.has_owners && after.has_owners;
    if (place.kind == Kind::lce)
        return before.has_lces && after.has_lces;
    return !before.unknown_runlists.contains(*place.runlist) &&
           !after.unknown_runlists.contains(*place.runlist);
}

/// Returns whether the TSG of a channel is absent at the other moment, too.
bool is_absent_with_its_tsg(const ObjectPlace &place, const ObjectFacts &channel,
                            const Facts &other) {
    if (place.kind != Kind::channel || channel.facts["tsg"].is_null())
        return false;
    return !other.objects.contains(
        {Kind::tsg, place.runlist, channel.facts["tsg"].get<std::uint64_t>()});
}

Json change(const ObjectFacts &of, const char *kind, Json what, Json before, Json after) {
    return {{"object", of.name},
            {"change", kind},
            {"what", std::move(what)},
            {"before", std::move(before)},
            {"after", std::move(after)}};
}

void compare(const ObjectFacts &before, const ObjectFacts &after, Json &rows) {
    for (const auto &[key, value] : after.facts.items())
        if (const auto old = before.facts.find(key); old != before.facts.end() && *old != value)
            rows.push_back(change(after, "changed", key, *old, value));
}

/// Returns facts as words: `timeslice 2.05ms, channels 3-5`. Facts that say nothing are left out.
std::string shown_facts(const Json &facts) {
    std::string text;
    for (const auto &[key, value] : facts.items()) {
        const bool is_flag = value.is_boolean();
        const bool is_usual = key == "headers" && value == 1;
        if (value.is_null() || (value.is_array() && value.empty()) ||
            (is_flag && !value.get<bool>()) || is_usual)
            continue;
        text += text.empty() ? "" : ", ";
        text += label(key) + (is_flag ? "" : " " + shown(key, value));
    }
    return text;
}

} // namespace

Moment read_moment(const nvdebug::Gpu &gpu) {
    Moment moment;
    Facts &facts = moment.facts;
    // A file that this chip does not have is no error.
    const auto take = [&](const auto &result) {
        if (!result && !is_absent(result.error()))
            moment.errors.push_back(result.error());
        return result.has_value();
    };
    const auto owners = gpu.owners();
    facts.has_owners = take(owners);
    const auto scheduling = gpu.scheduling();
    take(scheduling);
    const auto info = gpu.info();
    if (take(info))
        for (const std::uint32_t id : info->runlists) {
            const auto list = gpu.runlist(id, nvdebug::Detail::brief);
            if (take(list) && list->channels && !list->torn) {
                add_list(facts, *list, scheduling.value_or(Scheduled()),
                         owners.value_or(nvdebug::Owners()));
                continue;
            }
            facts.unknown_runlists.insert(id);
            if (list)
                moment.errors.push_back({nvdebug::ErrorCode::busy, 0, gpu.path(runlist_file(id)),
                                         gpu.path(runlist_file(id)) +
                                             ": the list moved while it was read, or cannot "
                                             "be read, and is not compared"});
        }
    if (facts.has_owners)
        for (const nvdebug::Process &each : owners->processes) {
            Json known = process(&each);
            known.erase("pid");
            add(facts, {Kind::process, std::nullopt, each.pid}, fmt::format("process {}", each.pid),
                std::move(known));
        }
    if (const auto copy = gpu.copy_topology(); take(copy)) {
        facts.has_lces = true;
        add_copies(facts, *copy);
    }
    return moment;
}

Json changes_between(std::uint32_t gpu, const Facts &before, const Facts &after) {
    Json rows = Json::array();
    auto old = before.objects.begin();
    auto now = after.objects.begin();
    while (old != before.objects.end() || now != after.objects.end()) {
        const bool is_gone =
            now == after.objects.end() || (old != before.objects.end() && old->first < now->first);
        const bool is_new = !is_gone && (old == before.objects.end() || now->first < old->first);
        const bool is_compared = is_comparable(is_gone ? old->first : now->first, before, after);
        if (is_compared && is_gone && !is_absent_with_its_tsg(old->first, old->second, after))
            rows.push_back(change(old->second, "gone", nullptr, old->second.facts, nullptr));
        if (is_compared && is_new && !is_absent_with_its_tsg(now->first, now->second, before))
            rows.push_back(change(now->second, "new", nullptr, nullptr, now->second.facts));
        if (is_compared && !is_gone && !is_new)
            compare(old->second, now->second, rows);
        if (!is_new)
            ++old;
        if (!is_gone)
            ++now;
    }
    Json with_gpu = Json::array();
    for (Json &row : rows) {
        Json whole = {{"gpu", gpu}};
        whole.update(row);
        with_gpu.push_back(std::move(whole));
    }
    return with_gpu;
}

std::vector<Column> change_columns() {
    return {{"gpu", "index of the GPU", "uint"},
            {"object", "what changed, as 'TSG 0:5' or 'LCE2'", "string"},
            {"change", "it is new, gone, or has changed", "new|gone|changed"},
            {"what", "the fact that changed, by its key; null: the whole object", "string?"},
            {"before", "the fact, or all facts of an object that is gone; null: none", "anything"},
            {"after", "the fact, or all facts of a new object; null: none", "anything"}};
}

std::string shown_change(const Json &row) {
    const std::string head =
        fmt::format("gpu{} {}", row["gpu"].get<std::uint32_t>(), row["object"].get<std::string>());
    if (row["change"] == "changed") {
        const std::string key = row["what"].get<std::string>();
        return printable(fmt::format("{}: {} {} -> {}", head, label(key), shown(key, row["before"]),
                                     shown(key, row["after"])));
    }
    const bool is_new = row["change"] == "new";
    const std::string facts = shown_facts(row[is_new ? "after" : "before"]);
    return printable(head + (is_new ? " is new" : " is gone") +
                     (facts.empty() ? "" : ": " + facts));
}

} // namespace nvdebugctl
