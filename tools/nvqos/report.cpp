// SPDX-License-Identifier: MIT OR GPL-2.0
#include "report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "goals.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "lib/qos/clock_plan.hpp"

namespace nvqos {
namespace {

using nvdebug::base::printable;

constexpr std::array<const char *, 5> aims = {"best-effort", "share", "speed", "latency",
                                              "timeslice"};

double percent(qos::Part part) {
    return static_cast<double>(part) / static_cast<double>(qos::point);
}

Json conditions_json(const TenantReport &tenant) {
    Json all = Json::array();
    for (const Condition &one : tenant.depends)
        all.push_back({{"tenant", one.tenant},
                       {"why", one.why == qos::Dependence::Why::time ? "time" : "turns"}});
    return all;
}

Json containers_json(const TenantReport &tenant) {
    const auto or_null = [](const std::optional<std::string> &text) {
        return text ? Json(*text) : Json();
    };
    Json all = Json::array();
    for (const TasksInContainer &one : tenant.containers) {
        const bool is_named = one.name && !one.name->container.empty();
        all.push_back({{"container", or_null(one.id.container)},
                       {"pod", or_null(one.id.pod)},
                       {"namespace", one.name ? Json(one.name->name_space) : Json()},
                       {"pod_name", one.name ? Json(one.name->pod) : Json()},
                       {"container_name", is_named ? Json(one.name->container) : Json()},
                       {"tasks", one.tasks}});
    }
    return all;
}

/// Returns a goal of an engine, and what its requests took.
Json tail_json(const qos::Tail &goal, const std::optional<qos::Ns> &took) {
    if (goal.most == 0)
        return {};
    return {{"goal_us", static_cast<double>(goal.most) / 1000},
            {"percent", goal.percent},
            {"us", took ? Json(static_cast<double>(*took) / 1000) : Json()}};
}

Json engine_json(const TenantReport &tenant) {
    if (!tenant.goal.is_marked())
        return {};
    const EngineTimes times = tenant.engine.value_or(EngineTimes());
    return {{"requests", times.requests},
            {"ttft", tail_json(tenant.goal.ttft, times.ttft)},
            {"tpot", tail_json(tenant.goal.tpot, times.tpot)}};
}

/// Returns `TTFT 182 ms of 200 ms (99 %)`, or nothing if there is no such goal.
std::string tail_text(const char *name, const qos::Tail &goal, const std::optional<qos::Ns> &took) {
    if (goal.most == 0)
        return "";
    return fmt::format("{} {} of {} ({} %)", name,
                       took ? nvdebug::base::short_time(*took, " ") : "-",
                       nvdebug::base::short_time(goal.most, " "), goal.percent);
}

Json tenant_json(const TenantReport &tenant) {
    const bool promised = qos::is_promised(tenant.goal.aim);
    const auto request_p99 = tenant.requests ? tenant.requests->took.p99() : std::nullopt;
    return {
        {"name", tenant.name},
        {"goal", text_of(tenant.goal)},
        {"aim", aims[static_cast<std::size_t>(tenant.goal.aim)]},
        {"goal_percent", promised ? Json(percent(tenant.goal.part)) : Json()},
        {"cap_percent", tenant.goal.cap ? Json(percent(*tenant.goal.cap)) : Json()},
        {"weight", tenant.goal.aim == qos::Aim::best_effort ? Json(tenant.goal.weight) : Json()},
        {"tasks", tenant.tasks},
        {"tsgs", tenant.tsgs},
        {"used_ns", tenant.record.seen.used},
        {"backlogged_ns", tenant.record.seen.backlogged},
        {"turns", tenant.record.seen.turns},
        {"got_percent", tenant.got ? Json(percent(*tenant.got)) : Json()},
        {"wants_percent",
         promised && tenant.record.wants ? Json(percent(*tenant.record.wants)) : Json()},
        {"credit_ns", promised || tenant.goal.cap ? Json(tenant.credit) : Json()},
        {"timeslice_us", static_cast<double>(tenant.lever.timeslice) / 1000},
        {"paused", tenant.lever.paused},
        {"held_tasks", tenant.held},
        {"limited_tasks", tenant.limited.tasks},
        {"in_flight_limit", tenant.limited.launches ? Json(tenant.limited.launches) : Json()},
        {"paced_tasks", tenant.paced},
        {"kept", kept(tenant) ? Json(*kept(tenant)) : Json()},
        {"why_not", tenant.why_not ? Json(qos::text_of(*tenant.why_not)) : Json()},
        {"depends_on", conditions_json(tenant)},
        {"violations", tenant.violations},
        {"waits", tenant.waits},
        {"wait_p99_us",
         tenant.wait_p99 ? Json(static_cast<double>(*tenant.wait_p99) / 1000) : Json()},
        {"wait_longest_us",
         tenant.waits ? Json(static_cast<double>(tenant.longest_wait) / 1000) : Json()},
        {"speed_percent",
         tenant.pace && tenant.pace->speed ? Json(percent(*tenant.pace->speed)) : Json()},
        {"tpcs", tenant.tpcs ? Json(tenant.tpcs) : Json()},
        {"launches_alone_per_s",
         tenant.pace && tenant.pace->alone_per_s > 0 ? Json(tenant.pace->alone_per_s) : Json()},
        {"goal_p99_us",
         tenant.goal.p99 ? Json(static_cast<double>(tenant.goal.p99) / 1000) : Json()},
        {"requests", tenant.requests ? Json(tenant.requests->took.count()) : Json()},
        {"request_p99_us", request_p99 ? Json(static_cast<double>(*request_p99) / 1000) : Json()},
        {"engine", engine_json(tenant)},
        {"gang", tenant.gang ? Json(tenant.gang->has_windows) : Json()},
        {"gang_why", tenant.gang && !tenant.gang->why.empty() ? Json(tenant.gang->why) : Json()},
        {"together_percent",
         tenant.gang && tenant.gang->together ? Json(percent(*tenant.gang->together)) : Json()},
        {"containers", containers_json(tenant)}};
}

/// Returns the column POD: `team-a/vllm-0`, `team-a/vllm-0 and 2 more` or `-`.
std::string pods_of(const Json &tenant) {
    std::vector<std::string> pods;
    for (const Json &one : tenant.at("containers")) {
        if (one.at("pod_name").is_null())
            continue;
        std::string name =
            one.at("namespace").get<std::string>() + "/" + one.at("pod_name").get<std::string>();
        if (std::ranges::find(pods, name) == pods.end())
            pods.push_back(std::move(name));
    }
    if (pods.empty())
        return "-";
    return pods.size() == 1 ? pods[0] : fmt::format("{} and {} more", pods[0], pods.size() - 1);
}

/// Returns a time of a document, in nanoseconds, as cells show it.
std::string cell_of_time(double ns) {
    return nvdebug::base::short_time(std::llround(ns), " ");
}

/// Returns the column LEVER: `30.0 us`, `30.0 us, 4 launches`, `4 launches (1 of 3)`,
/// `launches held, 40 TPCs` or `none`.
std::string lever_of(const Json &tenant) {
    const auto all = tenant.at("tasks").get<std::size_t>();
    if (all == 0)
        return "-";
    std::string text;
    const auto add = [&](const std::string &lever, const Json &tasks) {
        if (tasks == 0)
            return;
        text += (text.empty() ? "" : ", ") + lever;
        if (tasks < all)
            text += fmt::format(" ({} of {})", tasks.get<std::size_t>(), all);
    };
    add(tenant.at("paused") ? "paused"
                            : cell_of_time(1000 * tenant.at("timeslice_us").get<double>()),
        tenant.at("held_tasks"));
    if (!tenant.at("in_flight_limit").is_null())
        add(fmt::format("{} launches", tenant.at("in_flight_limit").get<std::uint32_t>()),
            tenant.at("limited_tasks"));
    add(tenant.at("tpcs").is_null()
            ? "launches held"
            : fmt::format("launches held, {} TPCs", tenant.at("tpcs").get<int>()),
        tenant.at("paced_tasks"));
    return text.empty() ? "none" : text;
}

/// Returns the text of the column KEPT: `yes`, `NO`, `NO: refused`, `no demand`, `another GPU`,
/// `cannot be seen`, `nobody`, `if serve leaves it`.
std::string word_on_kept(const Json &tenant) {
    const Json &reason = tenant.at("why_not");
    if (tenant.at("kept") == false)
        return reason.is_null() ? "NO" : "NO: " + reason.get<std::string>();
    if (tenant.at("tasks") == 0)
        return reason == "another GPU" ? reason.get<std::string>() : "nobody";
    if (!reason.is_null())
        return reason.get<std::string>();
    if (!tenant.at("kept").is_null())
        return "yes";
    const Json &on = tenant.at("depends_on");
    return on.size() == 1
               ? fmt::format("if {} leaves it", printable(on.at(0).at("tenant").get<std::string>()))
               : fmt::format("if {} tenants leave it", on.size());
}

constexpr std::array<Column, 12> columns_of_epochs = {{{"GPU", false, 5},
                                                       {"TENANT", true, 0},
                                                       {"GOAL", true, 0},
                                                       {"GOT", false, 0},
                                                       {"WANTS", false, 2},
                                                       {"CREDIT", false, 1},
                                                       {"LEVER", false, 4},
                                                       {"TASKS", false, 2},
                                                       {"KEPT", false, 0},
                                                       {"VIOLATIONS", false, 3},
                                                       {"TOGETHER", false, 2},
                                                       {"POD", true, 3}}};
/// Columns that are there only if a tenant has a value.
constexpr std::size_t column_of_gangs = 10, column_of_pods = 11;

Row row_of(const Json &gpu, const Json &tenant) {
    const Json &together = tenant.at("together_percent");
    // A tenant whose speed is kept by launches shows that speed.
    const bool is_paced = tenant.at("aim") == "speed" && tenant.at("paced_tasks") > 0;
    const Json &got = tenant[is_paced ? "speed_percent" : "got_percent"];
    const Json &credit = tenant.at("credit_ns"), &wants = tenant.at("wants_percent");
    const bool has_credit = !credit.is_null() && (!is_paced || !tenant.at("cap_percent").is_null());
    return {std::to_string(gpu.get<std::uint32_t>()),
            printable(tenant.at("name").get<std::string>()),
            tenant.at("goal").get<std::string>(),
            got.is_null() ? "-" : fmt::format("{:.1f} %", got.get<double>()),
            wants.is_null() ? "-" : fmt::format("{:.0f} %", wants.get<double>()),
            has_credit ? cell_of_time(credit.get<double>()) : "-",
            lever_of(tenant),
            std::to_string(tenant.at("tasks").get<std::size_t>()),
            word_on_kept(tenant),
            std::to_string(tenant.at("violations").get<std::uint64_t>()),
            together.is_null() ? "-" : fmt::format("{:.0f} %", together.get<double>()),
            pods_of(tenant)};
}

} // namespace

Json epoch_json(const Report &report, const qos::Settings &settings, const std::string &time,
                std::uint64_t left_out) {
    Json tenants = Json::array();
    for (const TenantReport &tenant : report.tenants)
        tenants.push_back(tenant_json(tenant));
    return {{"time", time},
            {"gpu", report.gpu},
            {"scheme", text_of(settings.scheme)},
            {"begin_ns", report.epoch.begin},
            {"end_ns", report.epoch.end},
            {"round_us", static_cast<double>(report.epoch.round) / 1000},
            {"overcommitted", report.epoch.overcommitted},
            {"lost", report.lost},
            {"left_out", left_out},
            {"tenants", std::move(tenants)}};
}

std::string json_line(const Report &report, const qos::Settings &settings, const std::string &time,
                      std::uint64_t left_out) {
    const Json whole{{"schema", "nvqos/epoch"},
                     {"schema_version", "2.4"},
                     {"data", epoch_json(report, settings, time, left_out)}};
    return whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void note_other_gpus(Report &report, const std::map<std::uint32_t, Report> &reports) {
    const auto uses = [](const Report &other, const std::string &name) {
        return std::ranges::any_of(other.tenants, [&](const TenantReport &tenant) {
            return tenant.name == name && tenant.tasks > 0;
        });
    };
    for (TenantReport &tenant : report.tenants)
        if (tenant.tasks == 0 && tenant.why_not == WhyNot::no_demand &&
            std::ranges::any_of(reports, [&](const auto &other) {
                return other.first != report.gpu && uses(other.second, tenant.name);
            }))
            tenant.why_not = WhyNot::another_gpu;
}

bool need_clock(const std::map<std::uint32_t, Report> &reports) {
    return std::ranges::any_of(reports, [](const auto &report) {
        return std::ranges::any_of(report.second.tenants, &TenantReport::is_on_other_nodes);
    });
}

std::vector<std::string> notes_on(const std::map<std::uint32_t, Report> &reports,
                                  const nvdebug::base::ClockVerdict &clock) {
    std::vector<std::string> notes;
    for (const auto &[gpu, report] : reports)
        for (const TenantReport &tenant : report.tenants) {
            if (!tenant.gang || tenant.gang->why.empty())
                continue;
            // A gang has the same sentence on each of its GPUs.
            std::string note = printable(tenant.name) + ": " + tenant.gang->why;
            if (std::ranges::find(notes, note) == notes.end())
                notes.push_back(std::move(note));
        }
    for (const auto &[gpu, report] : reports)
        for (const TenantReport &tenant : report.tenants) {
            if (!tenant.engine)
                continue;
            const std::string first = tail_text("TTFT", tenant.goal.ttft, tenant.engine->ttft),
                              later = tail_text("TPOT", tenant.goal.tpot, tenant.engine->tpot);
            notes.push_back(
                fmt::format("{}: {}{}{}, {} request{} in the last minute", printable(tenant.name),
                            first, first.empty() || later.empty() ? "" : ", ", later,
                            tenant.engine->requests, tenant.engine->requests == 1 ? "" : "s"));
        }
    for (const auto &[gpu, report] : reports)
        if (report.epoch.overcommitted)
            notes.push_back(
                fmt::format("gpu{}: since {} each promise is cut by the same factor: {}", gpu,
                            report.cut_since, report.why_cut));
    if (need_clock(reports))
        notes.push_back(text_of(clock));
    return notes;
}

std::vector<std::string> gangs_among(const std::map<std::uint32_t, Report> &reports,
                                     const nvdebug::base::ClockVerdict &clock) {
    std::vector<qos::GangTenant> tenants;
    for (const auto &[gpu, report] : reports)
        for (const TenantReport &tenant : report.tenants) {
            if (!tenant.tasks)
                continue;
            // Tasks that do not wait for each other are tenants of their own on each GPU.
            std::string name = printable(tenant.name);
            if (!tenant.is_gang)
                name += fmt::format(" on GPU {}", gpu);
            auto at = std::ranges::find(tenants, name, &qos::GangTenant::name);
            if (at == tenants.end())
                at = tenants.insert(at, {.name = name,
                                         .goal = tenant.goal,
                                         .is_on_other_nodes = tenant.is_on_other_nodes});
            if (!at->is_on(gpu))
                at->gpus.push_back(gpu);
        }
    std::vector<std::string> sentences;
    std::vector<std::size_t> by_clock;
    if (clock.is_usable)
        for (const auto &group : qos::clock_groups(tenants))
            by_clock.insert(by_clock.end(), group.begin(), group.end());
    for (const std::size_t n : by_clock)
        sentences.push_back(
            tenants[n].is_on_other_nodes
                ? fmt::format("{}: a gang of several nodes, which is to have windows by the clock "
                              "on {} GPUs here ({})",
                              tenants[n].name, tenants[n].gpus.size(),
                              fmt::join(tenants[n].gpus, ", "))
                : fmt::format("{}: is to have the time that windows by the clock leave",
                              tenants[n].name));
    for (const auto &group : qos::window_groups(tenants))
        for (const std::size_t n : group)
            if (const auto &gpus = tenants[n].gpus;
                gpus.size() > 1 && std::ranges::count(by_clock, n) == 0)
                sentences.push_back(fmt::format(
                    "{}: a gang on {} GPUs ({}), which is to have its time on all of them "
                    "at once; gang=off treats each GPU on its own",
                    tenants[n].name, gpus.size(), fmt::join(gpus, ", ")));
    if (need_clock(reports))
        sentences.push_back(text_of(clock));
    return sentences;
}

Table table_for(const std::vector<Json> &epochs, std::optional<std::size_t> width) {
    std::vector<Column> columns(columns_of_epochs.begin(), columns_of_epochs.end());
    std::vector<Row> rows;
    bool has_gangs = false, has_pods = false;
    for (const Json &epoch : epochs)
        for (const Json &tenant : epoch.at("tenants")) {
            rows.push_back(row_of(epoch.at("gpu"), tenant));
            has_gangs = has_gangs || !tenant.at("gang").is_null();
            has_pods = has_pods || rows.back().back() != "-";
        }
    const auto leave_out = [&](std::size_t column) {
        const auto at = static_cast<std::ptrdiff_t>(column);
        columns.erase(columns.begin() + at);
        for (Row &row : rows)
            row.erase(row.begin() + at);
    };
    if (!has_pods)
        leave_out(column_of_pods);
    if (!has_gangs)
        leave_out(column_of_gangs);
    return fitted(columns, std::move(rows), width);
}

std::string table_of(const std::vector<Report> &reports) {
    std::vector<Json> epochs;
    for (const Report &report : reports)
        epochs.push_back(epoch_json(report, {}, "", 0));
    std::string text;
    for (const std::string &line : table_for(epochs, std::nullopt).lines)
        text += line + "\n";
    return text;
}

} // namespace nvqos
