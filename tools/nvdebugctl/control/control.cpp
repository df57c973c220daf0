// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <ctime>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <sys/time.h>

#include "check/doctor.hpp"
#include "marks.hpp"
#include "nvdebug/nvdebug.hpp"
#include "cli/output.hpp"
#include "cli/page.hpp"
#include "state/state.hpp"
#include "cli/text.hpp"

namespace nvdebugctl {
namespace {

// How long a lease is held: until its time is up or a signal interrupts it.

/**
 * The time of a lease; it starts with the object. Whatever ends the process ends its leases, so
 * before wait() signals just do that, and so does the time when it is up while stdout blocks.
 */
class LeaseTime {
  public:
    using Seconds = std::chrono::duration<double>;

    /** @param limit none: until a signal comes */
    explicit LeaseTime(std::optional<Seconds> limit);

    /**
     * Returns when the time is up, or when SIGINT, SIGTERM, SIGHUP or SIGTSTP comes (unless it is
     * ignored, as under nohup). The result of the lease can still be printed then.
     * @param each_second is called meanwhile, if there is one
     * @return the time since the start
     */
    Seconds wait(const std::function<void()> &each_second = nullptr) const;

  private:
    Seconds elapsed() const { return std::chrono::steady_clock::now() - start_; }

    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::optional<Seconds> limit_;
};

using Seconds = LeaseTime::Seconds;

struct Split {
    time_t whole;
    double part;
};

Split split(Seconds span) {
    double whole;
    const double part = std::modf(std::max(span.count(), 0.0), &whole);
    return {static_cast<time_t>(whole), part};
}

/** Signals that wait() takes for the end, kept back for as long as it lives. */
class HeldSignals {
  public:
    HeldSignals() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGALRM);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGTSTP}) {
            struct sigaction action {};
            // one that is ignored would be queued all the same while it is blocked
            if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
                sigaddset(&set_, signal);
        }
        pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    HeldSignals(const HeldSignals &) = delete;
    HeldSignals &operator=(const HeldSignals &) = delete;

    /** One of them came; not if something else interrupted, or @p limit is over. */
    bool came(std::optional<Seconds> limit) const {
        if (!limit)
            return sigwaitinfo(&set_, nullptr) > 0;
        const Split left = split(*limit);
        const timespec time{left.whole, static_cast<long>(left.part * 1e9)};
        return sigtimedwait(&set_, nullptr, &time) > 0;
    }

  private:
    sigset_t set_;
    sigset_t before_;
};

