// SPDX-License-Identifier: MIT OR GPL-2.0
#include "recorded_governor.hpp"

#include <fmt/format.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace nvqos {
namespace {

using Json = nlohmann::ordered_json;

const char *name_of(qos::Aim aim) {
    switch (aim) {
    case qos::Aim::best_effort:
        return "best-effort";
    case qos::Aim::share:
        return "share";
    case qos::Aim::speed:
        return "speed";
    case qos::Aim::latency:
        return "latency";
    case qos::Aim::timeslice:
        return "timeslice";
    }
    __builtin_unreachable();
}

const char *name_of(qos::Scheme scheme) {
    switch (scheme) {
    case qos::Scheme::naive:
        return "naive";
    case qos::Scheme::history:
        return "history";
    case qos::Scheme::elastic:
        return "elastic";
    case qos::Scheme::rollover:
        return "rollover";
    case qos::Scheme::rollover_time:
        return "rollover-time";
    }
    __builtin_unreachable();
}

// The following name all members, so that a new member does not compile until it is recorded.

Json json_of(const qos::Goal &goal) {
    const auto &[aim, part, weight, slice, p99, cap, ttft, tpot] = goal;
    Json json = {{"aim", name_of(aim)}, {"part", part}, {"weight", weight},
                 {"slice", slice},      {"p99", p99},   {"cap", cap ? Json(*cap) : Json()}};
    for (const auto &[name, tail] : {std::pair{"ttft", ttft}, {"tpot", tpot}})
        if (tail.most > 0)
            json[name] = {{"most", tail.most}, {"percent", tail.percent}};
    return json;
}

Json json_of(const std::vector<qos::Goal> &goals) {
    Json list = Json::array();
    for (const qos::Goal &goal : goals)
        list.push_back(json_of(goal));
    return list;
}

Json json_of(const qos::Costs &costs) {
    const auto &[change, rest, lost, pause] = costs;
    return {{"change", change}, {"rest", rest}, {"lost", lost}, {"pause", pause}};
}

Json json_of(const qos::Settings &settings) {
    const auto &[scheme, epoch, costs, shortest, longest, kept_epochs, repaid_in, latency_slice] =
        settings;
    return {{"scheme", name_of(scheme)}, {"epoch", epoch},
            {"costs", json_of(costs)},   {"shortest", shortest},
            {"longest", longest},        {"kept_epochs", kept_epochs},
            {"repaid_in", repaid_in},    {"latency_slice", latency_slice}};
}

Json json_of(std::span<const std::optional<std::size_t>> numbers) {
    Json list = Json::array();
    for (const auto &number : numbers)
        list.push_back(number ? Json(*number) : Json());
    return list;
}

std::string json_of(const std::vector<qos::Lever> &levers) {
    std::string list;
    for (const auto &[timeslice, paused] : levers)
        fmt::format_to(std::back_inserter(list), R"({}{{"timeslice":{},"paused":{}}})",
                       list.empty() ? "" : ",", timeslice, paused);
    return list;
}

} // namespace

/// @param text returns the line behind the GPU's number. It is called only if there is a record.
template <typename Text>
void RecordedGovernor::record(const Text &text) const {
    if (record_.decisions)
        record_.decisions->add(fmt::format(R"({{"gpu":{},{}}})", record_.gpu, text()));
}

RecordedGovernor::RecordedGovernor(Record record, const qos::Settings &settings,
                                   const std::vector<qos::Goal> &goals, qos::Ns now,
                                   qos::Planner planner)
    : Governor(settings, goals, now, std::move(planner)), record_(std::move(record)) {
    this->record([&] {
        return R"("begin":)" +
               Json{{"now", now}, {"settings", json_of(settings)}, {"goals", json_of(goals)}}
                   .dump();
    });
}

void RecordedGovernor::set_tsgs(std::size_t tenant, std::int64_t tsgs) {
    if (entrants()[tenant].tsgs == tsgs)
        return;
    Governor::set_tsgs(tenant, tsgs);
    record([&] { return fmt::format(R"("set_tsgs":{{"tenant":{},"tsgs":{}}})", tenant, tsgs); });
}

void RecordedGovernor::set_in_effect(std::size_t tenant, bool in_effect) {
    if (is_in_effect(tenant) == in_effect)
        return;
    Governor::set_in_effect(tenant, in_effect);
    record([&] {
        return fmt::format(R"("set_in_effect":{{"tenant":{},"in_effect":{}}})", tenant, in_effect);
    });
}

void RecordedGovernor::set_spans(std::size_t tenant, bool spans) {
    if (Governor::spans(tenant) == spans)
        return;
    Governor::set_spans(tenant, spans);
    record([&] { return fmt::format(R"("set_spans":{{"tenant":{},"spans":{}}})", tenant, spans); });
}

void RecordedGovernor::mark(std::size_t tenant, std::optional<bool> busy) {
    if (Governor::marked(tenant) == busy)
        return;
    Governor::mark(tenant, busy);
    record([&] {
        return fmt::format(R"("mark":{{"tenant":{},"busy":{}}})", tenant,
                           busy ? *busy ? "true" : "false" : "null");
    });
}

void RecordedGovernor::add(const qos::TenantTurn &turn) {
    Governor::add(turn);
    record([&] {
        const auto &[tenant, task, begin, end, ends] = turn;
        return fmt::format(R"("add":{{"tenant":{},"task":{},"begin":{},"end":{},"ends":{}}})",
                           tenant, task, begin, end, ends);
    });
}

void RecordedGovernor::set_goals(const std::vector<qos::Goal> &goals,
                                 std::span<const std::optional<std::size_t>> before, qos::Ns now) {
    Governor::set_goals(goals, before, now);
    record([&] {
        return R"("set_goals":)" +
               Json{{"now", now}, {"goals", json_of(goals)}, {"before", json_of(before)}}.dump();
    });
}

void RecordedGovernor::set_pause(qos::Ns takes) {
    Governor::set_pause(takes);
    record([&] { return fmt::format(R"("set_pause":{{"takes":{}}})", takes); });
}

void RecordedGovernor::lose() {
    Governor::lose();
    record([] { return std::string(R"("lose":{})"); });
}

bool RecordedGovernor::needs_turns(qos::Ns now) const {
    const bool needs = Governor::needs_turns(now);
    record([&] { return fmt::format(R"("needs_turns":{{"now":{},"returns":{}}})", now, needs); });
    return needs;
}

std::optional<qos::EpochRecord> RecordedGovernor::step(qos::Ns now, bool seen) {
    auto epoch = Governor::step(now, seen);
    record([&] {
        return fmt::format(R"("step":{{"now":{},"seen":{},"levers":[{}],"due":{}}})", now, seen,
                           json_of(levers()), due());
    });
    return epoch;
}

std::vector<qos::Lever> RecordedGovernor::levers() const {
    std::vector<qos::Lever> levers;
    for (std::size_t n = 0; n < entrants().size(); n++)
        levers.push_back(lever(n));
    return levers;
}

} // namespace nvqos
