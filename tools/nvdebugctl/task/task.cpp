// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "control/control.hpp"
#include "cli/page.hpp"
#include "shares.hpp"
#include "state/state.hpp"
#include "state/tasks.hpp"
#include "cli/text.hpp"
#include "state/tpcs.hpp"
#include "task.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::Detail;
using nvdebug::ErrorCode;
using nvdebug::OwnedChannel;
using nvdebug::Owners;
using nvdebug::Runlist;
using Pids = std::vector<std::uint32_t>;

// --- processes and what they have ---

/** Processes with what they have on the GPU; lists are empty where they may not be read. */
struct Scene {
    Owners owners;
    std::vector<Runlist> lists;
    Places places;
};

/** Those that share a TSG of the list: more than one with MPS. */
std::set<std::uint32_t> sharers(const Scene &scene, const Listed &place) {
    std::set<std::uint32_t> pids;
    for (const auto &[channel, other] : scene.places)
        if (other.runlist == place.runlist && other.tsg == place.tsg)
            pids.insert(channel->pid);
    return pids;
}

std::vector<const Listed *> places_of(const Scene &scene, const std::vector<Task> &tasks) {
    std::vector<const Listed *> found;
    for (const Task &task : tasks)
        if (const Listed *const place = place_of(task, scene.places))
            found.push_back(place);
    return found;
}

/** Null: no list that may be read has any of it. */
Json is_shared(const Scene &scene, const std::vector<Task> &tasks) {
    const auto places = places_of(scene, tasks);
    if (places.empty())
        return nullptr;
    return std::ranges::any_of(
        places, [&](const Listed *place) { return sharers(scene, *place).size() > 1; });
}

/** Each once, in order. */
Json distinct(const std::vector<Json> &values) {
    Json found = Json::array();
    for (const Json &value : values)
        if (!value.is_null() && std::ranges::find(found, value) == found.end())
            found.push_back(value);
    return found;
}

Json timeslices_of(const Scene &scene, const std::vector<Task> &tasks) {
    std::vector<Json> values;
    for (const Task &task : tasks)
        values.push_back(timeslice_of(task, scene.places));
    return distinct(values);
}

std::size_t channels_of(const std::vector<Task> &tasks) {
    std::size_t count = 0;
    for (const Task &task : tasks)
        count += task.size();
    return count;
}

using Parts = std::map<std::uint32_t, double>; // of GR0's time, by pid

/** Those of the next second; empty: not known. */
std::optional<Parts> parts_of_gr0(Context &context, const Scene &scene) {
    constexpr std::uint32_t second = 1000;
    if (context.gpu().tree().source() != nvdebug::Source::driver || scene.owners.channels.empty())
        return std::nullopt;
    const auto record = context.gpu().context_switches(second);
    if (!record) {
        context.note("shares are not known: " + record.error().sentence);
        return std::nullopt;
    }
    if (record->dropped) {
        context.note(fmt::format("shares are not known: there were {} context switches more than "
                                 "are kept",
                                 record->dropped));
        return std::nullopt;
    }
    if (!record->switches.empty())
        return nvdebug::residency(*record);
    // There was no switch: the task that is there was there all the time.
    const auto states = EngineStates(context.gpu()).read();
    if (!states)
        return std::nullopt;
    Parts parts;
    for (const nvdebug::EngineState &state : *states)
        for (const auto &[channel, place] : scene.places)
            if (state.engine == "GR0" && place.tsg && state.runlist == place.runlist &&
                state.current == nvdebug::Occupant{nvdebug::Occupant::Kind::tsg, *place.tsg})
                parts[channel->pid] = 1;
    return parts;
}

Json part_of(const std::optional<Parts> &parts, std::uint32_t pid) {
    if (!parts)
        return nullptr;
    const auto part = parts->find(pid);
    return percent(part == parts->end() ? 0.0 : std::min(part->second, 1.0));
}

/** Pids of a capture name no process any more. */
Json keeping_of_process(const Context &context, std::uint32_t pid) {
    const auto info = context.gpu().info();
    return context.gpu().tree().source() == nvdebug::Source::driver && info && info->pci_address
               ? keeping_of(pid, *info->pci_address)
               : Json{{"tpcs", nullptr}, {"kept", nullptr}};
}

Json row_of(const Context &context, const Scene &scene, const nvdebug::Process &process, const std::vector<Task> &tasks,
            const std::optional<EngineNames> &names, const std::optional<Parts> &parts,
            const Json &keeping) {
    Json tsgs, engines;
    for (const Listed *const place : places_of(scene, tasks))
        if (place->tsg) {
            tsgs.push_back(to_string(nvdebug::Target{place->runlist, *place->tsg}));
            const Json all = engines_of(names, place->runlist);
            if (!all.empty())
                engines.push_back(all.front());
        }
    Json row = head_of(context, process);
    row.update({{"tsgs", std::move(tsgs)},
                {"engines", std::move(engines)},
                {"channels", channels_of(tasks)},
                {"timeslice_us", timeslices_of(scene, tasks)},
                {"share_percent", part_of(parts, process.pid)},
                {"mps", is_shared(scene, tasks)}});
    row.update(keeping);
    return row;
}

