// SPDX-License-Identifier: MIT OR GPL-2.0
#include "request_handler.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "promises.hpp"
#include "saved_tenants.hpp"
#include "tools/nvqos/gpus.hpp"
#include "tools/nvqos/refusal.hpp"
#include "tools/nvqos/report.hpp"

namespace nvqos {
namespace {

using nvdebug::base::short_time;
using qos::Ns;

double percentage(qos::Part part) {
    return static_cast<double>(part) / static_cast<double>(qos::point);
}

std::optional<double> p99_ms(const Use &use) {
    const auto p99 = use.waits.p99();
    return p99 ? std::optional(static_cast<double>(*p99) / static_cast<double>(qos::ms))
               : std::nullopt;
}

std::string text_of_use(const Use &use, std::uint32_t gpu) {
    const std::string used = short_time(use.used, " "), time = short_time(use.time, " ");
    std::string text =
        use.part
            ? fmt::format("{:.1f} % of GPU {} ({} in {})", percentage(*use.part), gpu, used, time)
            : fmt::format("{} of GPU {} in {}, too little time for a percentage", used, gpu, time);
    if (const auto p99 = use.waits.p99())
        text += ", waits between turns p99 " + short_time(*p99, " ");
    return text;
}

/// Returns seconds with a decimal; `unknown` if there is no time.
std::string seconds_word(std::optional<Ns> time) {
    return time ? fmt::format("{:.1f}", qos::seconds(*time)) : "unknown";
}

Json json_of(const Use &use, std::uint32_t gpu) {
    const auto p99 = p99_ms(use);
    return {{"gpu", gpu},
            {"used_s", qos::seconds(use.used)},
            {"time_s", qos::seconds(use.time)},
            {"percent", use.part ? Json(percentage(*use.part)) : Json()},
            {"waits", use.waits.count()},
            {"wait_p99_ms", p99 ? Json(*p99) : Json()}};
}

/// Returns nullptr if the tenant is not on this GPU.
const Use *use_of(const std::vector<FamilyUse> &uses, const std::shared_ptr<Family> &family) {
    const auto at = std::ranges::find(uses, family, &FamilyUse::family);
    return at == uses.end() ? nullptr : &at->use;
}

} // namespace

Goals RequestHandler::goals_on(std::uint32_t gpu, const Goals &fixed) const {
    Goals goals = fixed;
    goals.tenants.clear();
    for (const HeldTenant &held : tenants_.all())
        if (held.is_on(gpu))
            goals.tenants.push_back({.name = held.name,
                                     .who = {},
                                     .goal = held.goal,
                                     .family = held.family,
                                     .gang = held.gang});
    goals.tenants.insert(goals.tenants.end(), fixed.tenants.begin(), fixed.tenants.end());
    return goals;
}

Outcome<void> RequestHandler::expect_no_clash(const Goals &fixed) const {
    std::vector<std::uint32_t> all;
    for (const auto &gpu : gpus_)
        all.push_back(gpu->index());
    std::vector<qos::GangTenant> tenants;
    const auto add = [&](const std::string &name, const qos::Goal &goal, bool is_gang,
                         const std::vector<std::uint32_t> &gpus) {
        const auto added = gang_tenants(name, goal, is_gang, gpus.empty() ? all : gpus);
        tenants.insert(tenants.end(), added.begin(), added.end());
    };
    for (const HeldTenant &held : tenants_.all())
        add(held.name, held.goal, held.gang != Gang::off, held.gpus);
    for (const Tenant &tenant : fixed.tenants)
        add(tenant.name, tenant.goal, tenant.gang != Gang::off, {});
    add("others", fixed.others, false, {});
    if (auto why = refusal_of_clash(tenants))
        return fail(refused, std::move(*why));
    return {};
}

Outcome<void> RequestHandler::apply() {
    if (auto none = expect_no_clash(fixed_); !none)
        return none;
    for (const auto &gpu : gpus_)
        if (auto set = gpu->set_goals(goals_on(gpu->index(), fixed_)); !set)
            return fail(set.error().exit,
                        fmt::format("GPU {}: {}", gpu->index(), set.error().sentence));
    return {};
}

void RequestHandler::forget(const std::string &name) {
    tenants_.remove(name);
    for (const auto &gpu : gpus_)
        gpu->put_goals(goals_on(gpu->index(), fixed_));
}

void RequestHandler::remove(const char *what, const std::string &name) {
    forget(name);
    changes_.add_end(what, name);
    save();
}

void RequestHandler::save() {
    if (file_.empty())
        return;
    const auto saved = save_tenants(file_, tenants_.all());
    if (!saved && !std::exchange(has_warned_of_file_, true))
        warn_(saved.error().sentence);
}

std::string RequestHandler::why_not_again(const HeldTenant &held) const {
    if (std::ranges::find(fixed_.tenants, held.name, &Tenant::name) != fixed_.tenants.end())
        return "it is a tenant of nvqos' own goals now";
    for (const std::uint32_t number : held.gpus)
        if (std::ranges::none_of(gpus_, [&](const auto &gpu) { return gpu->index() == number; }))
            return fmt::format("nvqos keeps no goals on GPU {} now", number);
    for (const auto &gpu : gpus_)
        if (held.is_on(gpu->index()))
            if (const auto refusals = refusals_of(goals_on(gpu->index(), fixed_));
                !refusals.empty())
                return fmt::format("GPU {}: {}", gpu->index(), refusals.front());
    const auto no_clash = expect_no_clash(fixed_);
    return no_clash ? "" : no_clash.error().sentence;
}

void RequestHandler::keep_in(const std::string &file, Ns now) {
    file_ = file;
    auto saved = saved_tenants(file, now);
    if (!saved) {
        warn_(saved.error().sentence);
        return;
    }
    std::size_t again = 0;
    for (HeldTenant &one : *saved) {
        const std::string name = one.name;
        const auto put = tenants_.find(name) ? fail(failed, "its name is there twice")
                                             : tenants_.put_back(std::move(one));
        const std::string why = put ? why_not_again(*tenants_.find(name)) : put.error().sentence;
        if (put && !why.empty())
            tenants_.remove(name);
        if (!why.empty())
            warn_(fmt::format("{} is not held again after the restart: {}", name, why));
        again += why.empty();
    }
    if (again) {
        for (const auto &gpu : gpus_)
            gpu->put_goals(goals_on(gpu->index(), fixed_));
        warn_(fmt::format("{} of the nvqos before this one {} held again; 'nvqos list' shows {}",
                          again == 1 ? "a tenant" : fmt::format("{} tenants", again),
                          again == 1 ? "is" : "are", again == 1 ? "it" : "them"));
    }
    save();
}

Outcome<std::vector<std::uint32_t>> RequestHandler::gpus_of(const Request &request) const {
    std::vector<GpuFacts> gpus;
    for (const auto &gpu : gpus_)
        gpus.push_back(gpu->facts());
    auto found = numbers_of(request.gpus, gpus);
    if (!found)
        return fail(bad_usage, fmt::format("gpu={}: nvqos keeps goals on no such GPU: {}; "
                                           "'nvdebugctl gpu list' lists GPUs",
                                           fmt::join(request.gpus, ","), found.error().sentence));
    return found;
}

Outcome<void> RequestHandler::expect_any(const std::vector<std::uint32_t> &wanted) const {
    std::string why;
    for (const auto &gpu : gpus_) {
        if (!wanted.empty() && std::ranges::find(wanted, gpu->index()) == wanted.end())
            continue;
        if (gpu->is_up())
            return {};
        const auto failure = gpu->why_out();
        why += fmt::format("{}GPU {} is left out now: {}", why.empty() ? "" : "; ", gpu->index(),
                           failure ? failure->sentence : "it is not ready yet");
    }
    return fail(failed, why);
}

std::string RequestHandler::hold(const Request &request, Ns now) {
    auto gpus = gpus_of(request);
    if (!gpus)
        return "error " + gpus.error().sentence;
    if (std::ranges::find(fixed_.tenants, request.name, &Tenant::name) != fixed_.tenants.end())
        return "error " + request.name + " is a tenant of nvqos' own goals: take another name";
    const bool is_new = !tenants_.find(request.name);
    if (const auto any = is_new ? expect_any(*gpus) : Outcome<void>(); !any)
        return "refused " + any.error().sentence;
    const auto added = tenants_.add(request, std::move(*gpus), now);
    if (!added)
        return "error " + added.error().sentence;
    if (*added == HeldTenants::Added::processes) {
        for (const auto &gpu : gpus_)
            gpu->assign_tenants();
        save();
        return "ok";
    }
    const auto applied = apply();
    if (applied) {
        refused_.erase(request.name);
        const HeldTenant &held = *tenants_.find(request.name);
        changes_.add_held(held);
        save();
        return answer_on(held);
    }
    forget(request.name);
    warn_of_refusal(request.name, applied.error().sentence);
    return "refused " + applied.error().sentence;
}

/// Warns once of each refusal. A container runtime may drop the sentence of its hook, as crun does,
/// and a program that asks again and again adds no lines.
void RequestHandler::warn_of_refusal(const std::string &name, const std::string &sentence) {
    constexpr std::size_t most_remembered = 1024;
    if (refused_.size() >= most_remembered)
        refused_.clear();
    if (std::exchange(refused_[name], sentence) != sentence)
        warn_(fmt::format("{} is refused: {}", name, sentence));
}

/// Returns `ok`, with the conditions that goals depend on since the tenant is held.
std::string RequestHandler::answer_on(const HeldTenant &held) const {
    std::vector<std::string> news;
    for (const auto &gpu : gpus_) {
        if (!held.is_on(gpu->index()))
            continue;
        const Goals all = goals_on(gpu->index(), fixed_);
        Goals before = all;
        std::erase_if(before.tenants,
                      [&](const Tenant &tenant) { return tenant.family == held.family; });
        const auto old = conditions_of(before);
        for (std::string &sentence : conditions_of(all))
            if (std::ranges::find(old, sentence) == old.end() &&
                std::ranges::find(news, sentence) == news.end())
                news.push_back(std::move(sentence));
    }
    for (const std::string &sentence : news)
        warn_(sentence);
    if (held.gang == Gang::nodes && !clock_.verdict().is_usable)
        news.push_back(text_of(clock_.verdict()));
    return news.empty() ? "ok" : fmt::format("ok {}", fmt::join(news, "; "));
}

RequestHandler::Uses RequestHandler::uses() const {
    Uses all;
    for (const auto &gpu : gpus_)
        all.emplace_back(gpu->index(), gpu->uses());
    return all;
}

std::string RequestHandler::sentence_of(const HeldTenant &held, const Uses &all) {
    std::string got;
    for (const auto &[gpu, uses] : all)
        if (const Use *const use = use_of(uses, held.family); use && use->used > 0)
            got += (got.empty() ? "got " : "; ") + text_of_use(*use, gpu);
    return fmt::format("asked {}, {}", text_of(held.goal), got.empty() ? "no work on a GPU" : got);
}

std::string RequestHandler::words_of(const HeldTenant &held, const Uses &all) {
    std::vector<std::string> entries;
    for (const auto &[gpu, uses] : all)
        if (const Use *const use = use_of(uses, held.family); use && held.is_on(gpu))
            entries.push_back(fmt::format(
                "gpu={} asked={} got={} used={}s kept={}/{}s{}", gpu, held.goal_word,
                use->part ? fmt::format("{:.1f}%", percentage(*use->part)) : "unknown",
                seconds_word(use->used), seconds_word(use->kept), seconds_word(use->time),
                use->unseen.value_or(0) ? fmt::format(" unseen={}s", seconds_word(use->unseen))
                                        : ""));
    return fmt::format("{}", fmt::join(entries, "; "));
}

std::string RequestHandler::list(Ns now) const {
    const Uses uses = this->uses();
    Json all = Json::array();
    for (const HeldTenant &held : tenants_.all()) {
        Json pids = Json::array(), got = Json::array(), holders = Json::array();
        for (const Holder &holder : held.holders)
            holders.push_back(holder.birth.pid);
        for (const auto &member : held.family->members())
            pids.push_back(member.pid);
        for (const auto &[gpu, of_gpu] : uses)
            if (const Use *const use = use_of(of_gpu, held.family))
                got.push_back(json_of(*use, gpu));
        all.push_back({{"name", held.name},
                       {"goal", text_of(held.goal)},
                       {"gpus", held.gpus},
                       {"pids", std::move(pids)},
                       {"cgroups", held.family->cgroups()},
                       {"holder", holders.empty() ? Json() : holders.front()},
                       {"holders", std::move(holders)},
                       {"since_s", qos::seconds(now - held.since)},
                       {"got", std::move(got)}});
    }
    return "ok " + all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string RequestHandler::status() const {
    Json epochs = Json::array(), left_out = Json::array(), own = Json::array();
    for (const auto &[gpu, report] : last_)
        epochs.push_back(epoch_json(report, fixed_.settings, utc_now(), 0));
    for (const auto &gpu : gpus_)
        if (const auto why = gpu->why_out())
            left_out.push_back(
                {{"gpu", gpu->index()}, {"since", gpu->out_since()}, {"why", why->sentence}});
    for (const Tenant &tenant : fixed_.tenants)
        own.push_back({{"name", tenant.name}, {"goal", text_of(tenant.goal)}});
    if (fixed_.others != qos::Goal())
        own.push_back({{"name", "others"}, {"goal", text_of(fixed_.others)}});
    const nvdebug::base::ClockVerdict &verdict = clock_.verdict();
    Json clock;
    if (need_clock(last_))
        clock = {{"usable", verdict.is_usable},
                 {"difference_us", verdict.difference_ns
                                       ? Json(static_cast<double>(*verdict.difference_ns) / 1000)
                                       : Json()}};
    const Json all = {{"epochs", std::move(epochs)},
                      {"left_out", std::move(left_out)},
                      {"clock", std::move(clock)},
                      {"notes", notes_on(last_, verdict)},
                      {"own", std::move(own)}};
    return "ok " + all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string RequestHandler::gpus() const {
    Json all = Json::array();
    for (const auto &gpu : gpus_)
        all.push_back(gpu_json(*gpu, goals_on(gpu->index(), fixed_)));
    return "ok " + all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

WatchedState RequestHandler::watched_state() const {
    WatchedState state;
    for (const auto &gpu : gpus_) {
        const auto why = gpu->why_out();
        state.gpus[gpu->index()] = why ? std::optional(why->sentence)
                                   : gpu->is_up()
                                       ? std::nullopt
                                       : std::optional<std::string>("it is not ready yet");
    }
    for (const auto &[gpu, report] : last_)
        for (const TenantReport &tenant : report.tenants)
            state.kept.emplace(std::pair(gpu, tenant.name), kept(tenant));
    for (const Tenant &tenant : fixed_.tenants)
        state.own.emplace(tenant.name, text_of(tenant.goal));
    state.own.emplace("others", text_of(fixed_.others));
    return state;
}

std::string RequestHandler::take_changes(bool is_watched) {
    if (!is_watched)
        changes_.end();
    return changes_.take();
}

std::string RequestHandler::answer(const std::string &line, Ns now) {
    const auto request = parse_request(line);
    if (!request)
        return "error " + request.error().sentence;
    tend(now);
    switch (request->verb) {
    case Request::Verb::hold:
    case Request::Verb::join:
        return hold(*request, now);
    case Request::Verb::list:
        return list(now);
    case Request::Verb::status:
        return status();
    case Request::Verb::gpus:
        return gpus();
    case Request::Verb::watch:
        changes_.begin(watched_state());
        return "ok";
    case Request::Verb::release:
    case Request::Verb::report:
        break;
    }
    const HeldTenant *const held = tenants_.find(request->name);
    if (!held)
        return "error there is no tenant " + request->name +
               ": it was never held, or its holder or its processes have ended; 'list' lists those "
               "that there are";
    if (request->wants_words)
        return "ok " + words_of(*held, uses());
    const std::string sentence = sentence_of(*held, uses());
    if (request->verb == Request::Verb::release)
        remove("released", request->name);
    return "ok " + sentence;
}

void RequestHandler::tend(Ns now) {
    std::vector<std::string> over;
    for (const HeldTenant &held : tenants_.all())
        if (held.has_ended())
            over.push_back(held.name);
    for (const std::string &name : over)
        remove("ended", name);
    const bool dropped = tenants_.drop_ended_holders();
    if (dropped)
        save();
    if (tenants_.follow_processes(now) || dropped)
        for (const auto &gpu : gpus_)
            gpu->assign_tenants();
    if (now - looked_at_ >= qos::second) {
        warn_of_other_gpus();
        if (changes_.is_watched())
            changes_.compare(watched_state());
        looked_at_ = now;
    }
}

/// Warns once of each tenant whose processes use a GPU on which it has no goal. Whoever asked may
/// number GPUs in another way, and the goal is then kept where the tenant does no work.
void RequestHandler::warn_of_other_gpus() {
    for (const auto &gpu : gpus_) {
        std::vector<std::shared_ptr<Family>> families;
        for (const HeldTenant &held : tenants_.all())
            if (!held.is_elsewhere && !held.is_on(gpu->index()))
                families.push_back(held.family);
        if (families.empty())
            continue;
        for (const auto &family : gpu->unheld_among(std::move(families)))
            if (const HeldTenant *const held = tenants_.note_elsewhere(family))
                warn_(fmt::format("{}: its processes use GPU {}, and its goal ({}) is for GPU {} "
                                  "alone",
                                  held->name, gpu->index(), text_of(held->goal),
                                  fmt::join(held->gpus, ", ")));
    }
}

} // namespace nvqos
