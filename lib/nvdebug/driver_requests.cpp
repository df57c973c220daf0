// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver_requests.hpp"

#include "lib/driver/hold.hpp"
#include "lib/driver/keeper.hpp"
#include "lib/base/text.hpp"
#include "nvdebug/control.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <set>

namespace nvdebug::driver {
namespace {

// --- what is asked ---

enum class Verb { disable, enable, preempt, timeslice, interleave, mode };

/** A file. */
struct Control {
    std::string_view file;
    Verb verb;
    bool by_process;        ///< its targets are pids, and a value stands before them
    std::string_view words; ///< for sentences: what is done
};

constexpr Control controls[] = {
    {"disable_channel", Verb::disable, false, "disable"},
    {"enable_channel", Verb::enable, false, "enable"},
    {"preempt_tsg", Verb::preempt, false, "preempt"},
    {"set_timeslice", Verb::timeslice, false, "set the timeslice of"},
    {"pause_task", Verb::disable, true, "pause"},
    {"resume_task", Verb::enable, true, "resume"},
    {"preempt_task", Verb::preempt, true, "preempt"},
    {"set_task_timeslice", Verb::timeslice, true, "set the timeslice of"},
    {"set_task_interleave", Verb::interleave, true, "set the interleave level of"},
    {"set_task_preemption", Verb::mode, true, "set the preemption mode of"},
};

const Control *find_control(std::string_view file) {
    const auto found = std::ranges::find(controls, file, &Control::file);
    return found == std::end(controls) ? nullptr : found;
}

struct Asking {
    const Control &control;
    bool lease = false;
    std::vector<Target> targets;       // where they are hardware's
    std::vector<std::uint64_t> values; // of each target; of processes one
    std::vector<std::uint32_t> pids;
};

constexpr std::array<std::string_view, 3> levels = {"low", "medium", "high"},
                                          modes = {"wfi", "cta", "cilp"};
/** The driver takes any. A switch takes 84 us on an H100, and a runlist holds 8.5 s at most. */
constexpr std::uint64_t shortest_timeslice_us = 100, longest_timeslice_us = 1'000'000;

/** Whole microseconds, of which the RM takes no parts; decimals are cut off. */
std::optional<std::uint64_t> microseconds(std::string_view word) {
    const std::string_view whole = text::take_until(word, '.');
    const bool decimals = word.size() <= 3 && word.find_first_not_of("0123456789") == word.npos;
    const auto us = text::number(whole);
    return us && decimals && !whole.starts_with("0x") ? us : std::nullopt;
}

std::optional<std::uint64_t> index_of(std::span<const std::string_view> words,
                                      std::string_view word) {
    const auto found = std::ranges::find(words, word);
    return found == words.end() ? std::nullopt
                                : std::optional(static_cast<std::uint64_t>(found - words.begin()));
}

std::optional<std::uint64_t> value_of(Verb verb, std::string_view word) {
    switch (verb) {
    case Verb::timeslice:
        return microseconds(word);
    case Verb::interleave:
        return index_of(levels, word);
    case Verb::mode:
        return index_of(modes, word);
    default:
        return std::nullopt;
    }
}

bool takes_value(Verb verb) {
    return verb == Verb::timeslice || verb == Verb::interleave || verb == Verb::mode;
}

Error senseless(std::string_view text, const std::string &why) {
    return {ErrorCode::invalid, EINVAL, "", "'" + text::quote(text) + "' makes no sense: " + why};
}

Result<Asking> parse(const Control &control, std::string_view text) {
    Asking asking{control, false, {}, {}, {}};
    std::string_view rest = text;
    asking.lease = text::take_prefix(rest, "lease ");
    if (asking.lease && control.verb == Verb::preempt)
        return tl::unexpected(senseless(text, "a preemption cannot be undone"));
    const auto take_value = [&] {
        if (const auto value = value_of(control.verb, text::take_word(rest)))
            asking.values.push_back(*value);
    };
    if (control.by_process && takes_value(control.verb)) {
        take_value();
        if (asking.values.empty())
            return tl::unexpected(senseless(text, "its first word is no value"));
    }
    for (std::string_view word; !(word = text::take_word(rest)).empty();) {
        const auto target = parse_target(word);
        if (!target || (control.by_process && target->runlist))
            return tl::unexpected(
                senseless(text, control.by_process ? "it takes pids" : "it takes RUNLIST:ID"));
        if (control.by_process && std::ranges::count(asking.pids, target->id))
            return tl::unexpected(senseless(text, "it names a process twice"));
        if (control.by_process)
            asking.pids.push_back(target->id);
        else
            asking.targets.push_back(*target);
        if (!control.by_process && takes_value(control.verb)) {
            take_value();
            if (asking.values.size() != asking.targets.size())
                return tl::unexpected(senseless(text, "a TSG is followed by its timeslice"));
        }
    }
    if (asking.pids.empty() && asking.targets.empty())
        return tl::unexpected(senseless(text, "it names nothing"));
    if (control.verb == Verb::timeslice)
        for (const std::uint64_t us : asking.values)
            if (us < shortest_timeslice_us || us > longest_timeslice_us)
                return tl::unexpected(
                    Error{ErrorCode::invalid, ERANGE, "",
                          "through NVIDIA's driver a timeslice is 100 us to 1 s: a switch alone "
                          "takes 84 us"});
    return asking;
}

// --- what it is about ---

/** Where a list has a channel. */
struct Listed {
    std::uint32_t runlist;
    std::optional<std::uint32_t> tsg;
    std::uint32_t channel;
    std::optional<bool> enabled;
    auto operator<=>(const Listed &) const = default;
};

Aperture aperture_of(const rm::MemoryInfo &info) {
    return info.aperture == rm::MemoryInfo::video      ? Aperture::video
           : info.aperture == rm::MemoryInfo::coherent ? Aperture::coherent
                                                       : Aperture::noncoherent;
}

/** A TSG as its client names it. */
struct Task {
    const OwnedChannel *first;
    std::vector<const OwnedChannel *> channels;
};

/** What was found of processes and lists, joined. */
class Scene {
  public:
    Scene(Owned found, const std::vector<Runlist> &lists) : owned(std::move(found)) { look(lists); }