Outcome<Scene> read_scene(Context &context) {
    auto owners = context.gpu().owners();
    if (!owners)
        return tl::unexpected(Failure(owners.error()));
    say_passed_over(context, *owners);
    Scene scene{std::move(*owners), {}, {}};
    if (!scene.owners.channels.empty())
        scene.lists = lists_of_tasks(context);
    return scene;
}

Outcome<Document> list(Context &context) {
    auto scene = read_scene(context);
    if (!scene)
        return tl::unexpected(scene.error());
    scene->places = find_listed(scene->lists, scene->owners);
    std::optional<EngineNames> names;
    if (!scene->places.empty())
        names = read_engine_names(context);
    const auto parts = parts_of_gr0(context, *scene);
    Json rows = Json::array();
    for (const nvdebug::Process &process : scene->owners.processes)
        if (const auto tasks = tasks_of(scene->owners, process); !tasks.empty())
            rows.push_back(row_of(context, *scene, process, tasks, names, parts,
                                  keeping_of_process(context, process.pid)));
    return Document{rows};
}

std::string those_there_are(const Owners &owners) {
    constexpr std::size_t most = 8;
    std::vector<std::string> found;
    for (const nvdebug::Process &process : owners.processes)
        if (!tasks_of(owners, process).empty())
            found.push_back(
                fmt::format("{}[{}]", printable(process.command.value_or("")), process.pid));
    const std::size_t left = found.size() > most ? found.size() - most : 0;
    found.resize(found.size() - left);
    if (found.empty())
        return "no process that may be asked has one";
    return fmt::format("those that have one: {}{}", fmt::join(found, ", "),
                       left > 0 ? fmt::format(" and {} more", left) : "");
}

Outcome<Document> show(Context &context) {
    const std::uint32_t pid = *parse_id(context.words("PID").front());
    auto scene = read_scene(context);
    if (!scene)
        return tl::unexpected(scene.error());
    scene->places = find_listed(scene->lists, scene->owners);
    const auto process = std::ranges::find(scene->owners.processes, pid, &nvdebug::Process::pid);
    const auto tasks = process == scene->owners.processes.end() ? std::vector<Task>()
                                                                : tasks_of(scene->owners, *process);
    if (tasks.empty())
        return fail(ErrorCode::not_found,
                    fmt::format("process {} has no GPU context on {}; {}", pid,
                                context.gpu().folder(), those_there_are(scene->owners)));
    std::optional<EngineNames> names;
    if (!scene->places.empty())
        names = read_engine_names(context);
    Json tsgs = Json::array();
    for (const Task &task : tasks) {
        const Listed *const place = place_of(task, scene->places);
        std::size_t known = 0, enabled = 0;
        for (const OwnedChannel *channel : task)
            if (const auto at = scene->places.find(channel); at != scene->places.end()) {
                known += at->second.channel->enabled.has_value();
                enabled += at->second.channel->enabled.value_or(false);
            }
        tsgs.push_back({{"runlist", place ? Json(place->runlist) : Json()},
                        {"tsg", place ? or_null(place->tsg) : Json()},
                        {"engines", place ? engines_of(names, place->runlist) : Json()},
                        {"timeslice_us", timeslice_of(task, scene->places)},
                        {"channels", task.size()},
                        {"enabled_channels", known ? Json(enabled) : Json()},
                        {"client", hex(task.front()->client)},
                        {"client_tsg", hex(task.front()->tsg)}});
    }
    const auto parts = parts_of_gr0(context, *scene);
    Json data = head_of(context, *process);
    data.update({{"share_percent", part_of(parts, pid)},
                 {"mps", is_shared(*scene, tasks)}});
    data.update(keeping_of_process(context, pid));
    data["tsgs"] = std::move(tsgs);
    return Document{data};
}

void print(const Json &data, Page &page) {
    Json head = data;
    head.erase("tsgs");
    print_fields(head, page);
    page.line("");
    print_table(data["tsgs"],
                {"runlist", "tsg", "engines", "timeslice_us", "channels", "enabled_channels"}, true,
                page);
}

// --- which are meant ---

