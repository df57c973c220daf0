// SPDX-License-Identifier: MIT OR GPL-2.0
#include "readings.hpp"

#include <functional>
#include <map>

#include "cases.hpp"
#include "numbers.hpp"

namespace quotas {
namespace {

using nvdebug::base::in_quotes;
using nvdebug::base::wrong;

using Set = std::function<void(const Place &, qos::Readings &)>;

template <typename Enum>
Set word(Enum qos::Readings::*field, std::vector<std::pair<std::string, Enum>> words) {
    return [field, words = std::move(words)](const Place &place, qos::Readings &to) {
        const std::string given = place.text();
        std::string all;
        for (const auto &[known, value] : words) {
            if (known == given) {
                to.*field = value;
                return;
            }
            all += (all.empty() ? "" : ", ") + known;
        }
        wrong(place.where(), in_quotes(given) + " is none of " + all);
    };
}

template <typename Field>
Set number(Field qos::Readings::*field, std::int64_t least) {
    return [=](const Place &place, qos::Readings &to) { to.*field = rational(place, least); };
}

template <typename Field>
Set yes_or_no(Field qos::Readings::*field) {
    return [=](const Place &place, qos::Readings &to) { to.*field = truth(place); };
}

void set_history(const Place &place, qos::Readings &to) {
    to.hist.reset();
    if (place.value != "cumulative")
        to.hist = count(place, 1, limit::cycles);
}

void set_latency(const Place &place, qos::Readings &to) {
    to.latency = count(place, 0, limit::cycles);
}

/** Returns a function for each reading, by name, that sets it from JSON. */
const std::map<std::string, Set> &setters() {
    using namespace qos;
    using R = Readings;
    static const std::map<std::string, Set> all = {
        {"alpha", yes_or_no(&R::alpha)},
        {"neg_boundary",
         word(&R::neg_boundary, {{"forgive", Debt::forgive}, {"carry", Debt::carry}})},
        {"refill", word(&R::refill, {{"add", Refill::add}, {"set", Refill::set}})},
        {"refill_trigger",
         word(&R::refill_trigger,
              {{"all", Trigger::all}, {"own", Trigger::own}, {"qos", Trigger::qos}})},
        {"absent", word(&R::absent, {{"exempt", Absent::exempt}, {"counts", Absent::counts}})},
        {"search_op", word(&R::search_op, {{"product", SearchOperator::product},
                                           {"min", SearchOperator::min},
                                           {"mean", SearchOperator::mean},
                                           {"sum", SearchOperator::sum}})},
        {"search_base",
         word(&R::search_base, {{"achieved", SearchBase::achieved}, {"goal", SearchBase::goal}})},
        {"search_alpha", word(&R::search_alpha, {{"new", SearchAlpha::newest},
                                                 {"prev", SearchAlpha::previous},
                                                 {"none", SearchAlpha::none}})},
        {"search_floor", number(&R::search_floor, 0)},
        {"init_ipc", number(&R::init_ipc, 0)},
        {"cap", yes_or_no(&R::cap)},
        {"hist", set_history},
        {"alpha_max", number(&R::alpha_max, 1)},
        {"round", word(&R::round, {{"largest", Rounding::largest},
                                   {"floor", Rounding::floor},
                                   {"ceil", Rounding::ceil},
                                   {"nearest", Rounding::nearest}})},
        {"charge", word(&R::charge, {{"issue", Charge::issue}, {"complete", Charge::complete}})},
        {"latency", set_latency},
        {"check", word(&R::check, {{"snapshot", Check::snapshot}, {"serial", Check::serial}})},
        {"elastic_scope",
         word(&R::elastic_scope, {{"sm", ElasticScope::sm}, {"gpu", ElasticScope::gpu}})},
        {"rollover_cap", number(&R::rollover_cap, 0)},
        {"rollover_scope",
         word(&R::rollover_scope, {{"sm", RolloverScope::sm}, {"pool", RolloverScope::pool}})},
    };
    return all;
}

} // namespace

std::optional<qos::Scheme> scheme_of(std::string_view name) {
    static const std::map<std::string_view, qos::Scheme> schemes = {
        {"naive", qos::Scheme::naive},
        {"history", qos::Scheme::history},
        {"elastic", qos::Scheme::elastic},
        {"rollover", qos::Scheme::rollover},
        {"rollover_time", qos::Scheme::rollover_time}};
    const auto found = schemes.find(name);
    return found == schemes.end() ? std::nullopt : std::optional(found->second);
}

std::string read_readings(const Place &place, qos::Readings &into) {
    if (!place.value.is_object())
        wrong(place.where(), "is not an object");
    std::string unsupported;
    for (const auto &[key, value] : place.value.items()) {
        const Place at{value, place.path + "." + (setters().contains(key) ? key : in_quotes(key))};
        try {
            if (!setters().contains(key))
                wrong(at.where(), "there is no such reading");
            if (!value.is_null())
                setters().at(key)(at, into);
        } catch (const nvdebug::base::Wrong &error) {
            if (unsupported.empty())
                unsupported = error.sentence;
        }
    }
    return unsupported;
}

} // namespace quotas
