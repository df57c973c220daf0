// SPDX-License-Identifier: MIT OR GPL-2.0
#include "goals.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "lib/base/task_name.hpp"
#include "lib/base/words.hpp"
#include "nvdebug/task.hpp"

namespace nvqos {

using nvdebug::base::printable;
using qos::Aim;

namespace {

/** `30%`: above 0, at most all of it */
std::optional<qos::Part> part_of(std::string_view text) {
    const auto percent = nvdebug::base::parse_percent(text);
    static_assert(qos::whole == 1'000'000); // parts are millionths, too
    const qos::Part part = percent ? static_cast<qos::Part>(*percent / 100) : 0;
    return part ? std::optional(part) : std::nullopt;
}

std::string quoted(std::string_view text) {
    return "'" + printable(text) + "'";
}

} // namespace

std::string percent_of(qos::Part part) {
    return fmt::format("{:g} %", static_cast<double>(part) / static_cast<double>(qos::point));
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

Outcome<void> select(std::string_view kind, std::string_view word, Tenant &tenant) {
    namespace base = nvdebug::base;
    const auto take = [](const auto &read, auto &to) {
        if (read)
            to = *read;
        return read ? Outcome<void>() : fail(bad_usage, read.error());
    };
    Selector &who = tenant.who;
    if (kind == "pid")
        return take(base::read_pid(word), who.pid);
    if (kind == "all-of")
        return take(base::read_pid(word), who.all_of);
    if (kind == "container")
        return take(base::read_container(word), who.container);
    if (kind == "pod")
        return take(base::read_pod(word), who.pod);
    if (kind == "cgroup")
        return take(base::read_cgroup(word), who.cgroup);
    if (kind == "job")
        return take(base::read_job(word), who.job);
    if (kind == "command") {
        tenant.note = base::note_on_command(word);
        return take(base::read_command(word), who.command);
    }
    const std::vector<std::string> kinds = {"pid",     "container", "pod", "cgroup",
                                            "command", "all-of",    "job"};
    return fail(bad_usage, quoted(kind) + base::guess(kind, kinds) +
                               " is no way to name a task: those are " +
                               base::listed(kinds, " and "));
}

Outcome<Tenant> parse_tenant(std::string_view text) {
    const std::size_t colon = text.find(':');
    Tenant tenant{.name = std::string(text)};
    if (colon == text.npos) {
        const auto selected = select("pid", text, tenant);
        const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
        if (!selected && is_number)
            return tl::unexpected(selected.error());
        if (!selected)
            return fail(bad_usage, quoted(text) +
                                       " names no task: write command:" + printable(text) +
                                       " if it is a name, the number of a process, container:ID, "
                                       "pod:UID, cgroup:PATH, command:NAME, all-of:PID or job:ID");
        return tenant;
    }
    const std::string_view kind = text.substr(0, colon), value = text.substr(colon + 1);
    if (value.empty())
        return fail(bad_usage, quoted(text) + " names no task: nothing stands behind the colon");
    if (auto selected = select(kind, value, tenant); !selected)
        return tl::unexpected(std::move(selected).error());
    return tenant;
}

/// Reads a goal of an engine, as `200ms` or `200ms@95`.
std::optional<qos::Tail> tail_of(std::string_view text) {
    const std::size_t at = std::min(text.find('@'), text.size());
    const auto most = parse_time(text.substr(0, at));
    const auto percent = at == text.size()
                             ? std::optional<std::int64_t>(qos::Tail().percent)
                             : nvdebug::base::parse_whole(text.substr(at + 1), 1, 100);
    return most && *most > 0 && percent ? std::optional(qos::Tail{*most, *percent}) : std::nullopt;
}

/// Adds the word of a goal that marks judge.
Outcome<void> add_tail(std::string_view kind, std::string_view value, qos::Goal &goal) {
    qos::Tail &tail = kind == "ttft" ? goal.ttft : goal.tpot;
    const auto read = tail_of(value);
    if (!read)
        return fail(
            bad_usage,
            fmt::format("{} takes a time that 99 of 100 requests do not exceed, as {}:200ms, "
                        "or of another percentile, as {}:200ms@95, not {}",
                        kind, kind, kind, quoted(value)));
    if (tail.most > 0)
        return fail(bad_usage, fmt::format("a tenant has one {}", kind));
    if (goal.aim != Aim::best_effort && !goal.is_marked())
        return fail(bad_usage,
                    fmt::format("'{}' beside '{}': ttft and tpot stand beside each other "
                                "and a cap, and mean that the tenant is served first",
                                kind, text_of(goal)));
    tail = *read;
    goal.aim = Aim::latency;
    return {};
}

Outcome<void> add_goal(std::string_view text, qos::Goal &goal) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view kind = text.substr(0, colon),
                           value = text.substr(std::min(colon + 1, text.size()));
    const auto wants_part = [&] {
        return fail(bad_usage,
                    fmt::format("{} takes a part as {}:30%, above 0 and at most 100%, not {}{}",
                                kind, kind, quoted(value), nvdebug::base::percent_guess(value)));
    };
    if (kind == "cap") {
        if (goal.cap)
            return fail(bad_usage, "a tenant has one cap");
        goal.cap = part_of(value);
        return goal.cap ? Outcome<void>() : wants_part();
    }
    if (kind == "ttft" || kind == "tpot")
        return add_tail(kind, value, goal);
    Aim aim = Aim::best_effort;
    if (kind == "share" || kind == "speed") {
        aim = kind == "share" ? Aim::share : Aim::speed;
        const auto part = part_of(value);
        if (!part)
            return wants_part();
        goal.part = *part;
    } else if (kind == "latency") {
        aim = Aim::latency;
        if (colon < text.size()) {
            const auto p99 = parse_time(value);
            if (!p99 || *p99 == 0)
                return fail(bad_usage,
                            fmt::format("latency takes a time in which 99 of 100 requests end, as "
                                        "latency:5ms, not {}",
                                        quoted(value)));
            goal.p99 = *p99;
        }
    } else if (kind == "best-effort") {
        constexpr std::int64_t most = 1000;
        if (!value.empty() || colon < text.size()) {
            const auto weight = nvdebug::base::parse_whole(value, 1, most);
            if (!weight)
                return fail(bad_usage, fmt::format("best-effort takes a weight of 1 to {}, not {}",
                                                   most, quoted(value)));
            goal.weight = *weight;
        }
    } else if (kind == "timeslice") {
        aim = Aim::timeslice;
        const qos::Settings bounds;
        const auto slice = parse_time(value);
        if (!slice || *slice < bounds.shortest || *slice > bounds.longest)
            return fail(bad_usage,
                        fmt::format("timeslice takes a time from {:g}us to {:g}s, as "
                                    "timeslice:500us, not {}",
                                    double(bounds.shortest) / double(qos::us),
                                    double(bounds.longest) / double(qos::second), quoted(value)));
        goal.slice = *slice;
    } else {
        const std::vector<std::string> kinds = {"share",       "cap",       "speed", "latency",
                                                "best-effort", "timeslice", "ttft",  "tpot"};
        return fail(bad_usage, quoted(kind) + nvdebug::base::guess(kind, kinds) +
                                   " is no goal: those are share:N%, cap:N%, speed:N%, "
                                   "latency[:TIME], ttft:TIME, tpot:TIME, best-effort[:WEIGHT] "
                                   "and timeslice:TIME");
    }
    if (goal.aim != Aim::best_effort)
        return fail(bad_usage,
                    fmt::format("'{}' beside '{}': a tenant has one of share, speed, latency, "
                                "best-effort and timeslice, and a cap",
                                kind, text_of(goal)));
    goal.aim = aim;
    return {};
}

Outcome<void> add_goals(std::string_view text, qos::Goal &goal) {
    for (;;) {
        const std::size_t comma = std::min(text.find(','), text.size());
        if (auto added = add_goal(text.substr(0, comma), goal); !added)
            return added;
        if (comma == text.size())
            return {};
        text.remove_prefix(comma + 1);
    }
}

Outcome<qos::Goal> parse_goal(std::string_view text) {
    qos::Goal goal;
    return add_goals(text, goal).map([&] { return goal; });
}

Outcome<Gang> parse_gang(std::string_view text) {
    for (const Gang gang : {Gang::off, Gang::on, Gang::nodes})
        if (text == text_of(gang))
            return gang;
    return fail(bad_usage, fmt::format("gang takes off, if tasks of the tenant on several GPUs do "
                                       "not wait for each other, nodes, if it has tasks on other "
                                       "nodes as well, and else on, not {}",
                                       quoted(text)));
}

Outcome<void> check_gang(Gang gang, const qos::Goal &goal) {
    if (gang != Gang::nodes)
        return {};
    if (goal.aim == Aim::timeslice)
        return fail(bad_usage, fmt::format("'{}' beside gang=nodes: windows by the clock set "
                                           "timeslices; ask for a share, or leave out gang=nodes",
                                           text_of(goal)));
    if (goal.aim == Aim::latency && goal.cap)
        return fail(bad_usage, fmt::format("'{}' beside gang=nodes: what is served first has no "
                                           "windows by the clock, which would keep its cap; leave "
                                           "out the cap, or gang=nodes",
                                           text_of(goal)));
    return {};
}

namespace {

constexpr std::string_view gang_word = "gang=";

} // namespace

// A cgroup's path may contain '=' and ','. A goal does not, except for gang=.
std::size_t sign_of(std::string_view word) {
    for (std::size_t end = word.size();;) {
        const std::size_t comma = word.substr(0, end).rfind(','),
                          begin = comma == word.npos ? 0 : comma + 1;
        const std::string_view item = word.substr(begin, end - begin);
        const std::size_t sign = item.rfind('=');
        if (sign != item.npos && !item.starts_with(gang_word)) {
            constexpr std::string_view before = "=gang";
            const bool is_gang =
                item.substr(0, sign).ends_with(before) && !parse_goal(item.substr(sign + 1));
            return begin + sign - (is_gang ? before.size() : 0);
        }
        if (comma == word.npos)
            return word.npos;
        end = comma;
    }
}

Outcome<std::optional<Gang>> take_gang(std::string &goals) {
    std::optional<Gang> taken;
    std::vector<std::string> others;
    for (std::string_view left = goals;;) {
        const std::string_view item = left.substr(0, left.find(','));
        if (!item.starts_with(gang_word)) {
            others.emplace_back(item);
        } else if (taken) {
            return fail(bad_usage, "gang= is there twice: write it once");
        } else {
            const auto gang = parse_gang(item.substr(gang_word.size()));
            if (!gang)
                return tl::unexpected(gang.error());
            taken = *gang;
        }
        if (item.size() == left.size())
            break;
        left.remove_prefix(item.size() + 1);
    }
    goals = others.empty() ? "best-effort" : fmt::format("{}", fmt::join(others, ","));
    return taken;
}

Outcome<void> add_word(std::string_view word, Goals &goals) {
    const std::size_t sign = sign_of(word);
    if (sign == word.npos || sign == 0) {
        const std::vector<std::string> commands = {"status", "list", "simulate", "help"};
        return fail(bad_usage, quoted(word) + nvdebug::base::guess(word, commands) +
                                   " is no WHO=GOAL: write 4711=share:30%, or "
                                   "command:serve=latency,cap:60%");
    }
    const std::string_view who = word.substr(0, sign);
    std::string text(word.substr(sign + 1));
    const auto gang = take_gang(text);
    if (!gang)
        return fail(bad_usage, printable(who) + ": " + gang.error().sentence);
    const auto goal = parse_goal(text);
    if (!goal)
        return fail(bad_usage, printable(who) + ": " + goal.error().sentence);
    if (who == "others") {
        if (*gang)
            return fail(bad_usage,
                        "others: tasks without a tenant are no gang: leave out gang=, or "
                        "name the job, as command:train=gang=on");
        goals.others = *goal;
        return {};
    }
    auto tenant = parse_tenant(who);
    if (!tenant)
        return tl::unexpected(std::move(tenant).error());
    for (const Tenant &other : goals.tenants)
        if (other.who == tenant->who)
            return fail(bad_usage,
                        quoted(who) +
                            " is named twice: give all of its goals in one, as share:20%,cap:40%");
    tenant->goal = *goal;
    tenant->gang = gang->value_or(Gang::on);
    if (const auto checked = check_gang(tenant->gang, tenant->goal); !checked)
        return fail(bad_usage, printable(who) + ": " + checked.error().sentence);
    goals.tenants.push_back(std::move(*tenant));
    return {};
}

std::optional<qos::Ns> parse_time(std::string_view text) {
    const auto ns = nvdebug::base::parse_time_ns(text);
    return ns && *ns <= longest_time ? std::optional(static_cast<qos::Ns>(*ns)) : std::nullopt;
}

Outcome<qos::Scheme> parse_scheme(std::string_view text) {
    for (const qos::Scheme scheme :
         {qos::Scheme::naive, qos::Scheme::history, qos::Scheme::elastic, qos::Scheme::rollover})
        if (text == text_of(scheme))
            return scheme;
    return fail(bad_usage,
                quoted(text) + " is no scheme: those are naive, history, elastic and rollover");
}

bool fits(const Tenant &tenant, const nvdebug::Process &process, const Trees &trees) {
    if (tenant.family)
        return tenant.family->has(process);
    const Selector &who = tenant.who;
    if (who.all_of) {
        const auto tree = trees.find(*who.all_of);
        if (tree == trees.end() || !tree->second->has(process))
            return false;
    }
    nvdebug::TaskSelection selection{.container = who.container,
                                     .pod = who.pod,
                                     .job = who.job,
                                     .cgroup = who.cgroup,
                                     .command = who.command};
    if (who.pid)
        selection.pids = {*who.pid};
    // A selector with all-of alone fits the whole tree.
    return (who.all_of && selection.empty()) || nvdebug::is_selected(selection, process);
}

namespace {

/// Returns `ttft 200 ms, tpot 10 ms (95 %)`.
std::string tails_of(const qos::Goal &goal) {
    std::string text;
    for (const auto &[name, tail] : {std::pair{"ttft", goal.ttft}, {"tpot", goal.tpot}})
        if (tail.most > 0)
            text += fmt::format(
                "{}{} {:g} ms{}", text.empty() ? "" : ", ", name,
                double(tail.most) / double(qos::ms),
                tail.percent == qos::Tail().percent ? "" : fmt::format(" ({} %)", tail.percent));
    return text;
}

} // namespace

std::string text_of(const qos::Goal &goal) {
    std::string text;
    switch (goal.aim) {
    case Aim::share:
        text = "share " + percent_of(goal.part);
        break;
    case Aim::speed:
        text = "speed " + percent_of(goal.part);
        break;
    case Aim::latency:
        text = goal.p99 ? fmt::format("latency {:g} ms", double(goal.p99) / double(qos::ms))
               : goal.is_marked() ? tails_of(goal)
                                  : "latency";
        break;
    case Aim::timeslice:
        text = fmt::format("timeslice {:g} us", double(goal.slice) / double(qos::us));
        break;
    case Aim::best_effort:
        text = goal.weight > 1 ? fmt::format("best effort {}", goal.weight)
               : goal.cap      ? ""
                               : "best effort";
        break;
    }
    if (goal.cap)
        text += (text.empty() ? "cap " : ", cap ") + percent_of(*goal.cap);
    return text;
}

std::string text_of(Gang gang) {
    return gang == Gang::off ? "off" : gang == Gang::on ? "on" : "nodes";
}

std::string text_of(qos::Scheme scheme) {
    switch (scheme) {
    case qos::Scheme::naive:
        return "naive";
    case qos::Scheme::history:
        return "history";
    case qos::Scheme::elastic:
        return "elastic";
    default:
        return "rollover";
    }
}

} // namespace nvqos