std::uint32_t parent_of(std::uint32_t pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string line;
    std::getline(file, line);
    std::uint32_t parent = 0;
    const std::size_t name_end = line.rfind(')');
    constexpr std::size_t state = 4; // ") S "
    if (name_end != line.npos && name_end + state < line.size())
        std::from_chars(line.data() + name_end + state, line.data() + line.size(), parent);
    return parent;
}

bool descends_from(std::uint32_t pid, std::uint32_t ancestor) {
    constexpr int deepest = 1000;
    for (int depth = 0; depth < deepest && pid; depth++, pid = parent_of(pid))
        if (pid == ancestor)
            return true;
    return false;
}

constexpr std::array<std::string_view, 4> selections = {"--container", "--cgroup", "--command",
                                                        "--all-of"};

bool is_selected(const Context &context, const nvdebug::Process &process) {
    const auto is = [&](std::string_view option, auto fits) {
        const auto wanted = context.value(option);
        return !wanted || fits(*wanted);
    };
    return is("--container",
              [&](const std::string &prefix) {
                  const auto container = nvdebug::container_of(process);
                  return container && container->starts_with(prefix);
              }) &&
           is("--cgroup",
              [&](const std::string &path) {
                  const std::string own = process.cgroup.value_or("");
                  return own == path || own.starts_with(path.ends_with('/') ? path : path + "/");
              }) &&
           is("--command", [&](const std::string &name) { return process.command == name; }) &&
           is("--all-of",
              [&](const std::string &pid) { return descends_from(process.pid, *parse_id(pid)); });
}

/** Pids that were typed, or those with a context that the options select. */
Outcome<Pids> selected(Context &context) {
    Pids pids;
    for (const std::string &word : context.words("PID"))
        pids.push_back(*parse_id(word));
    if (!pids.empty())
        return pids;
    const auto owners = context.gpu().owners();
    if (!owners)
        return tl::unexpected(Failure(owners.error()));
    for (const nvdebug::Process &process : owners->processes)
        if (is_selected(context, process) && !tasks_of(*owners, process).empty())
            pids.push_back(process.pid);
    if (!pids.empty())
        return pids;
    std::vector<std::string> said;
    for (const std::string_view option : selections)
        if (const auto value = context.value(option))
            said.push_back(fmt::format("{} {}", option, *value));
    return fail(ErrorCode::not_found, fmt::format("no process with a GPU context on {} fits {}; {}",
                                                  context.gpu().folder(), fmt::join(said, " "),
                                                  those_there_are(*owners)));
}

Outcome<void> check_selection(const Context &context) {
    const bool by_option = std::ranges::any_of(
        selections, [&](std::string_view option) { return context.value(option).has_value(); });
    for (const std::string &word : context.words("PID"))
        if (!parse_id(word))
            return usage(fmt::format("'{}' is no process: write its number (PID); 'nvdebugctl task "
                                     "list' lists them",
                                     word));
    if (const auto pid = context.value("--all-of"); pid && !parse_id(*pid))
        return usage(fmt::format("--all-of takes the number of a process, not '{}'", *pid));
    if (context.words("PID").empty() == !by_option)
        return usage(by_option ? "name processes either by PID or by options, not both"
                               : "which process? Write its PID, --container, --cgroup, --command "
                                 "or --all-of; 'nvdebugctl task list' lists them");
    return {};
}

Outcome<void> check_control(const Context &context) {
    if (auto selection = check_selection(context); !selection)
        return selection;
    return check_lease_time(context);
}

Outcome<void> check_pid(const Context &context) {
    return check_selection(context);
}

// --- what changes ---

/** Observes a property of each process's TSGs and channels; where lists may not be read, only
 *  the driver's answers. */
template <typename Look>
Observe observe(Context &context, Pids pids, const char *property, Look look,
                Detail detail = Detail::brief) {
    return [&context, pids = std::move(pids), property, look,
            detail]() -> Outcome<std::vector<Observation>> {
        auto owners = context.gpu().owners();
        if (!owners)
            return tl::unexpected(Failure(owners.error()));
        Scene scene{std::move(*owners), {}, {}};
        if (const auto info = context.gpu().info(); info)
            for (const std::uint32_t id : info->runlists)
                if (auto list = context.gpu().runlist(id, detail))
                    scene.lists.push_back(std::move(*list));
        scene.places = find_listed(scene.lists, scene.owners);
        std::vector<Observation> seen;
        for (const std::uint32_t pid : pids) {
            const auto process =
                std::ranges::find(scene.owners.processes, pid, &nvdebug::Process::pid);
            const auto tasks = process == scene.owners.processes.end()
                                   ? std::vector<Task>()
                                   : tasks_of(scene.owners, *process);
            seen.push_back({Observation::Kind::task,
                            {std::nullopt, pid},
                            property,
                            tasks.empty() ? Json() : look(scene, tasks),
                            process == scene.owners.processes.end()});
        }
        return seen;
    };
}

