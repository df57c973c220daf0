// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/parse.hpp"
#include "text.hpp"

namespace nvdebug {
namespace {

struct Row {
    std::uint32_t runlist;
    bool on;
};

void set_on(const text::Value &value, Row &row) {
    if (value.text != "on" && value.text != "off")
        return value.fail("'on' or 'off'");
    row.on = value.text == "on";
}

constexpr text::Key<Row> columns[] = {
    text::key<&Row::runlist>("runlist"),
    {"scheduling", set_on},
};

} // namespace

Result<std::map<std::uint32_t, bool>> parse_scheduling(std::string_view text) {
    return text::parse_table<Row>(text, columns).map([](const std::vector<Row> &rows) {
        std::map<std::uint32_t, bool> scheduling;
        for (const Row &row : rows)
            scheduling[row.runlist] = row.on;
        return scheduling;
    });
}

} // namespace nvdebug