LeaseTime::LeaseTime(std::optional<Seconds> limit) : limit_(limit) {
    if (!limit_)
        return;
    std::signal(SIGALRM, SIG_DFL);
    const Split span = split(*limit_);
    // a timer of zero would be none
    const auto microseconds =
        std::max(static_cast<suseconds_t>(span.part * 1e6), suseconds_t{span.whole == 0 ? 1 : 0});
    const itimerval timer{{}, {span.whole, microseconds}};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

Seconds LeaseTime::wait(const std::function<void()> &each_second) const {
    const HeldSignals signals;
    const auto left = [&]() -> std::optional<Seconds> {
        const auto all = limit_ ? std::optional(*limit_ - elapsed()) : std::nullopt;
        constexpr Seconds second(1);
        return each_second ? std::min(all.value_or(second), second) : all;
    };
    while (!signals.came(left())) {
        if (limit_ && elapsed() >= *limit_)
            break;
        if (each_second)
            each_second();
    }
    // the timer may have gone off just after
    std::signal(SIGALRM, SIG_IGN);
    return elapsed();
}

/** The value of --for, in seconds: 0 (until interrupted) is empty. */
Outcome<std::optional<Seconds>> parse_lease_time(const std::string &text) {
    const auto ns = parse_timespan_ns(text, "s");
    if (!ns)
        return usage(fmt::format("--for takes a time ({}) of up to 31 years, or 0 (until "
                                 "interrupted), not '{}'",
                                 timespan_examples, text));
    if (*ns == 0)
        return std::nullopt;
    return std::chrono::nanoseconds(*ns);
}

// Where a channel or TSG that the user named is: on which runlist, in which TSG.

/** The runlists that targets may be on, each read once. */
class Lists {
  public:
    /** Those that @p targets name; all if one of them names none. */
    static Outcome<Lists> read(const nvdebug::Gpu &gpu, std::span<const nvdebug::Target> targets,
                               nvdebug::Detail detail = nvdebug::Detail::brief);

    /** The list that holds @p target; fails unless that is one. */
    Outcome<const nvdebug::Runlist *> holder(const nvdebug::Target &target,
                                             nvdebug::Listed kind) const;

  private:
    std::vector<nvdebug::Runlist> lists_;
};

using nvdebug::Channel;
using nvdebug::EngineState;
using nvdebug::Gpu;
using nvdebug::Runlist;
using nvdebug::Target;

bool may_be_on(const Target &target, std::uint32_t runlist) {
    return !target.runlist || *target.runlist == runlist;
}

const Channel *find_channel(const Runlist &runlist, std::uint32_t id) {
    for (const nvdebug::ListedChannel &listed : channels_of(runlist))
        if (listed.channel->id == id)
            return listed.channel;
    return nullptr;
}

using Kind = Observation::Kind;

/** As people write it, and as the tool's object is called. */
const char *noun_of(Kind kind) {
    switch (kind) {
    case Kind::tsg:
        return "TSG";
    case Kind::channel:
        return "channel";
    case Kind::task:
        return "task";
    default:
        return "runlist";
    }
}
const char *object_of(Kind kind) {
    return kind == Kind::tsg ? "tsg" : noun_of(kind);
}

/** Fails if the GPU lacks a runlist that a target names; else the ids of all that it has. */
Outcome<std::vector<std::uint32_t>> known_runlists(const nvdebug::Gpu &gpu,
                                                   std::span<const Target> targets) {
    auto info = gpu.info();
    if (!info)
        return tl::unexpected(Failure(info.error()));
    for (const Target &target : targets)
        if (target.runlist && !std::ranges::count(info->runlists, *target.runlist))
            return no_runlist(gpu.folder(), info->runlists, *target.runlist);
    return std::move(info->runlists);
}

Outcome<Lists> Lists::read(const nvdebug::Gpu &gpu, std::span<const Target> targets,
                           nvdebug::Detail detail) {
    const auto ids = known_runlists(gpu, targets);
    if (!ids)
        return tl::unexpected(ids.error());
    Lists lists;
    for (const std::uint32_t id : *ids) {
        const auto wanted = [id](const Target &target) { return may_be_on(target, id); };
        if (std::ranges::none_of(targets, wanted))
            continue;
        auto runlist = gpu.runlist(id, detail);
        if (!runlist)
            return tl::unexpected(Failure(runlist.error()));
        if (runlist->torn)
            return fail(nvdebug::ErrorCode::busy,
                        fmt::format("{} kept moving while it was read; try again",
                                    gpu.path(fmt::format("runlist{}", id))));
        lists.lists_.push_back(std::move(*runlist));
    }
    return lists;
}

Outcome<const Runlist *> Lists::holder(const Target &target, nvdebug::Listed kind) const {
    const auto found = nvdebug::holder_of(lists_, target, kind);
    return found ? Outcome<const Runlist *>(*found) : tl::unexpected(Failure(found.error()));
}

/** The context of a channel, which the list may print below another one; nullptr: none shown. */
const nvdebug::Context *context_of(const Runlist &runlist, const Channel &channel) {
    const Channel *holder = &channel;
    // a reference leads to a channel that was printed in full: two steps at most
    for (int step = 0; step < 2 && holder && holder->instance; ++step) {
        const nvdebug::InstanceBlock &block = *holder->instance;
        if (block.context)
            return &*block.context;
        const auto other = block.same_as_channel ? block.same_as_channel : block.context_as_channel;
        holder = other ? find_channel(runlist, *other) : nullptr;
    }
    return holder && holder->instance && holder->instance->context ? &*holder->instance->context
                                                                   : nullptr;
}

using Observations = std::vector<Observation>;

Json listed_tsgs(const Runlist &runlist) {
    Json ids = Json::array();
    for (const nvdebug::ListedTsg &tsg : nvdebug::tsgs_of(runlist))
        ids.push_back(tsg.id);
    return ids;
}

Observation of_runlist(std::uint32_t id, std::string property, Json value) {
    return {Kind::runlist, {std::nullopt, id}, std::move(property), std::move(value)};
}

/** A TSG or channel with the runlist that holds it. */
Target place_in(const Runlist &runlist, const Target &target) {
    return {runlist.id, target.id};
}

/** Do all of @p ids have a file? Requests for others are refused before anything is written. */
Outcome<void> all_exist(const Gpu &gpu, const Ids &ids) {
    Targets targets;
    for (const std::uint32_t id : ids)
        targets.push_back({id, 0});
    const auto known = known_runlists(gpu, targets);
    return known ? Outcome<void>{} : tl::unexpected(known.error());
}

Json change(const Observation &before, const Json &after) {
    const bool is_runlist = before.kind == Observation::Kind::runlist;
    return {{"object", object_of(before.kind)},
            {"runlist", is_runlist ? Json(before.target.id) : or_null(before.target.runlist)},
            {"id", is_runlist ? Json() : Json(before.target.id)},
            {"property", before.property},
            {"old", before.value},
            {"new", after}};
}

Json changes(const Observations &before, const Observations &after) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < before.size(); ++i)
        rows.push_back(change(before[i], i < after.size() ? after[i].value : Json()));
    return rows;
}