Json enabled_channels(const Scene &scene, const std::vector<Task> &tasks) {
    Json count;
    for (const Task &task : tasks)
        for (const OwnedChannel *channel : task)
            if (const auto at = scene.places.find(channel);
                at != scene.places.end() && at->second.channel->enabled)
                count = (count.is_null() ? 0U : count.get<std::uint32_t>()) +
                        (*at->second.channel->enabled ? 1U : 0U);
    return count;
}

/** That its TSGs are on now; null: not known. */
Json on_engines(const Context &context, const Scene &scene, const std::vector<Task> &tasks) {
    const auto states = EngineStates(context.gpu()).read();
    const auto places = places_of(scene, tasks);
    if (!states || places.empty())
        return nullptr;
    Json engines = Json::array();
    for (const nvdebug::EngineState &state : *states)
        for (const Listed *const place : places)
            if (place->tsg && state.runlist == place->runlist &&
                state.current == nvdebug::Occupant{nvdebug::Occupant::Kind::tsg, *place->tsg})
                engines.push_back(state.engine);
    return engines;
}

/** How often lists have its TSGs. */
Json entries(const Scene &scene, const std::vector<Task> &tasks) {
    Json count;
    for (const Listed *const place : places_of(scene, tasks))
        for (const Runlist &list : scene.lists)
            for (const nvdebug::ListedTsg &tsg : nvdebug::tsgs_of(list))
                if (list.id == place->runlist && tsg.id == place->tsg)
                    count = (count.is_null() ? 0U : count.get<std::uint32_t>()) +
                            static_cast<std::uint32_t>(tsg.headers.size());
    return count;
}

Json compute_preemptions(const Scene &scene, const std::vector<Task> &tasks) {
    std::vector<Json> modes;
    for (const Task &task : tasks)
        for (const OwnedChannel *channel : task)
            if (const auto at = scene.places.find(channel); at != scene.places.end())
                if (const auto &instance = at->second.channel->instance;
                    instance && instance->context)
                    modes.push_back(or_null(instance->context->compute_preemption));
    Json found = distinct(modes);
    return found.empty() ? Json() : found;
}

Outcome<Document> steer(Context &context, const nvdebug::Request &request,
                        const Observe &observation) {
    auto document = carry_out(context, request, observation);
    if (document && context.gpu().info()->runlists.empty())
        context.note(
            "whether it shows on the GPU is for root to see: this is what the driver says");
    return document;
}

Outcome<Document> pause(Context &context) {
    const auto pids = selected(context);
    if (!pids)
        return tl::unexpected(pids.error());
    return steer(context, nvdebug::pause_tasks(*pids),
                 observe(context, *pids, "enabled_channels", enabled_channels));
}

Outcome<Document> resume(Context &context) {
    const auto pids = selected(context);
    if (!pids)
        return tl::unexpected(pids.error());
    return steer(context, nvdebug::resume_tasks(*pids),
                 observe(context, *pids, "enabled_channels", enabled_channels));
}

Outcome<Document> preempt(Context &context) {
    const auto pids = selected(context);
    if (!pids)
        return tl::unexpected(pids.error());
    return steer(context, nvdebug::preempt_tasks(*pids),
                 observe(context, *pids, "on_engines",
                         [&context](const Scene &scene, const std::vector<Task> &tasks) {
                             return on_engines(context, scene, tasks);
                         }));
}

// --- shares ---

/** The tasks that compete for GR0's runlist, and which of them are tenants. */
Outcome<std::vector<Competitor>> competitors(Context &context, const Owners &owners,
                                             const Pids &pids) {
    const auto engines = context.gpu().engines();
    if (!engines)
        return tl::unexpected(Failure(engines.error()));
    const auto gr0 = std::ranges::find(*engines, "GR0", &nvdebug::Engine::name);
    if (gr0 == engines->end() || !gr0->runlist)
        return fail(ErrorCode::unsupported, "no runlist of GR0 is known here");
    auto list = context.gpu().runlist(*gr0->runlist, Detail::brief);
    if (!list)
        return tl::unexpected(Failure(list.error()));
    if (list->torn)
        return fail(ErrorCode::busy, "the runlist kept moving while it was read; try again");
    const bool together =
        context.value("--container") || context.value("--cgroup") || context.value("--all-of");
    const std::vector<Runlist> lists{std::move(*list)};
    const Places places = find_listed(lists, owners);
    std::vector<Competitor> found;
    for (const nvdebug::ListedTsg &tsg : nvdebug::tsgs_of(lists.front())) {
        std::set<std::uint32_t> who;
        for (const auto &[channel, place] : places)
            if (place.tsg == tsg.id)
                who.insert(channel->pid);
        // The driver's own have next to no work, and cannot be set.
        if (who.empty())
            continue;
        std::set<std::size_t> tenants;
        bool others = false;
        for (const std::uint32_t pid : who) {
            const auto at = std::ranges::find(pids, pid);
            if (at == pids.end())
                others = true;
            else
                tenants.insert(together ? 0 : static_cast<std::size_t>(at - pids.begin()));
        }
        if (tenants.size() + others > 1)
            return fail(ErrorCode::invalid,
                        fmt::format("TSG {}:{} is shared by processes {} (MPS): they have one "
                                    "share together, so select all of them by --container, "
                                    "--cgroup or --all-of",
                                    lists.front().id, tsg.id, fmt::join(who, ", ")));
        found.push_back({{lists.front().id, tsg.id},
                         tsg.headers.front()->timeslice_ns,
                         static_cast<std::uint32_t>(tsg.headers.size()),
                         others ? std::nullopt : std::optional(*tenants.begin())});
    }
    return found;
}