    /** To be called with what the lists are now. */
    void look(const std::vector<Runlist> &now) {
        lists_ = now;
        places_.clear();
        for (const Runlist &list : lists_)
            for (const auto &[channel, tsg, entries] : channels_of(list))
                if (channel->instance_place.address && channel->instance_place.aperture)
                    places_[{*channel->instance_place.address, *channel->instance_place.aperture}] =
                        {list.id, tsg ? std::optional(tsg->id) : std::nullopt, channel->id,
                         channel->enabled};
    }

    const Listed *listed(const OwnedChannel &channel) const {
        if (!channel.instance)
            return nullptr;
        const auto found =
            places_.find({channel.instance->address, aperture_of(*channel.instance)});
        return found == places_.end() ? nullptr : &found->second;
    }

    /** The first that is in a list. */
    const Listed *listed(const Task &task) const {
        for (const OwnedChannel *channel : task.channels)
            if (const Listed *const place = listed(*channel))
                return place;
        return nullptr;
    }

    const std::vector<Runlist> &lists() const { return lists_; }
    const Process &process(const OwnedChannel &channel) const {
        return owned.processes[channel.process];
    }

    Owned owned;

  private:
    std::vector<Runlist> lists_;
    std::map<std::pair<std::uint64_t, Aperture>, Listed> places_;
};

std::vector<Task> tasks_of(const std::vector<const OwnedChannel *> &channels) {
    std::vector<Task> tasks;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
    for (const OwnedChannel *channel : channels) {
        if (!channel->tsg)
            continue;
        const auto [at, fresh] = known.try_emplace({channel->client, channel->tsg}, tasks.size());
        if (fresh)
            tasks.push_back({channel, {}});
        tasks[at->second].channels.push_back(channel);
    }
    return tasks;
}

std::string named(const Process &process) {
    return text::printable(process.command) + "[" + std::to_string(process.pid) + "]";
}

/** The processes that have channels; of many the first. */
std::string those_there_are(const Owned &owned) {
    constexpr std::size_t most = 8;
    std::set<std::size_t> with;
    for (const OwnedChannel &channel : owned.channels)
        with.insert(channel.process);
    std::string text;
    for (std::size_t n = 0; const std::size_t process : with)
        if (n++ < most)
            text += (n > 1 ? ", " : "") + named(owned.processes[process]);
    if (with.size() > most)
        text += " and " + std::to_string(with.size() - most) + " more";
    return with.empty() ? "no process has one that may be asked" : "those that have one: " + text;
}

/** The error of a request without the rights for it, with the rights that it takes. */
Error not_allowed(Kernel &kernel, std::uint32_t pid) {
    const std::string scope = kernel.read("/proc/sys/kernel/yama/ptrace_scope");
    const bool strict = !scope.empty() && scope.front() != '0';
    return {ErrorCode::denied, EPERM, "",
            "process " + std::to_string(pid) +
                " may be steered by who may trace it (ptrace), and you may not: that takes root "
                "(CAP_SYS_PTRACE), or its own user" +
                (strict ? " where kernel.yama.ptrace_scope is 0 (it is " +
                              scope.substr(0, scope.find('\n')) + " here)"
                        : std::string()) +
                "; use sudo"};
}

/** Why nothing is known of a process. */
Error has_none(Kernel &kernel, const Owned &owned, std::uint32_t pid) {
    if (!start_of(kernel, pid))
        return {ErrorCode::not_found, ESRCH, "", "there is no process " + std::to_string(pid)};
    const auto process = std::ranges::find(owned.processes, pid, &Process::pid);
    if (std::ranges::count(owned.hidden, pid) ||
        (process != owned.processes.end() && process->denied))
        return not_allowed(kernel, pid);
    const bool open = process != owned.processes.end();
    if (owned.trouble)
        return {code_of_errno(owned.trouble), owned.trouble, "",
                "process " + std::to_string(pid) +
                    " cannot be looked at: " + ::strerrordesc_np(owned.trouble)};
    if (std::ranges::count(owned.cut, pid))
        return {ErrorCode::unsupported, EFBIG, "",
                "process " + std::to_string(pid) + " (" + text::printable(command_of(kernel, pid)) +
                    ") has more descriptors, clients or objects of NVIDIA's driver than are asked "
                    "about; no channels are among those that were"};
    return {ErrorCode::not_found, 0, "",
            "process " + std::to_string(pid) + " (" + text::printable(command_of(kernel, pid)) +
                ") has no GPU context here" +
                (open ? ", though it has the GPU open: it has made none yet, or its parent's, or "
                        "names what it made in a way that is not known; "
                      : "; ") +
                those_there_are(owned)};
}

/** The one that made a channel of a list. */
Result<const OwnedChannel *> owner_of(const Scene &scene, const Target &place, Verb verb) {
    std::vector<const OwnedChannel *> found;
    const bool is_tsg = verb == Verb::preempt || verb == Verb::timeslice;
    for (const OwnedChannel &channel : scene.owned.channels)
        if (const Listed *const at = scene.listed(channel);
            at && at->runlist == *place.runlist && (is_tsg ? at->tsg : at->channel) == place.id)
            found.push_back(&channel);
    const std::string what = (is_tsg ? "TSG " : "channel ") + to_string(place);
    if (found.empty())
        return tl::unexpected(
            Error{ErrorCode::unsupported, EOPNOTSUPP, "",
                  what + " is of no process that is known: NVIDIA's driver may have made it for "
                         "itself, or its process may not be asked (it takes CAP_SYS_PTRACE); the "
                         "module changes any"});
    // Of a TSG, several may have channels (MPS); a channel is of one.
    if (!is_tsg && found.size() > 1)
        return tl::unexpected(
            Error{ErrorCode::busy, EBUSY, "", what + " is claimed by two processes; try again"});
    return found.front();
}

Result<std::vector<const OwnedChannel *>> channels_meant(Kernel &kernel, const Scene &scene,
                                                         const Asking &asking) {
    std::vector<const OwnedChannel *> meant;
    for (const std::uint32_t pid : asking.pids) {
        const std::size_t before = meant.size();
        for (const OwnedChannel &channel : scene.owned.channels)
            if (scene.process(channel).pid == pid)
                meant.push_back(&channel);
        if (meant.size() == before)
            return tl::unexpected(has_none(kernel, scene.owned, pid));
    }
    const bool is_tsg =
        asking.control.verb == Verb::preempt || asking.control.verb == Verb::timeslice;
    for (const Target &target : asking.targets) {
        const auto holder = holder_of(scene.lists(), target,
                                      is_tsg ? nvdebug::Listed::tsg : nvdebug::Listed::channel);
        if (!holder)
            return tl::unexpected(holder.error());
        const auto channel = owner_of(scene, {(*holder)->id, target.id}, asking.control.verb);
        if (!channel)
            return tl::unexpected(channel.error());
        meant.push_back(*channel);
    }
    return meant;
}

/** What is set for a TSG that several processes share (MPS) is set for all of them. */
Result<void> all_of_shared(const Scene &scene, const Asking &asking,
                           const std::vector<Task> &tasks) {
    for (const Task &task : tasks) {
        const Listed *const place = scene.listed(task);
        for (const OwnedChannel &other : scene.owned.channels) {
            const Listed *const its = place ? scene.listed(other) : nullptr;
            if (!its || its->runlist != place->runlist || its->tsg != place->tsg ||
                std::ranges::count(asking.pids, scene.process(other).pid))
                continue;
            return tl::unexpected(
                Error{ErrorCode::invalid, EINVAL, "",
                      named(scene.process(*task.first)) + " shares TSG " +
                          to_string({place->runlist, *place->tsg}) + " with " +
                          named(scene.process(other)) +
                          " (MPS), so that both would be changed; name all that share it"});
        }
    }
    return {};
}

// --- what is done ---

struct Plan {
    std::vector<Call> calls, undo;
};

/** Calls about channels take up to 64 of a client's. */
void add_disable(std::vector<Call> &calls, const std::vector<const OwnedChannel *> &channels,
                 bool disable) {
    std::map<std::tuple<std::size_t, std::size_t, std::uint32_t, std::uint32_t>,
             std::vector<const OwnedChannel *>>
        by_client;
    for (const OwnedChannel *channel : channels)
        by_client[{channel->process, channel->control, channel->client, channel->subdevice}]
            .push_back(channel);
    for (const auto &[client, all] : by_client)
        for (std::size_t begin = 0; begin < all.size(); begin += rm::DisableChannels::most) {
            rm::DisableChannels request{};
            request.disable = disable;
            for (std::size_t n = begin; n < all.size() && request.count < rm::DisableChannels::most;
                 n++) {
                request.clients[request.count] = all[n]->client;
                request.channels[request.count++] = all[n]->channel;
            }
            calls.push_back(call_of(*all[begin], all[begin]->subdevice, request));
        }
}

/** Those that are not so already, as far as is known. */
std::vector<const OwnedChannel *>
to_change(const Scene &scene, const std::vector<const OwnedChannel *> &channels, bool enabled) {
    std::vector<const OwnedChannel *> changed;
    for (const OwnedChannel *channel : channels) {
        const Listed *const at = scene.listed(*channel);
        if (!at || at->enabled != enabled)
            changed.push_back(channel);
    }
    return changed;
}

Error not_known(const std::string &who, const std::string &what) {
    return {ErrorCode::unsupported, EOPNOTSUPP, "",
            what + " of " + who +
                " is not known, so that it could not be put back; nothing was changed"};
}

/** Some drivers do not return it (580.159.04): it is then as TSGs are made (OGKM,
 * kernel_channel_group_api.c). */
std::uint32_t interleave_of(Kernel &kernel, const Scene &scene, const OwnedChannel &channel) {
    constexpr std::uint32_t medium = 1;
    rm::Interleave now{~std::uint32_t{0}};
    const Answer answer =
        ask_rm(kernel, scene.process(channel).controls[channel.control].here.number(),
               channel.client, channel.tsg, rm::Interleave::command, &now, sizeof(now));
    return answer.ok() && now.level <= rm::Interleave::highest ? now.level : medium;
}

/** The channel, and its mode by its context image. */
struct Context {
    const OwnedChannel *channel;
    std::uint32_t mode;
};

const nvdebug::Channel *channel_at(const std::vector<Runlist> &lists, const Listed &place) {
    for (const Runlist &list : lists)
        if (list.id == place.runlist)
            for (const auto &listed : channels_of(list))
                if (listed.channel->id == place.channel)
                    return listed.channel;
    return nullptr;
}

/** Of a TSG; what another channel shares is printed once, below the first. */
std::optional<Context> context_of(const Scene &scene, const Task &task) {
    for (const OwnedChannel *owned : task.channels) {
        const Listed *const place = scene.listed(*owned);
        const nvdebug::Channel *const channel = place ? channel_at(scene.lists(), *place) : nullptr;
        if (!channel || !channel->instance || !channel->instance->context)
            continue;
        const auto &mode = channel->instance->context->compute_preemption;
        std::string word = mode.value_or("");
        std::ranges::transform(word, word.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        });
        if (const auto index = index_of(modes, word))
            return Context{owned, static_cast<std::uint32_t>(*index)};
    }
    return std::nullopt;
}

Result<Plan> plan_modes(const Scene &scene, const Asking &asking, const std::vector<Task> &tasks) {
    Plan plan;
    for (const Task &task : tasks) {
        const auto context = context_of(scene, task);
        if (!context)
            continue; // copies have none
        rm::SetPreemptionMode request{};
        request.flags = rm::SetPreemptionMode::set_compute;
        request.channel = context->channel->tsg; // measured: of a TSG it shows in the image
        request.compute = static_cast<std::uint32_t>(asking.values.front());
        plan.calls.push_back(call_of(*context->channel, context->channel->subdevice, request));
        request.compute = context->mode;
        plan.undo.push_back(call_of(*context->channel, context->channel->subdevice, request));
    }
    if (plan.calls.empty())
        return tl::unexpected(not_known("these processes", "the preemption mode (which only root "
                                                           "may read, and only compute work has)"));
    return plan;
}

Result<Plan> make_plan(Kernel &kernel, const Scene &scene, const Asking &asking,
                       const std::vector<const OwnedChannel *> &channels) {
    const Verb verb = asking.control.verb;
    Plan plan;
    if (verb == Verb::disable || verb == Verb::enable) {
        const bool enable = verb == Verb::enable;
        const auto changed = to_change(scene, channels, enable);
        const bool guessed = std::ranges::any_of(
            changed, [&](const OwnedChannel *channel) { return !scene.listed(*channel); });
        if (enable && asking.lease && guessed)
            return tl::unexpected(not_known("these channels", "whether they were enabled"));
        add_disable(plan.calls, changed, !enable);
        add_disable(plan.undo, changed, enable);
        return plan;
    }
    const std::vector<Task> tasks = tasks_of(channels);
    if (tasks.empty() || (!asking.control.by_process && tasks.size() != asking.targets.size()))
        return tl::unexpected(Error{ErrorCode::invalid, EINVAL, "",
                                    tasks.empty() ? "there is no TSG" : "a TSG is named twice"});
    if (asking.control.by_process)
        if (auto all = all_of_shared(scene, asking, tasks); !all)
            return tl::unexpected(all.error());
    if (verb == Verb::mode)
        return plan_modes(scene, asking, tasks);
    for (std::size_t n = 0; n < tasks.size(); n++) {
        const OwnedChannel &one = *tasks[n].first;
        const std::uint64_t value =
            asking.values.empty() ? 0 : asking.values[asking.control.by_process ? 0 : n];
        if (verb == Verb::preempt) {
            plan.calls.push_back(call_of(one, one.tsg, rm::Preempt{1, 1, rm::Preempt::longest_us}));
        } else if (verb == Verb::timeslice) {
            if (!one.timeslice_us)
                return tl::unexpected(not_known(named(scene.process(one)), "a timeslice"));
            plan.calls.push_back(call_of(one, one.tsg, rm::SetTimeslice{value}));
            plan.undo.push_back(call_of(one, one.tsg, rm::SetTimeslice{*one.timeslice_us}));
            plan.undo.back().only_while_us = value;
        } else {
            plan.calls.push_back(
                call_of(one, one.tsg, rm::SetInterleave{static_cast<std::uint32_t>(value)}));
            plan.undo.push_back(
                call_of(one, one.tsg, rm::SetInterleave{interleave_of(kernel, scene, one)}));
        }
    }
    return plan;
}

/** The error of a call about this process that the RM refused. */
Error refused(Kernel &kernel, const Asking &asking, const Process &process, const Answer &answer) {
    const std::string what = std::string(asking.control.words) + " " + named(process);
    if (start_of(kernel, process.pid) != process.started || answer.status == rm::invalid_client ||
        answer.status == rm::object_not_found)
        return {ErrorCode::not_found, ESRCH, "",
                "cannot " + what +
                    ": it has ended, or freed it, meanwhile; what was changed of others was put "
                    "back"};
    if (answer.error || answer.status == rm::gpu_is_lost)
        return {ErrorCode::gone, ENODEV, "",
                "cannot " + what + ": the GPU has gone, NVIDIA's driver says" +
                    (answer.error ? " (" + std::string(::strerrordesc_np(-answer.error)) + ")"
                                  : std::string())};
    if (answer.status == rm::insufficient_permissions)
        return {ErrorCode::denied, EPERM, "",
                "cannot " + what + ": NVIDIA's driver does not let you" +
                    (asking.control.verb == Verb::interleave ? "; it takes CAP_SYS_NICE, use sudo"
                                                             : "; use sudo")};
    return {ErrorCode::unsupported, EOPNOTSUPP, "",
            "cannot " + what + ": NVIDIA's driver refuses with status " + hex(answer.status) +
                " (nvstatuscodes.h); nothing is changed"};
}

void make_all(Kernel &kernel, std::vector<Process> &processes, std::vector<Call> &calls) {
    for (Call &call : calls)
        make_call(kernel, processes[call.process].controls[call.control].here.number(), call);
}

Result<void> act(Kernel &kernel, const Asking &asking, std::vector<Process> &processes,
                 Plan &plan) {
    for (Call &call : plan.calls) {
        Process &process = processes[call.process];
        const Answer answer = make_call(kernel, process.controls[call.control].here.number(), call);
        if (answer.ok())
            continue;
        make_all(kernel, processes, plan.undo);
        return tl::unexpected(refused(kernel, asking, process, answer));
    }
    return {};
}

// --- does it show? ---

/** Steps of the hardware are finer than that. */
bool is_about(std::uint64_t ns, std::uint64_t us) {
    const std::uint64_t wanted = us * 1000;
    const std::uint64_t off = ns > wanted ? ns - wanted : wanted - ns;
    return off <= wanted / 16 + 2048;
}

/** What does not show of what was asked; empty: all does, as far as it can be seen. */
std::string unseen(const Scene &scene, const Asking &asking,
                   const std::vector<const OwnedChannel *> &channels) {
    const Verb verb = asking.control.verb;
    if (verb == Verb::disable || verb == Verb::enable) {
        for (const OwnedChannel *channel : channels)
            if (const Listed *const at = scene.listed(*channel);
                at && at->enabled && *at->enabled != (verb == Verb::enable))
                return "channel " + to_string({at->runlist, at->channel}) + " still is " +
                       (*at->enabled ? "enabled" : "disabled");
        return "";
    }
    const std::vector<Task> tasks = tasks_of(channels);
    for (std::size_t n = 0; n < tasks.size(); n++) {
        const Listed *const at = scene.listed(tasks[n]);
        if (verb == Verb::mode) {
            const auto context = context_of(scene, tasks[n]);
            if (context && context->mode != asking.values.front())
                return "the context of " + named(scene.process(*tasks[n].first)) + " still has " +
                       std::string(modes[context->mode]);
        }
        if (verb != Verb::timeslice || !at || !at->tsg)
            continue;
        const std::uint64_t us = asking.values[asking.control.by_process ? 0 : n];
        for (const Runlist &list : scene.lists())
            for (const nvdebug::ListedTsg &tsg : tsgs_of(list))
                if (list.id == at->runlist && tsg.id == *at->tsg)
                    for (const Tsg *header : tsg.headers)
                        if (!is_about(header->timeslice_ns, us))
                            return "the timeslice of TSG " + to_string({list.id, tsg.id}) +
                                   " still is " + std::to_string(header->timeslice_ns / 1000) +
                                   " us";
    }
    return "";
}

/** How often lists have each TSG. */
std::vector<std::size_t> entries_of(const Scene &scene,
                                    const std::vector<const OwnedChannel *> &channels) {
    std::vector<std::size_t> entries;
    for (const Task &task : tasks_of(channels)) {
        const Listed *const at = scene.listed(task);
        for (const Runlist &list : scene.lists())
            for (const nvdebug::ListedTsg &tsg : tsgs_of(list))
                if (at && list.id == at->runlist && tsg.id == at->tsg)
                    entries.push_back(tsg.headers.size());
    }
    return entries;
}

/** Looks a few times, for what a moment may take. */
Result<void> judge(Scene &scene, const Asking &asking,
                   const std::vector<const OwnedChannel *> &channels, const Look &look) {
    constexpr int looks = 10;
    constexpr timespec moment{0, 10'000'000};
    const Verb verb = asking.control.verb;
    if (scene.lists().empty() || verb == Verb::preempt)
        return {};
    const auto before = entries_of(scene, channels);
    std::string what;
    for (int n = 0; n < looks; n++) {
        if (n)
            ::nanosleep(&moment, nullptr);
        const auto lists = look(verb == Verb::mode ? Detail::full : Detail::brief);
        if (!lists)
            return tl::unexpected(lists.error());
        scene.look(*lists);
        what = unseen(scene, asking, channels);
        if (verb == Verb::interleave && entries_of(scene, channels) == before)
            what = "lists have the TSGs as often as before";
        if (what.empty())
            return {};
    }
    return tl::unexpected(Error{
        ErrorCode::unsupported, EOPNOTSUPP, "",
        "NVIDIA's driver took the request, but nothing came of it: " + what + "; it was put back"});
}

/** A TSG's entry in a list. */
struct Header {
    std::uint32_t runlist, tsg, timeout, scale;
    std::uint64_t ns;
    std::size_t headers;
};

std::optional<Header> header_of(const Scene &scene, const OwnedChannel &channel) {
    const Listed *const at = scene.listed(channel);
    for (const Runlist &list : scene.lists())
        for (const nvdebug::ListedTsg &tsg : tsgs_of(list))
            if (at && list.id == at->runlist && tsg.id == at->tsg) {
                const Tsg &first = *tsg.headers.front();
                return Header{
                    list.id,           tsg.id, first.timeout, first.scale, first.timeslice_ns,
                    tsg.headers.size()};
            }
    return std::nullopt;
}

/** As the module answers `set_timeslice`. */
std::string answer_of(const Header &old, const Header &now, std::uint64_t asked_us) {
    const auto line = [](const char *key, std::uint64_t value) {
        return std::string(key) + ": " + std::to_string(value) + "\n";
    };
    const auto us = [](const char *key, std::uint64_t ns) {
        return std::string(key) + ": " + std::to_string(ns / 1000) + "." +
               std::to_string(1000 + ns % 1000).substr(1) + "\n";
    };
    return line("runlist", now.runlist) + line("tsg", now.tsg) + us("asked_us", asked_us * 1000) +
           us("old_us", old.ns) + us("new_us", now.ns) + line("timeout", now.timeout) +
           line("scale", now.scale) + line("headers", now.headers);
}

/** Lists, and processes that have something on the GPU. */
Result<Scene> find_scene(Ownership &ownership, const Card &card, const Asking &asking, const Look &look) {
    // The lists first: what ends meanwhile then is not found.
    auto lists = look(asking.control.verb == Verb::mode ? Detail::full : Detail::brief);
    if (!lists)
        return tl::unexpected(lists.error());
    auto owned = ownership.find(card);
    // Old names may have been passed over: all are tried before a process counts as unused.
    if (owned && std::ranges::any_of(owned->processes, [&](const Process &process) {
            return std::ranges::count(asking.pids, process.pid) && process.controls.empty() &&
                   !process.denied;
        }))
        owned = ownership.find(card, true);
    if (!owned)
        return tl::unexpected(owned.error());
    return Scene(std::move(*owned), *lists);
}

/** Calls for the timeslices of tasks, and for all of their channels. */
Result<HeldCalls> held_calls(const Scene &scene, const std::vector<Task> &tasks,
                             const std::vector<const OwnedChannel *> &channels,
                             std::optional<std::uint32_t> runlist) {
    HeldCalls calls;
    // What is disabled now stays so.
    const auto changed = to_change(scene, channels, false);
    add_disable(calls.disable, changed, true);
    add_disable(calls.enable, changed, false);
    for (const Task &task : tasks) {
        const Listed *const place = scene.listed(task);
        if (runlist && !scene.lists().empty() && (!place || place->runlist != *runlist))
            continue;
        const OwnedChannel &one = *task.first;
        if (!one.timeslice_us)
            return tl::unexpected(not_known(named(scene.process(one)), "a timeslice"));
        calls.set.push_back(call_of(one, one.tsg, rm::SetTimeslice{*one.timeslice_us}));
        calls.look.push_back(call_of(one, one.tsg, rm::Timeslice{0}));
        calls.before_us.push_back(*one.timeslice_us);
    }
    return calls;
}

} // namespace