/** After a lease: is everything as it was before it? */
Outcome<void> compare(const Observations &before, const Observations &now) {
    for (std::size_t i = 0; i < before.size() && i < now.size(); ++i)
        if (now[i].gone)
            say(fmt::format("{} {} has ended: of it there is nothing to undo",
                            noun_of(before[i].kind), to_string(before[i].target)));
        else if (before[i].value != now[i].value)
            return fail(nvdebug::ErrorCode::busy,
                        fmt::format("the lease is over, but {} {} has {} {} and had {} before: "
                                    "something else changed it, or it could not be put back "
                                    "(of the module 'dmesg' says so)",
                                    noun_of(before[i].kind), to_string(before[i].target),
                                    label(before[i].property),
                                    shown(before[i].property, now[i].value),
                                    shown(before[i].property, before[i].value)));
    return {};
}

/** A lease and all that is needed to see it through. */
struct Held {
    LeaseTime time;
    nvdebug::Lease lease;
    Observations before;
    Observe observe;
    const Gpu &gpu;
    Renew renew;
    std::string what; // for recorders
    bool renewed = false;
    std::optional<nvdebug::Request> wanted = std::nullopt; // and not granted yet

    Outcome<void> see_through() {
        const LeaseTime::Seconds waited = renew ? time.wait([this] { look(); }) : time.wait();
        lease.end();
        if (const std::size_t missed = tell_recorders(gpu.folder(), "undone: " + what))
            say(not_told(missed));
        // The state may have changed since the lease began.
        if (renewed) {
            say(fmt::format("undone after {:.1f} s", waited.count()));
            return {};
        }
        const auto now = observe();
        if (!now)
            return tl::unexpected(now.error());
        if (auto same = compare(before, *now); !same)
            return same;
        say(fmt::format("undone after {:.1f} s", waited.count()));
        return {};
    }

    void look() {
        if (auto request = renew())
            wanted = std::move(request);
        if (!wanted)
            return;
        renewed = true;
        lease.end();
        auto next = gpu.lease(*wanted);
        if (!next)
            return say(fmt::format("tried again in a second: {}", next.error().sentence));
        lease = std::move(*next);
        wanted.reset();
    }
};

