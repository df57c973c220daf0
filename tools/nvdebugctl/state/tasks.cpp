// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tasks.hpp"

#include <algorithm>
#include <array>
#include <pwd.h>
#include <set>

#include "cli/identity.hpp"
#include "cli/json.hpp"
#include "cli/text.hpp"
#include "state.hpp"

namespace nvdebugctl {

using nvdebug::Owners;
using nvdebug::OwnersOnLists;
using nvdebug::Runlist;

namespace {

/// Returns the user's name, or the number if there is no name, as ps(1) does.
std::string user_name(std::uint32_t uid) {
    constexpr std::size_t longest = 4096;
    std::array<char, longest> text{};
    passwd entry{}, *found = nullptr;
    getpwuid_r(uid, &entry, text.data(), text.size(), &found);
    return found ? printable(found->pw_name) : std::to_string(uid);
}

/// Returns the lists that can be read. If none can, the reason is added to the context as missing.
std::vector<Runlist> lists_of_tasks(Context &context) {
    auto lists = read_runlists(context, nvdebug::Detail::brief);
    if (lists)
        return std::move(*lists);
    nvdebug::Error error = lists.error().error;
    error.sentence = "which runlist and TSG it is, is not shown: " + error.sentence;
    context.missing(std::move(error));
    return {};
}

/// Adds processes that may not be queried to the context as missing. A note names other omissions.
void report_passed_over(Context &context, const Owners &owners) {
    if (owners.denied || owners.refused)
        context.missing({nvdebug::ErrorCode::denied, 0, context.gpu().path("owners"),
                         "not all of it is shown: " + passed_over(owners)});
    else if (const std::string over = passed_over(owners); !over.empty())
        context.note("there may be more: " + over);
}

} // namespace

Outcome<OwnersOnLists> read_tasks(Context &context) {
    auto owners = context.gpu().owners();
    if (!owners)
        return tl::unexpected(Failure(owners.error()));
    report_passed_over(context, *owners);
    std::vector<Runlist> lists;
    if (!owners->channels.empty())
        lists = lists_of_tasks(context);
    return OwnersOnLists(std::move(*owners), std::move(lists));
}

const std::vector<Column> &head_columns() {
    static const std::vector<Column> columns = [] {
        std::vector<Column> made = columns_with_identity(
            {{"pid", "number of the process", "uint"},
             {"user", "its effective user, by name or number; null: not known", "string?"},
             {"uid", "number of that user; null: not known", "uint?", false},
             {"command", "name of its command, at most 15 bytes; null: it has none", "string?"},
             {"cgroup", "its cgroup; null: not known", "string?", false}});
        for (const Field &key : pod_name_keys())
            made.push_back({key.name, key.help, key.type, false});
        return made;
    }();
    return columns;
}

Json head_of(const Context &context, const nvdebug::Process &process) {
    const bool here = context.gpu().tree().source() == nvdebug::Source::driver;
    Json user;
    if (process.uid)
        user = here ? user_name(*process.uid) : std::to_string(*process.uid);
    Json head = {{"pid", process.pid},
                 {"user", user},
                 {"uid", or_null(process.uid)},
                 {"command", or_null(process.command)}};
    head.update(identity(nvdebug::identity_of(process)));
    head["cgroup"] = or_null(process.cgroup);
    set_pod_name(head, std::nullopt);
    return head;
}

void add_pod_names(const Context &context, Json &rows) {
    if (context.gpu().tree().source() == nvdebug::Source::file)
        return;
    std::set<std::string> ids;
    for (const Json &row : rows)
        for (const auto &id : {pod_ids_of(row).container, pod_ids_of(row).pod})
            if (id)
                ids.insert(*id);
    nvdebug::base::PodNames names(
        *nvdebug::base::read_pod_folders(nvdebug::base::usual_pod_folders));
    names.look(ids);
    for (Json &row : rows)
        set_pod_name(row, names.find(pod_ids_of(row)));
}

Json timeslice_of(const OwnersOnLists &tasks, const nvdebug::OwnedTsg &tsg) {
    const auto ns = tasks.timeslice_ns(tsg);
    return ns ? microseconds(*ns) : Json();
}

Json distinct(const std::vector<Json> &values) {
    Json found = Json::array();
    for (const Json &value : values)
        if (!value.is_null() && std::ranges::find(found, value) == found.end())
            found.push_back(value);
    return found;
}

Json timeslices_of(const OwnersOnLists &tasks, const std::vector<nvdebug::OwnedTsg> &tsgs) {
    std::vector<Json> values;
    for (const nvdebug::OwnedTsg &tsg : tsgs)
        values.push_back(timeslice_of(tasks, tsg));
    return distinct(values);
}

std::vector<const nvdebug::RunlistPlace *> places_of(const OwnersOnLists &tasks,
                                                     const std::vector<nvdebug::OwnedTsg> &tsgs) {
    std::vector<const nvdebug::RunlistPlace *> places;
    for (const nvdebug::OwnedTsg &tsg : tsgs)
        if (const nvdebug::RunlistPlace *const place = tasks.place_of(tsg))
            places.push_back(place);
    return places;
}

} // namespace nvdebugctl
