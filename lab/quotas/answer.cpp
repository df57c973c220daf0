// SPDX-License-Identifier: MIT OR GPL-2.0
#include "answer.hpp"

namespace quotas {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered table(const qos::Table &from) {
    Ordered rows = Ordered::array();
    for (std::size_t sm = 0; sm < from.sms(); sm++) {
        Ordered row = Ordered::array();
        for (std::size_t k = 0; k < from.kernels(); k++)
            row.push_back(from(sm, k));
        rows.push_back(std::move(row));
    }
    return rows;
}

Ordered fractions(const std::vector<qos::Rational> &from) {
    Ordered texts = Ordered::array();
    for (const qos::Rational &one : from)
        texts.push_back(one.get_str());
    return texts;
}

Ordered of_epoch(const qos::Epoch &epoch) {
    return {{"first_cycle", epoch.first_cycle},  {"length", epoch.length},
            {"alpha", fractions(epoch.alpha)},   {"goal", fractions(epoch.goal)},
            {"quota", table(epoch.quota)},       {"C_start", table(epoch.counter_start)},
            {"C_end", table(epoch.counter_end)}, {"issued", table(epoch.issued)},
            {"refused", table(epoch.refused)},   {"used", table(epoch.used)},
            {"refills", table(epoch.refills)}};
}

std::string text(const auto &value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace

std::string answer(const Case &one, const std::vector<qos::Epoch> *epochs) {
    std::string all = "{\"id\": " + text(one.id) + ", \"scheme\": " + text(Json(one.scheme_name)) +
                      ", \"readings\": " + text(one.readings_given) + ", \"epochs\": ";
    if (!epochs)
        return all + "null}";
    all += "[";
    for (const qos::Epoch &epoch : *epochs)
        all += (&epoch == &epochs->front() ? "\n" : ",\n") + text(of_epoch(epoch));
    return all + "]}";
}

} // namespace quotas
