// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/parse.hpp"
#include "text.hpp"

namespace nvdebug {

using text::key;

static constexpr text::Key<Sm> columns[] = {
    key<&Sm::sm>("sm"),
    key<&Sm::gpc>("gpc"),
    key<&Sm::tpc>("tpc"),
};

Result<std::vector<Sm>> parse_sm_map(std::string_view text) {
    return text::parse_table<Sm>(text, columns);
}

} // namespace nvdebug
