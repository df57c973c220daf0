// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/base/text.hpp"
#include "nvdebug/answers.hpp"
#include "nvdebug/parse.hpp"

#include <map>
#include <utility>

namespace nvdebug {
namespace {

using text::key;
using text::Value;

void set_shared(const Value &value, AddressSpaceUse &use) {
    if (value.text != "yes" && value.text != "no" && value.text != "-")
        return value.fail("'yes' or 'no'");
    use.shared = value.text == "yes";
}

void set_spaces(const Value &value, AddressSpaceUse &use) {
    if (!value.unknown())
        read(value, use.spaces);
    if (use.shared && use.spaces < 2)
        value.fail("more than 1, as a shared TSG has");
}

constexpr text::Key<AddressSpaceUse> space_columns[] = {
    key<&AddressSpaceUse::runlist>("runlist"),
    key<&AddressSpaceUse::tsg>("tsg"),
    {"shared", set_shared},
    {"spaces", set_spaces},
    key<&AddressSpaceUse::page_directory, &Place::address>("page_directory"),
    key<&AddressSpaceUse::page_directory, &Place::aperture>("aperture"),
    key<&AddressSpaceUse::veid>("veid"),
    key<&AddressSpaceUse::channels>("channels"),
    key<&AddressSpaceUse::error>("error"),
};

} // namespace

Result<std::vector<AddressSpaceUse>> parse_contexts(std::string_view text) {
    auto uses = text::parse_table<AddressSpaceUse>(text, space_columns);
    if (!uses)
        return uses;
    // The line of a TSG with an error does not repeat the values of the lines above it, so they are
    // copied.
    std::map<std::pair<std::uint32_t, std::uint32_t>, const AddressSpaceUse *> known;
    for (AddressSpaceUse &use : *uses) {
        if (!use.tsg)
            continue;
        const auto id = std::pair(use.runlist, *use.tsg);
        if (!use.error)
            known.emplace(id, &use);
        else if (const auto above = known.find(id); above != known.end()) {
            use.shared = above->second->shared;
            use.spaces = above->second->spaces;
        }
    }
    return uses;
}

std::vector<SharedTsg> shared_tsgs(std::span<const AddressSpaceUse> uses) {
    std::vector<SharedTsg> found;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> place;
    for (const AddressSpaceUse &use : uses) {
        if (!use.tsg || !use.shared)
            continue;
        const auto [at, is_new] = place.emplace(std::pair(use.runlist, *use.tsg), found.size());
        if (is_new)
            found.push_back({use.runlist, *use.tsg, use.spaces, {}});
        found[at->second].uses.push_back(&use);
    }
    return found;
}

} // namespace nvdebug