/** What the kernel is sent, which is no more than a word longer for a lease. */
Json write_of(const Context &context, const nvdebug::Request &request, bool leased) {
    return {{"file", context.gpu().path(request.file)},
            {"text", (leased ? "lease " : "") + request.text}};
}

/** A value of a change as people read it. */
std::string words_of(const std::string &property, const Json &value) {
    if (value.is_null())
        return "not known";
    if (property == "enabled")
        return value.get<bool>() ? "enabled" : "disabled";
    if (property == "scheduling")
        return value.get<bool>() ? "on" : "off";
    if (property == "listed_tsgs")
        return value.empty() ? "no TSG"
                             : (value.size() > 1 ? "TSGs " : "TSG ") +
                                   fold_ids(value.get<std::vector<std::uint32_t>>());
    if (value.is_array() && value.empty())
        return property == "running" ? "nothing" : "no engine";
    return shown(property, value);
}

/** `channel 0:5: enabled -> disabled`, `runlist 0: preempted; running before: TSG 1, now: TSG 2` */
std::string change_line(const Json &change, bool dry) {
    const std::string property = change["property"], object = change["object"];
    std::string line = (object == "tsg" ? "TSG" : object) + " ";
    if (!change["runlist"].is_null())
        line += change["runlist"].dump();
    if (!change["id"].is_null())
        line += (change["runlist"].is_null() ? "" : ":") + change["id"].dump();
    const std::string before = words_of(property, change["old"]);
    const std::string after = words_of(property, change["new"]);
    if (property == "running" || property == "on_engines") {
        const char *const what = property == "running" ? "running" : "on";
        return dry ? fmt::format("{}: {} {} now", line, what, before)
                   : fmt::format("{}: preempted; {} before: {}, now: {}", line, what, before,
                                 after);
    }
    line += ": ";
    if (property != "enabled")
        line += property == "listed_tsgs" ? "holds " : label(property) + " ";
    return dry ? line + before : line + before + " -> " + after;
}

} // namespace

Observe enabled(const Gpu &gpu, Targets channels) {
    return [&gpu, channels = std::move(channels)]() -> Outcome<Observations> {
        const auto lists = Lists::read(gpu, channels);
        if (!lists)
            return tl::unexpected(lists.error());
        Observations seen;
        for (const Target &target : channels) {
            const auto holder = lists->holder(target, nvdebug::Listed::channel);
            if (!holder)
                return tl::unexpected(holder.error());
            seen.push_back({Kind::channel, place_in(**holder, target), "enabled",
                            or_null(find_channel(**holder, target.id)->enabled)});
        }
        return seen;
    };
}

Observe compute_preemption(const Gpu &gpu, Target channel) {
    return [&gpu, channel]() -> Outcome<Observations> {
        const Targets one{channel};
        const auto lists = Lists::read(gpu, one, nvdebug::Detail::full);
        if (!lists)
            return tl::unexpected(lists.error());
        const auto holder = lists->holder(channel, nvdebug::Listed::channel);
        if (!holder)
            return tl::unexpected(holder.error());
        const nvdebug::Context *context = context_of(**holder, *find_channel(**holder, channel.id));
        return Observations{{Kind::channel, place_in(**holder, channel), "compute_preemption",
                             context ? or_null(context->compute_preemption) : Json()}};
    };
}

