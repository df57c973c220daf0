// SPDX-License-Identifier: MIT OR GPL-2.0
#include "cases.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

namespace quotas {
namespace {

using nvdebug::base::in_quotes;
using nvdebug::base::Place;
using nvdebug::base::wrong;
using qos::Rational;

// --- numbers ---

constexpr std::size_t most_digits = 18;

bool is_digits(std::string_view text) {
    return !text.empty() && text.size() <= most_digits &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

qos::Integer whole(std::string_view digits) {
    return qos::Integer(std::string(digits), 10);
}

/** `3`, `3/4`, `0.75`; none: is no such number, or a long one. */
std::optional<Rational> rational_of(std::string_view text) {
    if (const std::size_t bar = text.find('/'); bar != text.npos) {
        const std::string_view above = text.substr(0, bar), below = text.substr(bar + 1);
        if (!is_digits(above) || !is_digits(below) || whole(below) == 0)
            return std::nullopt;
        return qos::fraction(whole(above), whole(below));
    }
    const std::size_t point = text.find('.');
    if (point == text.npos)
        return is_digits(text) ? std::optional<Rational>(whole(text)) : std::nullopt;
    const std::string_view before = text.substr(0, point), after = text.substr(point + 1);
    if (!is_digits(before) || !is_digits(after))
        return std::nullopt;
    qos::Integer scale;
    mpz_ui_pow_ui(scale.get_mpz_t(), 10, after.size());
    return qos::fraction(whole(before) * scale + whole(after), scale);
}

/** A JSON number is the decimal fraction that is written, not the nearest binary one. */
Rational rational(const Place &place, const Rational &least) {
    std::string text;
    if (place.value.is_string()) {
        text = place.value.get<std::string>();
    } else if (place.value.is_number_float()) {
        char digits[400];
        const auto end = std::to_chars(digits, digits + sizeof(digits), place.value.get<double>(),
                                       std::chars_format::fixed);
        text.assign(digits, end.ptr);
    } else if (place.value.is_number()) {
        text = place.value.dump();
    } else {
        wrong(place.where(), "is neither a number nor a text like \"3/4\"");
    }
    const std::optional<Rational> found = rational_of(text);
    if (!found)
        wrong(place.where(), in_quotes(text) +
                                 " is not a number like 3, 0.75 or 3/4 with at most " +
                                 std::to_string(most_digits) + " digits in each part");
    if (*found < least)
        wrong(place.where(), in_quotes(text) + " is less than " + least.get_str());
    return *found;
}

/** Also as a text. */
std::int64_t count(const Place &place, std::int64_t least, std::int64_t most) {
    const Rational found = rational(place, 0);
    if (found.get_den() != 1)
        wrong(place.where(), "is not a whole number");
    if (found < Rational(least) || found > Rational(most))
        wrong(place.where(), found.get_str() + " is not from " + std::to_string(least) + " to " +
                                 std::to_string(most));
    return found.get_num().get_si();
}

bool truth(const Place &place) {
    if (!place.value.is_boolean())
        wrong(place.where(), "is neither true nor false");
    return place.value.get<bool>();
}

bool is_there(const Place &place, const char *key) {
    return place.has(key) && !place.value.at(key).is_null();
}

// --- readings ---

/** A reading's value is a word that is not known: not an error, but nothing that can be done. */
struct Unsupported {
    std::string sentence;
};

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
        throw Unsupported{place.where() + ": " + in_quotes(given) + " is none of " + all};
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

/** By name. What is null is not set. */
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

void read_readings(const Place &place, Case &into) {
    if (!place.value.is_object())
        wrong(place.where(), "is not an object");
    into.readings_given = place.value;
    for (const auto &[key, value] : place.value.items()) {
        const Place at{value, place.path + "." + (setters().contains(key) ? key : in_quotes(key))};
        try {
            if (!setters().contains(key))
                throw Unsupported{at.where() + ": there is no such reading"};
            if (!value.is_null())
                setters().at(key)(at, into.readings);
        } catch (const Unsupported &unknown) {
            if (into.unsupported.empty())
                into.unsupported = unknown.sentence;
        }
    }
}

// --- the rest of a case ---

/** A list by SM, or one number for all. */
void read_blocks(const Place &place, std::size_t kernel, qos::Table &into) {
    if (!place.value.is_array()) {
        const std::int64_t all = place.number(0, limit::blocks);
        for (std::size_t sm = 0; sm < into.sms(); sm++)
            into(sm, kernel) = all;
        return;
    }
    const std::vector<Place> items = place.items(limit::sms);
    if (items.size() != into.sms())
        wrong(place.where(), "has " + std::to_string(items.size()) + " entries, and there are " +
                                 std::to_string(into.sms()) + " SMs");
    for (std::size_t sm = 0; sm < items.size(); sm++)
        into(sm, kernel) = items[sm].number(0, limit::blocks);
}

qos::Kernel kernel(const Place &place) {
    place.expect_object({"qos", "goal", "tbs"});
    qos::Kernel found{.qos = truth(place.at("qos"))};
    if (!found.qos && is_there(place, "goal"))
        wrong(place.at("goal").where(), "a kernel that is not a QoS kernel has no goal");
    if (!found.qos)
        return found;
    found.goal = rational(place.at("goal"), 0);
    if (found.goal == 0)
        wrong(place.at("goal").where(), "a goal is more than 0");
    return found;
}

std::size_t index(const Place &place, std::size_t all) {
    return static_cast<std::size_t>(place.number(0, static_cast<std::int64_t>(all) - 1));
}

Offer offer(const Place &place, const qos::Shape &shape) {
    place.expect_object({"sm", "k", "from", "to", "every", "count", "lanes"});
    Offer found{.sm = {},
                .kernel = index(place.at("k"), shape.kernels.size()),
                .from = place.has("from") ? place.at("from").number(0, shape.epoch) : 0,
                .to = place.has("to") ? place.at("to").number(0, shape.epoch) : shape.epoch,
                .every = place.has("every") ? place.at("every").number(1, limit::cycles) : 1,
                .count = place.has("count") ? place.at("count").number(0, limit::count) : 1,
                .lanes = {}};
    if (const Place sm = place.at("sm"); sm.value != "all")
        found.sm = index(sm, shape.sms);
    const Place lanes = place.at("lanes");
    if (!lanes.value.is_array())
        found.lanes.push_back(static_cast<int>(lanes.number(1, qos::lanes_of_warp)));
    else
        for (const Place &one : lanes.items(limit::lanes))
            found.lanes.push_back(static_cast<int>(one.number(1, qos::lanes_of_warp)));
    if (found.lanes.empty())
        wrong(lanes.where(), "is empty");
    return found;
}

Span span(const Place &place, const qos::Shape &shape) {
    place.expect_object({"offers", "tbs", "exits"});
    Span found;
    if (is_there(place, "offers"))
        for (const Place &item : place.at("offers").items(limit::offers))
            found.offers.push_back(offer(item, shape));
    if (is_there(place, "exits")) {
        for (const Place &item : place.at("exits").items(limit::exits)) {
            item.expect_object({"sm", "k", "at"});
            found.exits.push_back({.sm = index(item.at("sm"), shape.sms),
                                   .kernel = index(item.at("k"), shape.kernels.size()),
                                   .at = item.at("at").number(0, shape.epoch - 1)});
        }
        std::ranges::stable_sort(found.exits, {}, &Exit::at);
    }
    if (!is_there(place, "tbs"))
        return found;
    const Place tbs = place.at("tbs");
    const std::vector<Place> rows = tbs.items(limit::kernels);
    if (rows.size() != shape.kernels.size())
        wrong(tbs.where(), "has " + std::to_string(rows.size()) + " entries, and there are " +
                               std::to_string(shape.kernels.size()) + " kernels");
    found.blocks = qos::Table(shape.sms, shape.kernels.size());
    for (std::size_t k = 0; k < rows.size(); k++)
        read_blocks(rows[k], k, *found.blocks);
    return found;
}

/** So that a file ends in a time that one can wait for. */
void check_work(const Place &place, const Case &one) {
    const auto sms = static_cast<std::int64_t>(one.shape.sms),
               spans = static_cast<std::int64_t>(one.spans.size());
    if (spans && one.shape.epoch > limit::sm_cycles / sms / spans)
        wrong(place.where(), "SMs, cycles and epochs make more than " +
                                 std::to_string(limit::sm_cycles) + " cycles of SMs");
    std::int64_t tried = 0;
    for (const Span &span : one.spans)
        for (const Offer &offer : span.offers)
            if (offer.from < offer.to)
                tried += ((offer.to - offer.from - 1) / offer.every + 1) * (offer.sm ? 1 : sms);
    if (tried > limit::tried)
        wrong(place.where(),
              "more than " + std::to_string(limit::tried) + " offers, each SM and cycle counted");
}

void read_input(const Place &place, Case &into) {
    place.expect_object({"S", "W", "T", "kernels", "epochs"});
    into.shape.sms = static_cast<std::size_t>(place.at("S").number(1, limit::sms));
    into.shape.slots = static_cast<int>(place.at("W").number(1, limit::slots));
    into.shape.epoch = place.at("T").number(1, limit::cycles);
    const std::vector<Place> kernels = place.at("kernels").items(limit::kernels);
    if (kernels.empty())
        wrong(place.at("kernels").where(), "is empty");
    into.blocks = qos::Table(into.shape.sms, kernels.size(), 1);
    for (std::size_t k = 0; k < kernels.size(); k++) {
        into.shape.kernels.push_back(kernel(kernels[k]));
        if (is_there(kernels[k], "tbs"))
            read_blocks(kernels[k].at("tbs"), k, into.blocks);
    }
    for (const Place &item : place.at("epochs").items(limit::spans))
        into.spans.push_back(span(item, into.shape));
    check_work(place, into);
}

Case a_case(const Place &place) {
    place.expect_object({"id", "input", "scheme", "readings"});
    Case found;
    found.id = place.at("id").value;
    if (!found.id.is_string() && !found.id.is_number_integer())
        wrong(place.at("id").where(), "is neither a text nor a whole number");
    const Place scheme = place.at("scheme");
    found.scheme_name = scheme.text();
    static const std::map<std::string_view, qos::Scheme> schemes = {
        {"naive", qos::Scheme::naive},
        {"history", qos::Scheme::history},
        {"elastic", qos::Scheme::elastic},
        {"rollover", qos::Scheme::rollover},
        {"rollover_time", qos::Scheme::rollover_time}};
    if (!schemes.contains(found.scheme_name))
        wrong(scheme.where(), in_quotes(found.scheme_name) +
                                  " is none of naive, history, elastic, rollover, rollover_time");
    found.scheme = schemes.at(found.scheme_name);
    found.readings_given = Json::object();
    if (is_there(place, "readings"))
        read_readings(place.at("readings"), found);
    read_input(place.at("input"), found);
    return found;
}

} // namespace

std::vector<Case> parse(std::string_view text) {
    const Json parsed =
        nvdebug::base::document(text, {.bytes = limit::file_bytes, .nesting = limit::nesting});
    std::vector<Case> found;
    for (const Place &item : Place{parsed, ""}.items(limit::cases))
        found.push_back(a_case(item));
    return found;
}

} // namespace quotas
