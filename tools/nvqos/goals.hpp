// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Goals: which processes are a tenant, and what the tenant is to get. */
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "failure.hpp"
#include "family.hpp"
#include "lib/qos/goal.hpp"
#include "nvdebug/owner.hpp"

namespace nvqos {

/** Selects the processes that fit all of its members, as nvdebugctl(1) selects tasks. */
struct Selector {
    std::optional<std::uint32_t> pid = {}, all_of = {};
    std::optional<std::string> container = {}, pod = {}, cgroup = {}, command = {}, job = {};
    bool operator==(const Selector &) const = default;
};

/** How the tasks of a tenant on several GPUs belong together (docs/gangs.md). */
enum class Gang {
    off,   ///< they do not wait for each other
    on,    ///< they do, and all of them are on this machine
    nodes, ///< they do, and the tenant has tasks on other machines, too
};

struct Tenant {
    std::string name; ///< as it is shown
    Selector who;
    qos::Goal goal;
    std::shared_ptr<Family> family = nullptr; ///< in place of Tenant::who, if there is one
    std::string note = {};                    ///< a warning about the selector; empty: none
    Gang gang = Gang::on;
    bool operator==(const Tenant &) const = default;
};

struct Goals {
    std::vector<Tenant> tenants; ///< a process belongs to the first that it fits
    qos::Goal others = {};       ///< of all tasks without a tenant, together
    qos::Settings settings = {};
    std::vector<std::string> gpus = {}; ///< names, as add_gpus() takes them; empty: all
    bool tpcs = false;                  ///< TPCs are divided where a speed is kept by launches
    bool operator==(const Goals &) const = default;

    /// Returns whether there is any goal.
    [[nodiscard]] bool any() const { return !tenants.empty() || others != qos::Goal(); }
};

/** Adds to @p tenant what a word of some kind (`pid`, `container`, …) names, as
 * lib/base/task_name.hpp reads it. Fails if the word's form can fit no process. */
Outcome<void> select(std::string_view kind, std::string_view word, Tenant &tenant);
/** `4711`, `container:3f2a`, `cgroup:/x`, `command:train`, `all-of:4711`, `job:17`, `pod:8c1e` */
Outcome<Tenant> parse_tenant(std::string_view text);
/** `share:30%`, `cap:30%`, `speed:50%`, `latency`, `latency:5ms`, `best-effort`, `best-effort:2`,
 * `timeslice:500us`; adds it to @p goal */
Outcome<void> add_goal(std::string_view text, qos::Goal &goal);
/** `GOAL[,GOAL]…`; adds them to @p goal */
Outcome<void> add_goals(std::string_view text, qos::Goal &goal);
/** `GOAL[,GOAL]…` */
Outcome<qos::Goal> parse_goal(std::string_view text);
/** `off`, `on`, `nodes` */
Outcome<Gang> parse_gang(std::string_view text);
/** Fails if a tenant with tasks on several nodes cannot have the goal. */
Outcome<void> check_gang(Gang gang, const qos::Goal &goal);
/** Takes `gang=…` out of `GOAL[,GOAL]…`; empty: it is not there. Alone it is beside `best-effort`. */
Outcome<std::optional<Gang>> take_gang(std::string &goals);
/** Returns the place of the '=' between WHO and its goals; npos: there is none. */
std::size_t sign_of(std::string_view word);
/** `WHO=GOAL[,GOAL]…`, of which one may be `gang=off` or `gang=nodes`; `others=…` */
Outcome<void> add_word(std::string_view word, Goals &goals);
/** `100ms`, `1.5s`, `500us` */
std::optional<qos::Ns> parse_time(std::string_view text);
/** The longest time that is taken: 11 days, so that sums and products of times stay in range. */
inline constexpr qos::Ns longest_time = 1'000'000 * qos::second;
Outcome<qos::Scheme> parse_scheme(std::string_view text);
inline constexpr const char *scheme_names[] = {"rollover", "naive", "history", "elastic"};

/** The file's, or why it makes no sense, with the line. */
Outcome<Goals> read_goals(const std::string &path);

/** The processes of each Selector::all_of and their descendants, by its number: families in which
 * look_for_descendants() has found them. */
using Trees = std::map<std::uint32_t, std::shared_ptr<Family>>;

/** Is @p process one of its, by nvdebug::is_selected() or Family::has()? Reads nothing. */
bool fits(const Tenant &tenant, const nvdebug::Process &process, const Trees &trees);

/** `share 30 %, cap 40 %` */
std::string text_of(const qos::Goal &goal);
std::string text_of(qos::Scheme scheme);
std::string text_of(Gang gang);
/** Returns the time now, as `2026-11-25T14:02:11Z`. */
std::string utc_now();
/** `30 %`, `12.5 %` */
std::string percent_of(qos::Part part);

} // namespace nvqos
