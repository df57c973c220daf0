// SPDX-License-Identifier: MIT OR GPL-2.0
#include "copy.hpp"

#include <set>

#include "cli/context.hpp"
#include "cli/json.hpp"
#include "nvdebug/answers.hpp"
#include "objects.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::CopyContention;
using nvdebug::CopyTopology;
using nvdebug::LogicalCopyEngine;

Json contends_with(const std::vector<CopyContention> &contention, std::uint32_t pces,
                   const std::string &name) {
    std::set<std::string> seen = {name};
    Json others = Json::array();
    for (const CopyContention &group : contention)
        if (group.pces & pces)
            for (const std::string &lce : group.lces)
                if (seen.insert(lce).second)
                    others.push_back(lce);
    return others;
}

Outcome<Document> show_copies(Context &context) {
    const auto copy = context.gpu().copy_topology();
    if (!copy)
        return tl::unexpected(Failure(copy.error()));
    const auto contention = nvdebug::copy_contention(*copy);
    Json lces = Json::array();
    for (const LogicalCopyEngine &lce : copy->lces) {
        const std::uint32_t pces = nvdebug::pces_of(*copy, lce);
        lces.push_back({{"lce", lce.name},
                        {"runlist", or_null(lce.runlist)},
                        {"own_pces", bits_of(lce.pces)},
                        {"borrows_from", or_null(lce.shares)},
                        {"pces", bits_of(pces)},
                        {"contends_with", contends_with(contention, pces, lce.name)}});
    }
    const Json data = {
        {"pce_map", hex(copy->pce_map)}, {"existing_pces", bits_of(copy->pce_map)}, {"lces", lces}};
    return Document{data, lces};
}

Outcome<Document> list_shared_copies(Context &context) {
    const auto copy = context.gpu().copy_topology();
    if (!copy)
        return tl::unexpected(Failure(copy.error()));
    Json rows = Json::array();
    for (const CopyContention &group : nvdebug::copy_contention(*copy))
        rows.push_back({{"pces", bits_of(group.pces)}, {"lces", group.lces}});
    return Document{rows};
}

} // namespace

std::vector<Command> copy_commands() {
    const std::vector<Column> lces = {
        {"lce", "name of the logical copy engine", "string"},
        {"runlist", "runlist that serves it", "uint?"},
        {"own_pces", "numbers of the PCEs assigned to it", "[uint]"},
        {"borrows_from", "LCE whose PCEs it uses (a GRCE); null: none", "string?"},
        {"pces",
         "numbers of the PCEs its copies run on, borrowed ones included; "
         "none: it cannot copy",
         "[uint]"},
        {"contends_with", "LCEs whose copies run on the same PCEs (rule R8)", "[string]"}};
    return {
        {.object = "copy",
         .verb = "show",
         .help = "logical copy engines (LCEs), their physical ones (PCEs), and which borrow",
         .pictures = copy_pictures(),
         .columns = lces,
         .fields = {{"pce_map", "bit n: PCE n exists", "hex"},
                    {"existing_pces", "numbers of the PCEs that exist", "[uint]"},
                    {"lces", "LCEs in the order of device_info", "[object]", fields_of(lces)}},
         .examples = {{"nvdebugctl copy show", "the wiring of the copy engines"},
                      {"nvdebugctl copy show --svg > copy.svg", "a picture of it"}},
         .run = show_copies},
        {.object = "copy",
         .verb = "shared",
         .help = "copy engines that contend for PCEs (rule R8)",
         .columns = {{"pces", "numbers of the PCEs that are contended for", "[uint]"},
                     {"lces", "LCEs whose copies run on them", "[string]"}},
         .data = "groups of LCEs that contend",
         .examples = {{"nvdebugctl copy shared", "which copies slow each other down"}},
         .run = list_shared_copies},
    };
}

} // namespace nvdebugctl