Observe on_engines(const Gpu &gpu, Targets tsgs) {
    return [&gpu, tsgs = std::move(tsgs)]() -> Outcome<Observations> {
        const auto lists = Lists::read(gpu, tsgs);
        if (!lists)
            return tl::unexpected(lists.error());
        Targets places;
        for (const Target &target : tsgs) {
            const auto holder = lists->holder(target, nvdebug::Listed::tsg);
            if (!holder)
                return tl::unexpected(holder.error());
            places.push_back(place_in(**holder, target));
        }
        const auto states = gpu.engine_states();
        if (!states)
            return tl::unexpected(Failure(states.error()));
        Observations seen;
        for (const Target &place : places) {
            const nvdebug::Occupant tsg{nvdebug::Occupant::Kind::tsg, place.id};
            Json engines = Json::array();
            for (const EngineState &state : *states)
                if (state.runlist == place.runlist && state.current == tsg)
                    engines.push_back(state.engine);
            seen.push_back({Kind::tsg, place, "on_engines", std::move(engines)});
        }
        return seen;
    };
}

Observe timeslice(const Gpu &gpu, Target tsg) {
    return [&gpu, tsg]() -> Outcome<Observations> {
        const Targets one{tsg};
        const auto lists = Lists::read(gpu, one);
        if (!lists)
            return tl::unexpected(lists.error());
        const auto holder = lists->holder(tsg, nvdebug::Listed::tsg);
        if (!holder)
            return tl::unexpected(holder.error());
        const auto tsgs = nvdebug::tsgs_of(**holder);
        const auto listed = std::ranges::find(tsgs, tsg.id, &nvdebug::ListedTsg::id);
        return Observations{{Kind::tsg, place_in(**holder, tsg), "timeslice_us",
                             microseconds(listed->headers.front()->timeslice_ns)}};
    };
}

Observe listed_beside(const Gpu &gpu, Target tsg) {
    return [&gpu, tsg, home = tsg.runlist]() mutable -> Outcome<Observations> {
        if (!home) {
            const Targets one{tsg};
            const auto lists = Lists::read(gpu, one);
            if (!lists)
                return tl::unexpected(lists.error());
            const auto holder = lists->holder(tsg, nvdebug::Listed::tsg);
            if (!holder)
                return tl::unexpected(holder.error());
            home = (*holder)->id;
        }
        // it may be on the driver's list alone, which a list of the module's own has replaced
        return listed(gpu, {*home})();
    };
}

Observe listed(const Gpu &gpu, Ids runlists) {
    return [&gpu, runlists = std::move(runlists)]() -> Outcome<Observations> {
        if (auto exist = all_exist(gpu, runlists); !exist)
            return tl::unexpected(exist.error());
        Observations seen;
        for (const std::uint32_t id : runlists) {
            const auto runlist = gpu.runlist(id, nvdebug::Detail::brief);
            if (!runlist)
                return tl::unexpected(Failure(runlist.error()));
            seen.push_back(of_runlist(id, "listed_tsgs", listed_tsgs(*runlist)));
        }
        return seen;
    };
}

Observe running(const Gpu &gpu, Ids runlists) {
    return [&gpu, runlists = std::move(runlists)]() -> Outcome<Observations> {
        if (auto exist = all_exist(gpu, runlists); !exist)
            return tl::unexpected(exist.error());
        const auto states = gpu.engine_states();
        if (!states)
            return tl::unexpected(Failure(states.error()));
        Observations seen;
        for (const std::uint32_t id : runlists) {
            Json occupants = Json::array();
            for (const EngineState &state : *states)
                if (state.runlist == id && state.current)
                    occupants.push_back(occupant(state.current));
            seen.push_back(of_runlist(id, "running", std::move(occupants)));
        }
        return seen;
    };
}

Observe scheduling(const Gpu &gpu, Ids runlists) {
    return [&gpu, runlists = std::move(runlists)]() -> Outcome<Observations> {
        if (auto exist = all_exist(gpu, runlists); !exist)
            return tl::unexpected(exist.error());
        const auto states = gpu.scheduling();
        if (!states)
            return tl::unexpected(Failure(states.error()));
        Observations seen;
        for (const std::uint32_t id : runlists) {
            const auto state = states->find(id);
            seen.push_back(of_runlist(id, "scheduling",
                                      state == states->end() ? Json() : Json(state->second)));
        }
        return seen;
    };
}

