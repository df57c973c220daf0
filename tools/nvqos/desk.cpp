// SPDX-License-Identifier: MIT OR GPL-2.0
#include "desk.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "gpus.hpp"

namespace nvqos {
namespace {

using Json = nlohmann::ordered_json;
using qos::Ns;

double percent(const Use &use) {
    return use.time > 0 ? 100 * static_cast<double>(use.used) / static_cast<double>(use.time) : 0;
}

std::optional<double> p99_ms(const Use &use) {
    const auto p99 = use.waits.p99();
    return p99 ? std::optional(static_cast<double>(*p99) / static_cast<double>(qos::ms))
               : std::nullopt;
}

std::string text_of_use(const Use &use, std::uint32_t gpu) {
    std::string text = fmt::format("{:.1f} % of GPU {} ({:.1f} s in {:.1f} s)", percent(use), gpu,
                                   qos::seconds(use.used), qos::seconds(use.time));
    if (const auto p99 = p99_ms(use))
        text += fmt::format(", waits between turns p99 {:.1f} ms", *p99);
    return text;
}

Json json_of(const Use &use, std::uint32_t gpu) {
    const auto p99 = p99_ms(use);
    return {{"gpu", gpu},
            {"used_s", qos::seconds(use.used)},
            {"time_s", qos::seconds(use.time)},
            {"percent", percent(use)},
            {"waits", use.waits.count()},
            {"wait_p99_ms", p99 ? Json(*p99) : Json()}};
}

} // namespace

Asked Desk::goals_on(std::uint32_t gpu, const Asked &fixed) const {
    Asked asked = fixed;
    asked.tenants.clear();
    for (const Held &held : registry_.all())
        if (held.is_on(gpu))
            asked.tenants.push_back({held.name, {}, held.goal, held.family});
    asked.tenants.insert(asked.tenants.end(), fixed.tenants.begin(), fixed.tenants.end());
    return asked;
}

Outcome<void> Desk::apply() {
    for (const auto &warden : wardens_) {
        const std::uint32_t gpu = warden->gpu().index();
        if (auto set = warden->set_goals(goals_on(gpu, fixed_)); !set)
            return fail(set.error().exit, fmt::format("GPU {}: {}", gpu, set.error().sentence));
    }
    return {};
}

void Desk::remove(const std::string &name) {
    registry_.remove(name);
    for (const auto &warden : wardens_)
        warden->put_goals(goals_on(warden->gpu().index(), fixed_));
}

Outcome<std::vector<std::uint32_t>> Desk::gpus_of(const Request &request) const {
    std::vector<nvdebug::Gpu> gpus;
    for (const auto &warden : wardens_)
        gpus.push_back(warden->gpu());
    auto found = numbers_of(request.gpus, gpus, driver_folder());
    if (!found)
        return fail(bad_usage, fmt::format("gpu={}: nvqos keeps goals on no such GPU: {}; "
                                           "'nvdebugctl gpu list' lists GPUs",
                                           fmt::join(request.gpus, ","), found.error().sentence));
    return found;
}

std::string Desk::hold(const Request &request, Ns now) {
    auto gpus = gpus_of(request);
    if (!gpus)
        return "error " + gpus.error().sentence;
    if (std::ranges::find(fixed_.tenants, request.name, &Tenant::name) != fixed_.tenants.end())
        return "error " + request.name + " is a tenant of nvqos' own goals: take another name";
    const auto added = registry_.add(request, std::move(*gpus), now);
    if (!added)
        return "error " + added.error().sentence;
    if (*added == Registry::Added::processes) {
        for (const auto &warden : wardens_)
            warden->divide();
        return "ok";
    }
    const auto applied = apply();
    if (applied)
        return "ok";
    remove(request.name);
    return "refused " + applied.error().sentence;
}

std::string Desk::sentence_of(const Held &held) const {
    std::string got;
    for (const auto &warden : wardens_)
        if (const auto use = warden->use_of(held.family); use && use->used > 0)
            got += (got.empty() ? "got " : "; ") + text_of_use(*use, warden->gpu().index());
    return fmt::format("asked {}, {}", text_of(held.goal), got.empty() ? "no work on a GPU" : got);
}

std::string Desk::list(Ns now) const {
    Json all = Json::array();
    for (const Held &held : registry_.all()) {
        Json pids = Json::array(), got = Json::array();
        for (const auto &member : held.family->members())
            pids.push_back(member.pid);
        for (const auto &warden : wardens_)
            if (const auto use = warden->use_of(held.family))
                got.push_back(json_of(*use, warden->gpu().index()));
        all.push_back({{"name", held.name},
                       {"goal", text_of(held.goal)},
                       {"gpus", held.gpus},
                       {"pids", std::move(pids)},
                       {"cgroups", held.family->cgroups()},
                       {"holder", held.holder ? Json(held.holder->pid) : Json()},
                       {"since_s", qos::seconds(now - held.since)},
                       {"got", std::move(got)}});
    }
    return "ok " + all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Desk::answer(const std::string &line, Ns now) {
    const auto request = parse_request(line);
    if (!request)
        return "error " + request.error().sentence;
    tend(now);
    if (request->verb == Request::Verb::hold)
        return hold(*request, now);
    if (request->verb == Request::Verb::list)
        return list(now);
    const Held *const held = registry_.find(request->name);
    if (!held)
        return "error there is no tenant " + request->name +
               ": it was never held, or its holder or its processes have ended; 'list' lists those "
               "that there are";
    const std::string sentence = sentence_of(*held);
    if (request->verb == Request::Verb::release)
        remove(request->name);
    return "ok " + sentence;
}

void Desk::tend(Ns now) {
    std::vector<std::string> over;
    for (const Held &held : registry_.all())
        if (held.has_ended())
            over.push_back(held.name);
    for (const std::string &name : over)
        remove(name);
    registry_.look(now);
    if (now - looked_elsewhere_ >= qos::second) {
        look_elsewhere();
        looked_elsewhere_ = now;
    }
}

/// Says once of each tenant that its processes use a GPU on which it has no goal: its numbers of
/// GPUs may be another world's, and its goal is then kept where it does no work.
void Desk::look_elsewhere() {
    std::vector<std::string> names;
    for (const Held &held : registry_.all())
        for (const auto &warden : wardens_) {
            if (held.is_elsewhere || held.is_on(warden->gpu().index()) ||
                !warden->has_unheld_tasks_in(*held.family))
                continue;
            warn_(fmt::format("{}: its processes use GPU {}, and its goal ({}) is for GPU {} alone",
                              held.name, warden->gpu().index(), text_of(held.goal),
                              fmt::join(held.gpus, ", ")));
            names.push_back(held.name);
            break;
        }
    for (const std::string &name : names)
        registry_.set_elsewhere(name);
}

} // namespace nvqos
