// SPDX-License-Identifier: MIT OR GPL-2.0
#include "cases.hpp"

#include <algorithm>
#include <map>

#include "numbers.hpp"
#include "readings.hpp"

namespace quotas {
namespace {

using nvdebug::base::in_quotes;
using nvdebug::base::Place;
using nvdebug::base::wrong;
using qos::Rational;

/** Reads blocks: a list with a number for each SM, or one number for all SMs. */
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
    const Place sm = place.at("sm");
    if (sm.value.is_string() && sm.value != "all")
        wrong(sm.where(), "is neither the number of an SM nor 'all'");
    if (sm.value != "all")
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

/** Fails if a case has more work than a user would wait for. */
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
    const std::optional<qos::Scheme> known = scheme_of(found.scheme_name);
    if (!known)
        wrong(scheme.where(), in_quotes(found.scheme_name) + " is none of " + scheme_names);
    found.scheme = *known;
    found.readings_given = Json::object();
    if (is_there(place, "readings")) {
        found.unsupported = read_readings(place.at("readings"), found.readings);
        found.readings_given = place.at("readings").value;
    }
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
