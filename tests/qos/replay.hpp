// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Feeds a record of decisions (tools/nvqos/keep/recorded_governor.hpp) to new governors, and
/// compares what they decide with the record.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <istream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lib/qos/governor.hpp"
#include "tools/nvqos/keep/machine_plan.hpp"

namespace replay {

/// A record has its keys in the order in which they were written.
using Json = nlohmann::ordered_json;

/// Carries out the calls of a record, a line each. The governors of all GPUs have one plan, as they
/// have in nvqos.
class Replay {
  public:
    /// Carries out one line, and notes the differences. Throws std::exception if the line makes no
    /// sense. Returns the line as this build of the governor would have written it.
    std::string take(const std::string &line) {
        number_++;
        Json all = Json::parse(line);
        if (number_ == 1) {
            const std::string version = all.at("schema_version");
            if (all.at("schema") != "nvqos/decisions" || (version != "1.0" && version != "1.1"))
                throw std::runtime_error("the first line is not that of nvqos/decisions 1.0");
            return line;
        }
        if (all.size() != 2)
            throw std::runtime_error("a call has the number of its GPU, and its name");
        const auto gpu = all.at("gpu").get<std::uint32_t>();
        const auto call = std::next(all.begin());
        carry_out(gpu, call.key(), call.value());
        return all.dump();
    }

    /// Takes all lines.
    void take(std::istream &lines) {
        for (std::string line; std::getline(lines, line);)
            take(line);
    }

    const std::vector<std::string> &differences() const { return differences_; }
    std::uint64_t steps() const { return steps_; }
    /// Returns how often a tenant was paused.
    std::uint64_t pauses() const { return pauses_; }

  private:
    struct Kept {
        qos::Governor governor;
        qos::Ns begin;                       ///< of its first goals
        std::vector<qos::Lever> levers = {}; ///< in the record, after the last step
    };

    static qos::Aim aim_of(const std::string &name) {
        static const std::map<std::string, qos::Aim> all{{"best-effort", qos::Aim::best_effort},
                                                         {"share", qos::Aim::share},
                                                         {"speed", qos::Aim::speed},
                                                         {"latency", qos::Aim::latency},
                                                         {"timeslice", qos::Aim::timeslice}};
        return all.at(name);
    }

    static qos::Scheme scheme_of(const std::string &name) {
        static const std::map<std::string, qos::Scheme> all{
            {"naive", qos::Scheme::naive},
            {"history", qos::Scheme::history},
            {"elastic", qos::Scheme::elastic},
            {"rollover", qos::Scheme::rollover},
            {"rollover-time", qos::Scheme::rollover_time}};
        return all.at(name);
    }

    template <typename T>
    static std::optional<T> optional_of(const Json &value) {
        return value.is_null() ? std::nullopt : std::optional(value.get<T>());
    }

    static qos::Tail tail_of(const Json &goal, const char *name) {
        return goal.contains(name)
                   ? qos::Tail{goal.at(name).at("most"), goal.at(name).at("percent")}
                   : qos::Tail();
    }

    static std::vector<qos::Goal> goals_of(const Json &list) {
        std::vector<qos::Goal> goals;
        for (const Json &goal : list)
            goals.push_back({aim_of(goal.at("aim")), goal.at("part"), goal.at("weight"),
                             goal.at("slice"), goal.at("p99"),
                             optional_of<qos::Part>(goal.at("cap")), tail_of(goal, "ttft"),
                             tail_of(goal, "tpot")});
        return goals;
    }

    static qos::Settings settings_of(const Json &settings) {
        const Json &costs = settings.at("costs");
        return {scheme_of(settings.at("scheme")),
                settings.at("epoch"),
                {costs.at("change"), costs.at("rest"), costs.at("lost"), costs.at("pause")},
                settings.at("shortest"),
                settings.at("longest"),
                settings.at("kept_epochs"),
                settings.at("repaid_in"),
                settings.at("latency_slice")};
    }

    static qos::TenantTurn turn_of(std::size_t tenant, const Json &turn) {
        return {tenant, turn.at("task"), turn.at("begin"), turn.at("end"), turn.at("ends")};
    }

    static std::string text_of(const std::optional<qos::Lever> &lever) {
        return lever ? fmt::format("{} us{}", static_cast<double>(lever->timeslice) / qos::us,
                                   lever->paused ? ", paused" : "")
                     : "none";
    }

    Kept &of(std::uint32_t gpu) {
        const auto found = governors_.find(gpu);
        if (found == governors_.end())
            throw std::runtime_error(fmt::format("gpu{} has no goals yet", gpu));
        return found->second;
    }

