// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/parse.hpp"
#include "text.hpp"

namespace nvdebug {

using text::key;

/** `-`: none of its own. */
static void set_pces(const text::Value &value, LogicalCopyEngine &lce) {
    if (value.text != "-")
        read(value, lce.pces);
}

static constexpr text::Key<LogicalCopyEngine> columns[] = {
    key<&LogicalCopyEngine::name>("engine"),
    key<&LogicalCopyEngine::runlist>("runlist"),
    {"pces", set_pces},
    key<&LogicalCopyEngine::shares>("shares"),
};

Result<std::vector<LogicalCopyEngine>> parse_copy_topology(std::string_view text) {
    return text::parse_table<LogicalCopyEngine>(text, columns);
}

} // namespace nvdebug