/** What their timeslices are; those of TSGs that are gone are not known. */
Observe timeslices_of_all(const nvdebug::Gpu &gpu, std::vector<nvdebug::TsgTimeslice> slices) {
    return [&gpu, slices = std::move(slices)]() -> Outcome<std::vector<Observation>> {
        const auto list = gpu.runlist(*slices.front().tsg.runlist, Detail::brief);
        if (!list)
            return tl::unexpected(Failure(list.error()));
        const auto tsgs = nvdebug::tsgs_of(*list);
        std::vector<Observation> seen;
        for (const auto &[tsg, ns] : slices) {
            const auto at = std::ranges::find(tsgs, tsg.id, &nvdebug::ListedTsg::id);
            seen.push_back(
                {Observation::Kind::tsg, tsg, "timeslice_us",
                 at == tsgs.end() ? Json() : microseconds(at->headers.front()->timeslice_ns),
                 at == tsgs.end()});
        }
        return seen;
    };
}

/** Shares by what timeslices were before anything was set. */
class Sharing {
  public:
    Sharing(Context &context, Shares shares, std::shared_ptr<const void> claim)
        : context_(context), shares_(std::move(shares)), claim_(std::move(claim)) {}

    Outcome<std::vector<nvdebug::TsgTimeslice>> look() {
        const auto pids = selected(context_);
        if (!pids)
            return tl::unexpected(pids.error());
        const auto owners = context_.gpu().owners();
        if (!owners)
            return tl::unexpected(Failure(owners.error()));
        auto all = competitors(context_, *owners, still_meant(*pids, *owners));
        if (!all)
            return tl::unexpected(all.error());
        Key key;
        bool set_by_others = false;
        for (Competitor &one : *all) {
            const auto [known, fresh] = before_.try_emplace(one.tsg.id, one.ns);
            const auto set = set_.find(one.tsg.id);
            // CUDA makes a TSG with another timeslice than it gives it then.
            if (!is_about(one.ns, set == set_.end() ? known->second : set->second)) {
                known->second = one.ns;
                set_by_others = true;
            }
            one.ns = known->second;
            key.push_back({one.tsg.id, one.tenant});
        }
        // Ids are given again: of those that are gone nothing is remembered.
        std::erase_if(before_, [&](const auto &old) {
            return std::ranges::none_of(
                *all, [&](const Competitor &one) { return one.tsg.id == old.first; });
        });
        changed_ = key != key_ || set_by_others;
        key_ = std::move(key);
        auto slices = timeslices_for(*all, shares_);
        set_.clear();
        if (slices)
            for (const nvdebug::TsgTimeslice &slice : *slices)
                set_[slice.tsg.id] = slice.ns;
        return slices;
    }

    /** Are there others than at the look before, or with other timeslices than were set? */
    bool changed() const { return changed_; }

  private:
    using Key = std::vector<std::pair<std::uint32_t, std::optional<std::size_t>>>;

    /** Replaces a typed pid that another process has by now with 0: shares go by the place. */
    Pids still_meant(Pids pids, const nvdebug::Owners &owners) {
        constexpr std::uint32_t nobody = 0;
        if (context_.words("PID").empty())
            return pids;
        for (std::uint32_t &pid : pids) {
            const auto now = std::ranges::find(owners.processes, pid, &nvdebug::Process::pid);
            if (now != owners.processes.end() &&
                !nvdebug::same_process(meant_.try_emplace(pid, *now).first->second, *now))
                pid = nobody;
        }
        return pids;
    }

    /** Lists have timeslices in steps of up to 1/128. */
    static bool is_about(std::uint64_t ns, std::uint64_t asked) {
        constexpr std::uint64_t shortest_step = 2000;
        const std::uint64_t apart = ns > asked ? ns - asked : asked - ns;
        return apart <= asked / 32 + shortest_step;
    }

