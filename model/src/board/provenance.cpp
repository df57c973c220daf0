// SPDX-License-Identifier: MIT OR GPL-2.0
#include "board/provenance.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace nvmodel {
namespace {

constexpr std::array<std::string_view, 5> bases{"published", "captured", "measured", "paper",
                                                "invented"};
constexpr std::size_t max_facts = 64;

} // namespace

void check_facts(JsonObject &section, const std::vector<std::string> &data_keys) {
    std::set<std::string, std::less<>> open(data_keys.begin(), data_keys.end());
    const JsonValue facts = section.at("facts");
    for (const JsonValue &item : facts.items(max_facts)) {
        JsonObject fact(item);
        const JsonValue basis = fact.at("basis");
        if (std::ranges::find(bases, basis.text()) == bases.end())
            basis.fail("expected published, captured, measured, paper or invented");
        static_cast<void>(fact.at("source").text());
        for (const JsonValue &key : fact.at("of").items(max_facts)) {
            if (key.text() == "*")
                open.clear();
            else if (open.erase(key.text()) == 0)
                key.fail("\"" + key.text() + "\" is not a key here, or was explained before");
        }
        fact.finish();
    }
    if (!open.empty())
        facts.fail("does not say where \"" + *open.begin() + "\" comes from");
}

} // namespace nvmodel
