// SPDX-License-Identifier: MIT OR GPL-2.0
#include "scenarios.hpp"

#include "engine/benchmarks.hpp"
#include "engine/scheduler.hpp"
#include "numbers.hpp"
#include "readings.hpp"

namespace quotas {
namespace {

using engine::Scenario;
using nvdebug::base::in_quotes;
using nvdebug::base::Json;
using nvdebug::base::wrong;

constexpr std::int64_t most_sms = 1024, most_cycles = 1'000'000'000, most_kernels = 16;
constexpr std::size_t most_bytes = 1 << 20, nesting = 6;

/** Returns the number under a key, or @p otherwise if the key is missing. */
std::int64_t number_or(const Place &place, const char *key, std::int64_t otherwise,
                       std::int64_t least, std::int64_t most) {
    return is_there(place, key) ? place.at(key).number(least, most) : otherwise;
}

bool truth_or(const Place &place, const char *key, bool otherwise) {
    return is_there(place, key) ? truth(place.at(key)) : otherwise;
}

void read_gpu(const Place &place, engine::GpuShape &into) {
    place.expect_object({"sms", "schedulers", "sixteenths_of_line"});
    into.sms = static_cast<std::size_t>(number_or(place, "sms", 16, 1, most_sms));
    into.sm.schedulers = static_cast<int>(number_or(place, "schedulers", 4, 1, 8));
    // The schedulers share the warps of an SM evenly, and each has a bit for each of its warps.
    if (into.sm.threads / engine::lanes_of_warp > into.sm.schedulers * engine::Scheduler::most)
        wrong(place.where(), "has too few schedulers for the warps of an SM");
    into.memory.sixteenths =
        number_or(place, "sixteenths_of_line", into.memory.sixteenths, 1, 1000);
}

void read_adjustment(const Place &place, engine::AdjustmentReadings &into) {
    place.expect_object({"grows", "returns", "least", "throttled"});
    into.grows = truth_or(place, "grows", into.grows);
    into.returns = truth_or(place, "returns", into.returns);
    into.throttled = truth_or(place, "throttled", into.throttled);
    into.least = static_cast<int>(number_or(place, "least", into.least, 0, 32));
}

void read_scheme(const Place &place, Scenario &into) {
    const std::string name = place.text();
    if (name == "spart" || name == "alone") {
        into.manager = name == "spart" ? Scenario::Manager::spart : Scenario::Manager::none;
        return;
    }
    const std::optional<qos::Scheme> known = scheme_of(name);
    if (!known)
        wrong(place.where(),
              in_quotes(name) + " is none of alone, spart, " + std::string(scheme_names));
    into.scheme = *known;
}

engine::Hosted hosted(const Place &place) {
    const std::string name = place.text();
    if (name != "allotted" && name != "resident")
        wrong(place.where(), in_quotes(name) + " is none of allotted, resident");
    return name == "resident" ? engine::Hosted::resident : engine::Hosted::allotted;
}

engine::Participant participant(const Place &place) {
    place.expect_object({"name", "goal"});
    const std::string name = place.at("name").text();
    const engine::Kernel *kernel = engine::benchmark(name);
    if (!kernel) {
        std::string all;
        for (const engine::Kernel &one : engine::benchmarks())
            all += (all.empty() ? "" : ", ") + one.name;
        wrong(place.at("name").where(), in_quotes(name) + " is none of " + all);
    }
    engine::Participant found{.kernel = *kernel};
    if (!is_there(place, "goal"))
        return found;
    found.qos = true;
    found.goal = rational(place.at("goal"), 0);
    if (found.goal == 0)
        wrong(place.at("goal").where(), "a goal is more than 0");
    return found;
}

void read(const Place &place, NamedScenario &into) {
    place.expect_object({"id", "gpu", "scheme", "readings", "adjustment", "hosted", "spart_least",
                         "epoch", "epochs", "seed", "kernels"});
    Scenario &scenario = into.scenario;
    into.id = place.at("id").value;
    if (!into.id.is_string())
        wrong(place.at("id").where(), "is not a text");
    if (is_there(place, "gpu"))
        read_gpu(place.at("gpu"), scenario.gpu);
    read_scheme(place.at("scheme"), scenario);
    if (is_there(place, "readings"))
        if (const std::string unknown = read_readings(place.at("readings"), scenario.readings);
            !unknown.empty())
            throw nvdebug::base::Wrong{unknown};
    if (is_there(place, "adjustment"))
        read_adjustment(place.at("adjustment"), scenario.adjustment);
    if (is_there(place, "hosted"))
        scenario.hosted = hosted(place.at("hosted"));
    scenario.spart_least = static_cast<int>(number_or(place, "spart_least", 0, 0, most_sms));
    scenario.epoch = number_or(place, "epoch", scenario.epoch, 100, most_cycles);
    scenario.epochs = number_or(place, "epochs", scenario.epochs, 1, most_cycles / scenario.epoch);
    scenario.seed = static_cast<std::uint64_t>(number_or(place, "seed", 1, 0, most_cycles));
    for (const Place &item : place.at("kernels").items(most_kernels))
        scenario.kernels.push_back(participant(item));
    if (scenario.kernels.empty())
        wrong(place.at("kernels").where(), "is empty");
}

} // namespace

NamedScenario parse_scenario(std::string_view line) {
    const Json parsed = nvdebug::base::document(line, {.bytes = most_bytes, .nesting = nesting});
    NamedScenario found;
    read(Place{parsed, ""}, found);
    return found;
}

std::string text_of(const NamedScenario &scenario, const engine::Outcome &outcome) {
    const nlohmann::ordered_json all = {{"id", scenario.id},
                                        {"cycles", outcome.cycles},
                                        {"instructions", outcome.instructions},
                                        {"launches", outcome.launches},
                                        {"swaps", outcome.swaps},
                                        {"memory_busy", outcome.memory_busy}};
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace quotas