    Context &context_;
    const Shares shares_;
    const std::shared_ptr<const void> claim_;
    std::map<std::uint32_t, nvdebug::Process> meant_;     // by pid that was typed
    std::map<std::uint32_t, std::uint64_t> before_, set_; // ns, by TSG
    Key key_;
    bool changed_ = false;
};

Outcome<Document> share(Context &context) {
    const auto info = context.gpu().info();
    auto claim = claim_shares("/run", info ? info->pci_address.value_or("") : "");
    if (!claim)
        return tl::unexpected(claim.error());
    const auto sharing = std::make_shared<Sharing>(
        context, *parse_shares(*context.value("--share")), std::move(*claim));
    const auto slices = sharing->look();
    if (!slices)
        return tl::unexpected(slices.error());
    Renew renew;
    if (context.flag("--hold"))
        renew = [sharing]() -> std::optional<nvdebug::Request> {
            const auto now = sharing->look();
            if (!now || !sharing->changed())
                return std::nullopt;
            return nvdebug::set_timeslices(*now);
        };
    // A lease keeps what it is observed by, and so the claim.
    const auto observe = [sharing, all = timeslices_of_all(context.gpu(), *slices)] {
        return all();
    };
    return carry_out(context, nvdebug::set_timeslices(*slices), observe, renew);
}

constexpr std::array<const char *, 3> level_words = {"low", "medium", "high"},
                                      mode_words = {"wfi", "cta", "cilp"};

template <typename T>
T index_in(const std::array<const char *, 3> &words, const std::string &word) {
    return static_cast<T>(std::ranges::find(words, word) - words.begin());
}

constexpr std::array<const char *, 3> tpc_options = {"--tpcs", "--gpcs", "--sms"};

/** As a control's document, though nvtaskset does it and no file is written. */
Outcome<Document> set_tpcs_of_all(Context &context, const Pids &pids, const std::string &option,
                                  const std::string &value) {
    const auto info = context.gpu().info();
    if (!info || !info->pci_address)
        return fail(ErrorCode::unsupported, "a GPU without a PCI address has no partitions");
    const bool dry = context.flag("--dry-run");
    Json changes = Json::array();
    for (const std::uint32_t pid : pids) {
        const Json old = keeping_of_process(context, pid)["tpcs"];
        if (!dry)
            if (auto set = set_tpcs(pid, *info->pci_address, option, value); !set) {
                Failure failure = std::move(set).error();
                if (!changes.empty()) {
                    failure.exit = partial;
                    failure.error.sentence +=
                        fmt::format("; those of the {} before it are set", changes.size());
                }
                return tl::unexpected(std::move(failure));
            }
        changes.push_back({{"object", "task"},
                           {"runlist", nullptr},
                           {"id", pid},
                           {"property", "tpcs"},
                           {"old", old},
                           {"new", dry ? Json() : keeping_of_process(context, pid)["tpcs"]}});
    }
    Document document;
    document.data = {
        {"dry_run", dry},
        {"refused", nullptr},
        {"write",
         {{"file", "nvtaskset"},
          {"text", fmt::format("-p {} {} {}", option, value, fmt::join(pids, " "))}}},
        {"lease", false},
        {"lease_seconds", nullptr},
        {"changes", std::move(changes)}};
    return document;
}

Outcome<Document> set(Context &context) {
    if (context.value("--share"))
        return share(context);
    const auto pids = selected(context);
    if (!pids)
        return tl::unexpected(pids.error());
    for (const char *const option : tpc_options)
        if (const auto value = context.value(option))
            return set_tpcs_of_all(context, *pids, option, *value);
    if (const auto time = context.value("--timeslice"))
        return steer(context, nvdebug::set_task_timeslice(*pids, *parse_timespan_ns(*time)),
                     observe(context, *pids, "timeslice_us", timeslices_of));
    if (const auto level = context.value("--interleave"))
        return steer(
            context,
            nvdebug::set_task_interleave(*pids, index_in<nvdebug::Interleave>(level_words, *level)),
            observe(context, *pids, "entries", entries));
    const auto mode = *context.value("--preemption");
    return steer(
        context,
        nvdebug::set_task_preemption(*pids, index_in<nvdebug::PreemptionMode>(mode_words, mode)),
        observe(context, *pids, "compute_preemption", compute_preemptions, Detail::full));
}

