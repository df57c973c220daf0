// SPDX-License-Identifier: MIT OR GPL-2.0
#include <bit>
#include <fmt/format.h>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "objects.hpp"
#include "state/state.hpp"

namespace nvdebugctl {

namespace {

Json gpc_row(const nvdebug::Gpc &gpc, const std::optional<std::uint32_t> &designed) {
    Json on;
    if (gpc.off)
        on = 0;
    else if (gpc.tpc_off_mask && designed)
        if (const auto off = static_cast<std::uint32_t>(std::popcount(*gpc.tpc_off_mask));
            off <= *designed)
            on = *designed - off;
    return {{"gpc", gpc.gpc},
            {"off", gpc.off},
            {"tpc_off_mask", hex(gpc.tpc_off_mask)},
            {"tpcs_on", on}};
}

Json sm_rows(const std::optional<std::vector<nvdebug::Sm>> &sms) {
    if (!sms)
        return nullptr;
    Json rows = Json::array();
    for (const nvdebug::Sm &sm : *sms)
        rows.push_back({{"sm", sm.sm}, {"gpc", sm.gpc}, {"tpc", sm.tpc}});
    return rows;
}

Json words(const std::vector<std::uint32_t> &values) {
    Json list = Json::array();
    for (const std::uint32_t value : values)
        list.push_back(hex(value, digits_of_word));
    return list;
}

Json distributor(const std::optional<nvdebug::WorkDistributor> &work) {
    if (!work)
        return nullptr;
    return {{"gpcs", work->gpcs},
            {"tpcs", work->tpcs},
            {"partitioning", or_null(work->partitioning)},
            {"table", or_null(work->table)},
            {"veid_offset", or_null(work->veid_offset)},
            {"table_offset", or_null(work->table_offset)},
            {"gpc_tpc_id", words(work->gpc_tpc_id)},
            {"sm_id", words(work->sm_id)}};
}

Outcome<Document> show_topology(Context &context) {
    const auto topology = context.gpu().gpc_topology();
    if (!topology)
        return tl::unexpected(Failure(topology.error()));
    for (const nvdebug::Error &error : topology->unread)
        context.missing(error);
    const auto work =
        read_part(context, "the compute work distributor", context.gpu().work_distributor());
    Json gpcs = Json::array();
    for (const nvdebug::Gpc &gpc : topology->gpcs)
        gpcs.push_back(gpc_row(gpc, topology->num_tpc_per_gpc));
    return Document{{{"designed_gpcs", or_null(topology->num_gpcs)},
                     {"designed_tpcs_per_gpc", or_null(topology->num_tpc_per_gpc)},
                     {"designed_copy_engines", or_null(topology->num_ces)},
                     {"designed_fbps", or_null(topology->num_fbps)},
                     {"designed_ltcs", or_null(topology->num_ltcs)},
                     {"gpc_off_mask", hex(topology->gpc_off_mask)},
                     {"gpcs", std::move(gpcs)},
                     {"sms", sm_rows(topology->sms)},
                     {"sms_note", or_null(topology->sms_note)},
                     {"work_distributor", distributor(work)}}};
}

void print_gpc(const Json &gpc, const Json &designed, Page &page) {
    const std::string name = fmt::format("gpc {}:", page.bold(gpc["gpc"].dump()));
    if (gpc["off"].get<bool>())
        page.line(name + " off");
    else if (gpc["tpc_off_mask"].is_null())
        page.line(name + " which of its TPCs are on is not known");
    else
        page.line(fmt::format("{} {} of {} TPCs on, off: {}", name, shown("", gpc["tpcs_on"]),
                              shown("", designed), shown("", gpc["tpc_off_mask"])));
}

void print_topology(const Json &data, Page &page) {
    Json head;
    for (const auto &[key, value] : data.items())
        if (!value.is_array() && key != "work_distributor" && key != "sms" && key != "sms_note")
            head[key] = value;
    print_fields(head, page);
    for (const Json &gpc : data["gpcs"])
        print_gpc(gpc, data["designed_tpcs_per_gpc"], page);
    const std::string sms = page.bold("sms") + ": ";
    if (data["sms"].is_array())
        page.line(fmt::format("{}{} on", sms, data["sms"].size()));
    else
        page.line(fmt::format("{}not known ({})", sms, shown("", data["sms_note"])));
    print_fields({{"work_distributor", data["work_distributor"]}}, page);
}

} // namespace

std::vector<Command> topology_commands() {
    return {
        {.object = "topology",
         .verb = "show",
         .help = "GPCs, TPCs, SMs, copy engines, FBPs; what is off; the work distributor",
         .fields =
             {{"designed_gpcs", "number of GPCs, as designed, before anything was switched off",
               "uint?"},
              {"designed_tpcs_per_gpc",
               "TPCs of each GPC, as designed, before anything was switched off", "uint?"},
              {"designed_copy_engines",
               "number of copy engines, as designed, before anything was switched off", "uint?"},
              {"designed_fbps",
               "number of frame buffer partitions, as designed, before anything was switched off",
               "uint?"},
              {"designed_ltcs",
               "number of level 2 cache slices, as designed, before anything was switched off",
               "uint?"},
              {"gpc_off_mask", "bit n: GPC n is off", "address"},
              {"gpcs",
               "GPCs by physical number",
               "[object]",
               {{"gpc", "physical number", "uint"},
                {"off", "fused off or floor-swept", "bool"},
                {"tpc_off_mask", "bit n: TPC n is off; null: cannot be read", "address"},
                {"tpcs_on", "how many of its TPCs are on", "uint?"}}},
              {"sms",
               "SMs by rising id; null: no public register",
               "[object]?",
               {{"sm", "SM id", "uint"},
                {"gpc", "logical GPC", "uint"},
                {"tpc", "TPC in it", "uint"}}},
              {"sms_note", "why sms is null", "string?"},
              {"work_distributor",
               "the compute work distributor; null: may not be read, or not public here",
               "object?",
               {{"gpcs", "GPCs that it knows", "uint"},
                {"tpcs", "TPCs that it knows", "uint"},
                {"partitioning",
                 "'none', 'static', 'dynamic' (MPS) or 'undefined'; null: before Volta", "string?"},
                {"table", "'none', 'enable', 'lmem' or 'undefined'; null: before Volta", "string?"},
                {"veid_offset", "offset of VEIDs", "uint?"},
                {"table_offset", "offset in the table", "uint?"},
                {"gpc_tpc_id", "raw words", "[hex]"},
                {"sm_id", "raw words", "[hex]"}}}},
         .notes = {"JSON has each SM with its GPC and TPC. A set bit of a mask means off."},
         .examples = {{"nvdebugctl topology show", "what this GPU was built with, and what of "
                                                   "it is on"}},
         .run = show_topology,
         .text = print_topology}};
}

} // namespace nvdebugctl
