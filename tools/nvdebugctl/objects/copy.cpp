// SPDX-License-Identifier: MIT OR GPL-2.0
#include "copy.hpp"

#include <algorithm>
#include <set>

#include "cli/context.hpp"
#include "cli/json.hpp"
#include "nvdebug/answers.hpp"
#include "objects.hpp"

namespace nvdebugctl {

namespace {

bool has_graphics(std::span<const nvdebug::Engine> engines, std::uint32_t runlist) {
    return std::ranges::any_of(engines, [&](const nvdebug::Engine &engine) {
        return engine.type == "GR" && engine.runlist == runlist;
    });
}

WiredRunlist &runlist_of(CopyWiring &wiring, const nvdebug::LogicalCopyEngine &lce,
                         std::span<const nvdebug::Engine> engines) {
    for (WiredRunlist &runlist : wiring.runlists)
        if (runlist.id == lce.runlist)
            return runlist;
    WiredRunlist &added = wiring.runlists.emplace_back();
    added.id = lce.runlist;
    for (const nvdebug::Engine &engine : engines)
        if (lce.runlist && engine.runlist == lce.runlist && engine.type != "LCE")
            added.other_engines.push_back(engine.name);
    return added;
}

WiredLce wired(const nvdebug::CopyTopology &copy, const nvdebug::LogicalCopyEngine &lce,
               std::span<const nvdebug::Engine> engines) {
    WiredLce result{lce.name, "", bits_of(lce.pces), {}, lce.shares};
    if (lce.runlist && has_graphics(engines, *lce.runlist))
        result.graphics_name = "GR" + lce.name.substr(1);
    if (lce.shares)
        result.borrowed = bits_of(nvdebug::pces_of(copy, lce) & ~lce.pces);
    return result;
}

} // namespace

std::vector<std::uint32_t> bits_of(std::uint32_t mask) {
    std::vector<std::uint32_t> bits;
    for (std::uint32_t bit = 0; bit < 32; ++bit)
        if (mask >> bit & 1)
            bits.push_back(bit);
    return bits;
}

CopyWiring make_wiring(const nvdebug::CopyTopology &copy,
                       std::span<const nvdebug::Engine> engines) {
    CopyWiring wiring;
    std::uint32_t used = 0;
    for (const nvdebug::LogicalCopyEngine &lce : copy.lces) {
        runlist_of(wiring, lce, engines).lces.push_back(wired(copy, lce, engines));
        used |= nvdebug::pces_of(copy, lce);
    }
    for (std::uint32_t pce : bits_of(used)) {
        WiredPce &added = wiring.pces.emplace_back(WiredPce{pce, {}});
        for (const nvdebug::CopyContention &contention : nvdebug::copy_contention(copy))
            if (contention.pces >> pce & 1)
                added.contenders = contention.lces;
    }
    wiring.unused = bits_of(copy.pce_map & ~used);
    return wiring;
}

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

Outcome<Document> show(Context &context) {
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

Outcome<Document> shared(Context &context) {
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
         .run = show},
        {.object = "copy",
         .verb = "shared",
         .help = "copy engines that contend for PCEs (rule R8)",
         .columns = {{"pces", "numbers of the PCEs that are contended for", "[uint]"},
                     {"lces", "LCEs whose copies run on them", "[string]"}},
         .data = "groups of LCEs that contend",
         .examples = {{"nvdebugctl copy shared", "which copies slow each other down"}},
         .run = shared},
    };
}

} // namespace nvdebugctl