Outcome<void> check_set(const Context &context) {
    std::size_t given = 0;
    for (const char *const option : {"--timeslice", "--share", "--interleave", "--preemption",
                                     "--tpcs", "--gpcs", "--sms"})
        given += context.value(option).has_value();
    if (given != 1)
        return usage(given ? "one thing at a time: --timeslice, --share, --interleave, "
                             "--preemption, --tpcs, --gpcs or --sms"
                           : "set what? --timeslice TIME, --share PERCENT, --interleave LEVEL, "
                             "--preemption MODE, --tpcs LIST, --gpcs LIST or --sms N");
    if (context.value("--for") && std::ranges::any_of(tpc_options, [&](const char *option) {
            return context.value(option).has_value();
        }))
        return usage("TPCs stay as they are set: --for is not for them");
    if (const auto time = context.value("--timeslice")) {
        constexpr std::uint64_t us = 1000, shortest = 100 * us, longest = 1'000'000 * us;
        const auto ns = parse_timespan_ns(*time);
        if (!ns || !time->ends_with('s'))
            return usage(fmt::format("'{}' is no time: write 500us, 2ms or 1.5ms", *time));
        if (*ns < shortest || *ns > longest || *ns % us)
            return usage(fmt::format("a timeslice is 100us to 1s in whole microseconds, since a "
                                     "switch alone takes 84us (on an H100); {} is not",
                                     *time));
    }
    if (const auto text = context.value("--share")) {
        const auto shares = parse_shares(*text);
        const std::size_t pids = context.words("PID").size();
        if (!shares)
            return usage(fmt::format("--share takes a part such as 25%, not '{}'", *text));
        if (shares->size() > 1 && shares->size() != pids)
            return usage(fmt::format("--share has {} parts for {} PIDs: one for all, or one for "
                                     "each in this order",
                                     shares->size(), pids));
    }
    if (context.flag("--hold") && (!context.value("--share") || context.value("--for")))
        return usage("--hold is for --share, and takes no --for");
    return check_control(context);
}

std::vector<Option> selection_options() {
    return {{"--container", "processes in the container whose id begins so", "ID"},
            {"--cgroup", "processes in this cgroup or below it", "PATH"},
            {"--command", "processes of this name", "NAME"},
            {"--all-of", "this process and all that descend from it", "PID"}};
}

} // namespace