    void carry_out(std::uint32_t gpu, const std::string &call, Json &with) {
        if (call == "begin")
            return begin(gpu, with);
        Kept &kept = of(gpu);
        qos::Governor &governor = kept.governor;
        const auto tenant = [&] {
            const std::size_t number = with.at("tenant");
            if (number >= governor.entrants().size())
                throw std::runtime_error(fmt::format("there is no tenant {}", number));
            return number;
        };
        if (call == "step")
            step(gpu, kept, with);
        else if (call == "add")
            governor.add(turn_of(tenant(), with));
        else if (call == "set_tsgs")
            governor.set_tsgs(tenant(), with.at("tsgs"));
        else if (call == "set_in_effect")
            governor.set_in_effect(tenant(), with.at("in_effect"));
        else if (call == "set_spans")
            governor.set_spans(tenant(), with.at("spans"));
        else if (call == "mark")
            governor.mark(tenant(), with.at("busy").is_null()
                                        ? std::nullopt
                                        : std::optional<bool>(with.at("busy").get<bool>()));
        else if (call == "set_pause")
            governor.set_pause(with.at("takes"));
        else if (call == "lose")
            governor.lose();
        else if (call == "needs_turns")
            compare(gpu, kept, with.at("now"), "whether turns are needed", with.at("returns"),
                    governor.needs_turns(with.at("now")));
        else if (call == "set_goals")
            set_goals(governor, with);
        else
            throw std::runtime_error("there is no call " + call);
    }

    void begin(std::uint32_t gpu, const Json &with) {
        const qos::Ns now = with.at("now");
        governors_.erase(gpu);
        plan_.forget(gpu);
        governors_.emplace(gpu, Kept{qos::Governor(settings_of(with.at("settings")),
                                                   goals_of(with.at("goals")), now,
                                                   [this, gpu](qos::GpuView view) {
                                                       view.gpu = gpu;
                                                       return plan_.decide(std::move(view));
                                                   }),
                                     now});
    }

    static void set_goals(qos::Governor &governor, const Json &with) {
        const auto goals = goals_of(with.at("goals"));
        std::vector<std::optional<std::size_t>> before;
        for (const Json &number : with.at("before")) {
            before.push_back(optional_of<std::size_t>(number));
            if (before.back() && *before.back() >= governor.entrants().size())
                throw std::runtime_error(fmt::format("there was no tenant {}", *before.back()));
        }
        if (before.size() != goals.size())
            throw std::runtime_error("`before` and `goals` have different lengths");
        governor.set_goals(goals, before, with.at("now"));
    }

    void step(std::uint32_t gpu, Kept &kept, Json &with) {
        qos::Governor &governor = kept.governor;
        const qos::Ns now = with.at("now");
        governor.step(now, with.at("seen").get<bool>());
        steps_++;
        std::vector<qos::Lever> recorded;
        for (const Json &lever : with.at("levers"))
            recorded.push_back({lever.at("timeslice"), lever.at("paused")});
        Json decided = Json::array();
        for (std::size_t n = 0; n < std::max(recorded.size(), governor.entrants().size()); n++) {
            std::optional<qos::Lever> then, here;
            if (n < recorded.size())
                then = recorded[n];
            if (n < governor.entrants().size())
                here = governor.lever(n);
            if (then != here)
                differ(gpu, kept, now,
                       fmt::format("tenant {} had {} in the record, and has {} here", n,
                                   text_of(then), text_of(here)));
            if (here)
                decided.push_back({{"timeslice", here->timeslice}, {"paused", here->paused}});
            const bool was_paused = n < kept.levers.size() && kept.levers[n].paused;
            pauses_ += then && then->paused && !was_paused;
        }
        kept.levers = std::move(recorded);
        compare(gpu, kept, now, "when the next step is due", with.at("due"), governor.due());
        with.at("levers") = std::move(decided);
    }

    /// Compares a value with the record, and puts it there.
    template <typename T>
    void compare(std::uint32_t gpu, const Kept &kept, qos::Ns now, const char *what, Json &recorded,
                 const T &here) {
        if (recorded != here)
            differ(gpu, kept, now,
                   fmt::format("{}: it was {} in the record, and is {} here", what, recorded.dump(),
                               here));
        recorded = here;
    }

    void differ(std::uint32_t gpu, const Kept &kept, qos::Ns now, const std::string &what) {
        differences_.push_back(fmt::format("line {}, gpu{}, {:.3f} s after its goals began: {}",
                                           number_, gpu, qos::seconds(now - kept.begin), what));
    }

    std::map<std::uint32_t, Kept> governors_;
    nvqos::MachinePlan plan_;
    std::vector<std::string> differences_;
    std::uint64_t number_ = 0, steps_ = 0, pauses_ = 0;
};

} // namespace replay