const std::vector<std::string> &control_files() {
    static const std::vector<std::string> files = [] {
        std::vector<std::string> names;
        for (const Control &control : controls)
            names.emplace_back(control.file);
        return names;
    }();
    return files;
}

bool is_control(std::string_view file) {
    return find_control(file);
}

Result<Performed> steer(const std::shared_ptr<Kernel> &kernel, Ownership &ownership, const Card &card,
                        std::string_view file, std::string_view text, const Look &look) {
    const auto asking = parse(*find_control(file), text);
    if (!asking)
        return tl::unexpected(asking.error());
    auto found = find_scene(ownership, card, *asking, look);
    if (!found)
        return tl::unexpected(found.error());
    Scene &scene = *found;
    const auto channels = channels_meant(*kernel, scene, *asking);
    if (!channels)
        return tl::unexpected(channels.error());
    auto plan = make_plan(*kernel, scene, *asking, *channels);
    if (!plan)
        return tl::unexpected(plan.error());
    const std::optional<Header> old = header_of(scene, *channels->front());
    std::shared_ptr<Keeper> keeper;
    if (asking->lease) {
        // Before anything is done, so that there is no moment without it.
        auto started = Keeper::start(kernel, scene.owned.processes, plan->undo);
        if (!started)
            return tl::unexpected(started.error());
        keeper = std::move(*started);
    }
    auto done = act(*kernel, *asking, scene.owned.processes, *plan);
    if (done) {
        done = judge(scene, *asking, *channels, look);
        if (!done)
            make_all(*kernel, scene.owned.processes, plan->undo);
    }
    if (!done) {
        if (keeper)
            keeper->dismiss();
        return tl::unexpected(std::move(done).error());
    }
    Performed performed;
    const std::optional<Header> now = header_of(scene, *channels->front());
    if (file == "set_timeslice" && asking->targets.size() == 1 && old && now)
        performed.answer = answer_of(*old, *now, asking->values.front());
    if (keeper)
        keeper->settle(std::move(scene.owned.processes));
    performed.lease = std::move(keeper);
    return performed;
}

Result<std::unique_ptr<TaskHold>> hold(const std::shared_ptr<Kernel> &kernel, Ownership &ownership,
                                       const Card &card, const std::vector<std::uint32_t> &pids,
                                       const HoldOptions &options, const Look &look) {
    const Asking asking{*find_control("set_task_timeslice"), true, {}, {}, pids};
    auto scene = find_scene(ownership, card, asking, look);
    if (!scene)
        return tl::unexpected(scene.error());
    const auto channels = channels_meant(*kernel, *scene, asking);
    if (!channels)
        return tl::unexpected(channels.error());
    const std::vector<Task> tasks = tasks_of(*channels);
    if (auto all = all_of_shared(*scene, asking, tasks); !all)
        return tl::unexpected(all.error());
    auto calls = held_calls(*scene, tasks, *channels, options.runlist);
    if (!calls)
        return tl::unexpected(calls.error());
    return Hold::start(kernel, std::move(scene->owned.processes), std::move(*calls), channels->size(),
                       options.patience);
}

} // namespace nvdebug::driver