std::vector<Command> task_commands() {
    const Argument pids{"PID", Argument::Kind::text, "number of a process; or an option says which",
                        Argument::Count::any};
    std::vector<Option> set_options = selection_options();
    set_options.insert(
        set_options.end(),
        {{"--timeslice", "how long a turn of each of its TSGs is: 500us, 2ms; 100us to 1s", "TIME"},
         {"--share",
          "its part of GR0's time while all have work, as 25%; all that --container, --cgroup or "
          "--all-of select have it together; one for each PID: 25%,50%",
          "PERCENT"},
         {"--hold", "with --share: until interrupted, and anew as processes come and go"},
         {"--interleave",
          "how often a round of its runlists has it (takes CAP_SYS_NICE)",
          "LEVEL",
          "",
          {"low", "medium", "high"}},
         {"--preemption",
          "at which points its compute work may be interrupted (takes root)",
          "MODE",
          "",
          {"wfi", "cta", "cilp"}},
         {"--tpcs", "run on these TPCs, if nvtaskset(1) started it: 0-7,12", "LIST"},
         {"--gpcs", "the same, on all TPCs of these GPCs", "LIST"},
         {"--sms", "the same, on so many SMs, or percent", "N"}});
    const std::string rights = "It takes the rights to trace the process (ptrace): root with "
                               "CAP_SYS_PTRACE, or its own user where kernel.yama.ptrace_scope is "
                               "0. All of it is done, or nothing.";
    using Means = Command::Means;
    return {
        {.object = "task",
         .verb = "list",
         .help = "processes with a GPU context: their TSGs and timeslices",
         .columns =
             {{"pid", "number of the process", "uint"},
              {"user", "its effective user, by name or number; null: not known", "string?"},
              {"uid", "number of that user; null: not known", "uint?", false},
              {"command", "name of its command, at most 15 bytes; null: it has none", "string?"},
              {"container", "id of the container that its cgroup names; null: none", "string?",
               false},
              {"cgroup", "its cgroup; null: not known", "string?", false},
              {"tsgs", "its TSGs in runlists, as RUNLIST:TSG; null: none is, or not known",
               "[string]?"},
              {"engines", "the first engine of each of these runlists; null: not known",
               "[string]?"},
              {"channels", "how many channels it made", "uint"},
              {"timeslice_us",
               "timeslices of its TSGs, each once, in microseconds: as lists have them, or as they "
               "have what the driver was asked for",
               "[number]"},
              {"mps", "it shares a TSG with another process (MPS); null: not known", "bool?"},
              {"share_percent",
               "part of a second that its context was on GR0, with work or without, by the "
               "driver's "
               "record; null: not known",
               "percent?", true, "on_GR0"},
              {"tpcs", "how many TPCs nvtaskset keeps it to; null: all, or not known", "uint?"},
              {"kept",
               "nvtaskset keeps it to them; false: not all of its launches, or it uses a GPU for "
               "which "
               "none were asked; null: no partition, or not known",
               "bool?"}},
         .data = "processes, the oldest first",
         .means = Means::driver,
         .notes = {"Root sees every process; others see their own, without TSGs and engines."},
         .examples = {{"sudo nvdebugctl task list", "who competes for this GPU"}},
         .run = list},
        {.object = "task",
         .verb = "show",
         .help = "one process: each of its TSGs",
         .arguments = {{"PID", Argument::Kind::text, "number of a process"}},
         .fields =
             {{"pid", "number of the process", "uint"},
              {"user", "its effective user, by name or number; null: not known", "string?"},
              {"uid", "number of that user; null: not known", "uint?"},
              {"command", "name of its command, at most 15 bytes; null: it has none", "string?"},
              {"container", "id of the container that its cgroup names; null: none", "string?"},
              {"cgroup", "its cgroup; null: not known", "string?"},
              {"share_percent",
               "part of a second that its context was on GR0, with work or without, by the "
               "driver's "
               "record; null: not known",
               "percent?"},
              {"mps", "it shares a TSG with another process (MPS); null: not known", "bool?"},
              {"tpcs", "how many TPCs nvtaskset keeps it to; null: all, or not known", "uint?"},
              {"kept",
               "nvtaskset keeps it to them; false: not all of its launches, or it uses a GPU for "
               "which "
               "none were asked; null: no partition, or not known",
               "bool?"},
              {"tsgs",
               "its TSGs",
               "[object]",
               {{"runlist", "runlist that holds it; null: none does now, or not known", "uint?"},
                {"tsg", "id of the TSG; null: no list holds it now, or not known", "uint?"},
                {"engines", "engines that the runlist serves; null: not known", "[string]?"},
                {"timeslice_us",
                 "its timeslice in microseconds: as the list has it, or as it has what the driver "
                 "was asked for; null: not known",
                 "number?"},
                {"channels", "how many channels the process made in it", "uint"},
                {"enabled_channels", "how many of them are enabled; null: not known", "uint?"},
                {"client", "the driver's name of the process' client", "address"},
                {"client_tsg", "the client's name of the TSG, no hardware id; null: none",
                 "address"}}}},
         .means = Means::driver,
         .examples = {{"sudo nvdebugctl task show 4711", "what a process has on this GPU"}},
         .check = check_pid,
         .run = show,
         .text = print},
        {.object = "task",
         .verb = "set",
         .help = "how long, how often and how interruptibly processes run",
         .arguments = {pids},
         .options = set_options,
         .control = true,
         .leasable = true,
         .means = Means::driver,
         .notes =
             {rights,
              "One thing at a time. It is for the TSGs that there are now; of those that share one "
              "(MPS) all are to be named. TPCs are of what the process launches from then on."},
         .examples = {{"sudo nvdebugctl task set 4711 --timeslice 500us", "short turns"},
                      {"sudo nvdebugctl task set 4711 --share 25% --hold",
                       "a quarter of the time, until Ctrl-C"},
                      {"sudo nvdebugctl task set --container 3f2a --timeslice 8ms --for 60",
                       "long turns for a container, for a minute"}},
         .check = check_set,
         .run = set,
         .text = show_control},
        {.object = "task",
         .verb = "pause",
         .help = "keep processes off the GPU, whatever they do; their work stays pending",
         .arguments = {pids},
         .options = selection_options(),
         .control = true,
         .leasable = true,
         .means = Means::driver,
         .notes = {rights, "All channels that they have now are disabled."},
         .examples = {{"sudo nvdebugctl task pause 4711 --for 10", "for ten seconds"}},
         .check = check_control,
         .run = pause,
         .text = show_control},
        {.object = "task",
         .verb = "resume",
         .help = "let processes that were paused go on",
         .arguments = {pids},
         .options = selection_options(),
         .control = true,
         .leasable = true,
         .means = Means::driver,
         .notes = {rights},
         .examples = {{"sudo nvdebugctl task resume 4711", "let it go on"}},
         .check = check_control,
         .run = resume,
         .text = show_control},
        {.object = "task",
         .verb = "preempt",
         .help = "take processes off the engines now; each runs again when it is its turn",
         .arguments = {pids},
         .options = selection_options(),
         .control = true,
         .means = Means::driver,
         .notes = {rights, "Waits until the GPU has done so, one second at most for each TSG."},
         .examples = {{"sudo nvdebugctl task preempt 4711", "take the engines from it, once"}},
         .check = check_selection,
         .run = preempt,
         .text = show_control},
    };
}

} // namespace nvdebugctl
