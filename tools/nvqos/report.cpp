// SPDX-License-Identifier: MIT OR GPL-2.0
#include "report.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lib/base/printable.hpp"

namespace nvqos {
namespace {

using Json = nlohmann::ordered_json;
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

Json tenant_json(const TenantReport &tenant) {
    const bool promised = qos::is_promised(tenant.goal.aim);
    const auto request_p99 = tenant.requests ? tenant.requests->took.p99() : std::nullopt;
    return {
        {"name", tenant.name},
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
        {"credit_ns", promised || tenant.goal.cap ? Json(tenant.credit) : Json()},
        {"timeslice_us", static_cast<double>(tenant.lever.timeslice) / 1000},
        {"paused", tenant.lever.paused},
        {"held_tasks", tenant.held},
        {"limited_tasks", tenant.limited.tasks},
        {"in_flight_limit", tenant.limited.launches ? Json(tenant.limited.launches) : Json()},
        {"paced_tasks", tenant.paced},
        {"kept", kept(tenant) ? Json(*kept(tenant)) : Json()},
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
        {"request_p99_us", request_p99 ? Json(static_cast<double>(*request_p99) / 1000) : Json()}};
}

std::string short_time(qos::Ns ns) {
    const double us = static_cast<double>(ns) / 1000;
    return us >= 1000 || us <= -1000 ? fmt::format("{:.1f} ms", us / 1000)
                                     : fmt::format("{:.0f} us", us);
}

/// `30 us`, `30 us, 4 launches`, `4 launches (1 of 3)`, `launches held, 40 TPCs`, `none`
std::string lever_of(const TenantReport &tenant) {
    if (tenant.tasks == 0)
        return "-";
    std::string text;
    const auto add = [&](const std::string &lever, std::size_t tasks) {
        if (tasks == 0)
            return;
        text += (text.empty() ? "" : ", ") + lever;
        if (tasks < tenant.tasks)
            text += fmt::format(" ({} of {})", tasks, tenant.tasks);
    };
    add(tenant.lever.paused ? "paused" : short_time(tenant.lever.timeslice), tenant.held);
    add(fmt::format("{} launches", tenant.limited.launches), tenant.limited.tasks);
    add(tenant.tpcs ? fmt::format("launches held, {} TPCs", tenant.tpcs) : "launches held",
        tenant.paced);
    return text.empty() ? "none" : text;
}

/// Returns what stands in the column KEPT: `yes`, `NO`, `nobody`, `if serve leaves it`.
std::string word_on_kept(const TenantReport &tenant) {
    if (const auto is_kept = kept(tenant))
        return *is_kept ? "yes" : "NO";
    if (tenant.tasks == 0)
        return "nobody";
    return tenant.depends.size() == 1
               ? fmt::format("if {} leaves it", printable(tenant.depends.front().tenant))
               : fmt::format("if {} tenants leave it", tenant.depends.size());
}

std::vector<std::string> row_of(std::uint32_t gpu, const TenantReport &tenant) {
    // Of a speed that is kept by launches, the speed.
    const auto shown = tenant.pace ? tenant.pace->speed : tenant.got;
    const bool has_credit = (qos::is_promised(tenant.goal.aim) && !tenant.pace) || tenant.goal.cap;
    return {std::to_string(gpu),
            printable(tenant.name),
            text_of(tenant.goal),
            shown ? fmt::format("{:.1f} %", percent(*shown)) : "-",
            has_credit ? short_time(tenant.credit) : "-",
            lever_of(tenant),
            std::to_string(tenant.tasks),
            word_on_kept(tenant),
            std::to_string(tenant.violations)};
}

/// In columns of a terminal, for Latin letters and the like.
std::size_t width_of(const std::string &text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

} // namespace

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

std::string json_line(const Report &report, const qos::Settings &settings, const std::string &time,
                      std::uint64_t left_out) {
    Json tenants = Json::array();
    for (const TenantReport &tenant : report.tenants)
        tenants.push_back(tenant_json(tenant));
    const Json whole{{"schema", "nvqos/epoch"},
                     {"schema_version", "2.1"},
                     {"data",
                      {{"time", time},
                       {"gpu", report.gpu},
                       {"scheme", text_of(settings.scheme)},
                       {"begin_ns", report.epoch.begin},
                       {"end_ns", report.epoch.end},
                       {"round_us", static_cast<double>(report.epoch.round) / 1000},
                       {"overcommitted", report.epoch.overcommitted},
                       {"lost", report.lost},
                       {"left_out", left_out},
                       {"tenants", std::move(tenants)}}}};
    return whole.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string table_of(const std::vector<Report> &reports) {
    constexpr std::array left = {false, true, true, false, false, false, false, false, false};
    std::vector<std::vector<std::string>> lines = {
        {"GPU", "TENANT", "GOAL", "GOT", "CREDIT", "LEVER", "TASKS", "KEPT", "VIOLATIONS"}};
    for (const Report &report : reports)
        for (const TenantReport &tenant : report.tenants)
            lines.push_back(row_of(report.gpu, tenant));
    std::vector<std::size_t> widths(left.size());
    for (const auto &line : lines)
        for (std::size_t n = 0; n < widths.size(); n++)
            widths[n] = std::max(widths[n], width_of(line[n]));
    std::string text;
    for (const auto &line : lines) {
        for (std::size_t n = 0; n < widths.size(); n++) {
            const std::string blanks(widths[n] - width_of(line[n]), ' ');
            text += (n ? "  " : "") + (left[n] ? line[n] + blanks : blanks + line[n]);
        }
        text += "\n";
    }
    return text;
}

} // namespace nvqos
