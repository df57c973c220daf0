// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/parse.hpp"
#include "text.hpp"

namespace nvdebug {
namespace {

using text::key;

template <auto Member>
void set_words(const text::Value &value, WorkDistributor &to) {
    std::string_view rest = value.text;
    for (std::string_view word; !(word = text::take_word(rest)).empty();)
        text::read({value.scanner, value.key, word}, (to.*Member).emplace_back());
}

constexpr text::Key<WorkDistributor> keys[] = {
    key<&WorkDistributor::gpcs>("gpcs"),
    key<&WorkDistributor::tpcs>("tpcs"),
    key<&WorkDistributor::partitioning>("partitioning"),
    key<&WorkDistributor::table>("table"),
    key<&WorkDistributor::veid_offset>("veid_offset"),
    key<&WorkDistributor::table_offset>("table_offset"),
    {"gpc_tpc_id", set_words<&WorkDistributor::gpc_tpc_id>},
    {"sm_id", set_words<&WorkDistributor::sm_id>},
};

} // namespace

Result<WorkDistributor> parse_work_distributor(std::string_view text) {
    return text::parse_record<WorkDistributor>(text, keys);
}

} // namespace nvdebug