Outcome<void> check_lease_time(const Context &context) {
    const auto text = context.value("--for");
    if (text)
        if (auto parsed = parse_lease_time(*text); !parsed)
            return tl::unexpected(parsed.error());
    return {};
}

namespace {

/** Adds the reason to EPERM, which has several: @p refused is what the machine's facts show. */
Failure particular(nvdebug::Error error, const std::optional<std::string> &refused) {
    if (error.number == EPERM && refused)
        error.sentence = fmt::format("{} was not written, since the kernel refuses it: {}",
                                     error.path, *refused);
    return Failure(std::move(error));
}

/** Of a control that goes through the module. */
void note_who_undoes(Context &context) {
    const auto info = context.gpu().info();
    if (const auto who = info && info->pci_address ? controls_undone("", *info->pci_address)
                                                   : std::optional<std::string>())
        context.note(*who);
}

} // namespace

Outcome<Document> carry_out(Context &context, const nvdebug::Request &request,
                            const Observe &observe, const Renew &renew) {
    auto lease_text = context.value("--for");
    if (renew && !lease_text)
        lease_text = "0";
    std::optional<LeaseTime::Seconds> limit;
    if (lease_text)
        limit = *parse_lease_time(*lease_text);
    const bool dry = context.flag("--dry-run");
    auto before = observe();
    if (!before) {
        Failure failure = before.error();
        // The group that may look (state_gid) may not do more than that.
        if (failure.error.number == EACCES && !dry)
            failure.error.sentence =
                fmt::format("cannot read {}: permission denied; controls are root's, so run this "
                            "as root",
                            failure.error.path);
        return tl::unexpected(std::move(failure));
    }

    const bool by_module = context.gpu().tree().source() == nvdebug::Source::module;
    const std::optional<std::string> refused =
        by_module ? controls_refused("") : std::optional<std::string>();
    if (by_module)
        note_who_undoes(context);
    Document document;
    document.data = {{"dry_run", dry},
                     {"refused", or_null(refused)},
                     {"write", write_of(context, request, lease_text.has_value())},
                     {"lease", lease_text.has_value()},
                     {"lease_seconds", limit ? Json(limit->count()) : Json(nullptr)},
                     {"changes", changes(*before, {})}};
    if (dry) {
        document.exit = refused ? failed : done;
        return document;
    }

    if (lease_text) {
        auto lease = context.gpu().lease(request);
        if (!lease)
            return tl::unexpected(particular(lease.error(), refused));
        const auto held = std::make_shared<Held>(
            Held{LeaseTime(limit), std::move(*lease), *before, observe, context.gpu(), renew,
                 request.file + " " + request.text});
        document.then = [held] { return held->see_through(); };
    } else if (auto answer = context.gpu().perform(request); !answer) {
        return tl::unexpected(particular(answer.error(), refused));
    }
    if (const std::size_t missed =
            tell_recorders(context.gpu().folder(), request.file + " " + request.text))
        context.note(not_told(missed));

    if (auto after = observe())
        document.data["changes"] = changes(*before, *after);
    else
        context.missing(after.error().error);
    return document;
}

void show_control(const Json &data, Page &page) {
    const bool dry = data["dry_run"].get<bool>();
    const std::string write =
        fmt::format("write \"{}\" to {}", data["write"]["text"].get<std::string>(),
                    data["write"]["file"].get<std::string>());
    if (dry && data["refused"].is_null())
        page.line("would " + write);
    else if (dry)
        page.line(
            fmt::format("would be refused: {} (to {})", data["refused"].get<std::string>(), write));
    for (const Json &change : data["changes"])
        page.line(change_line(change, dry));
    if (dry || !data["lease"].get<bool>())
        return;
    const Json &seconds = data["lease_seconds"];
    page.line(seconds.is_null() ? "until interrupted (Ctrl-C)"
                                : fmt::format("for {} s (Ctrl-C ends it sooner)", seconds.dump()));
}

} // namespace nvdebugctl
