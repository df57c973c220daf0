// SPDX-License-Identifier: MIT OR GPL-2.0
#include <fmt/format.h>
#include <set>

#include "cli/context.hpp"
#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "objects.hpp"

namespace nvdebugctl {

namespace {

using nvdebug::Translation;
using nvdebug::WalkStep;

bool is_page_directory(const std::string &space) {
    static const std::set<std::string> apertures = {"vid", "coh", "ncoh"};
    const std::size_t colon = space.find(':');
    return parse_integer(space.substr(0, colon)) &&
           (colon == std::string::npos || apertures.contains(space.substr(colon + 1)));
}

bool is_channel(const std::string &space) {
    const auto target = nvdebug::parse_target(space);
    return target && target->runlist;
}

Outcome<void> check(const Context &context) {
    const std::string &space = context.words("SPACE").front();
    const std::string &address = context.words("VA").front();
    if (!is_channel(space) && !is_page_directory(space))
        return usage(fmt::format("'{}' is no SPACE: write RUNLIST:CHANNEL or PDB[:APERTURE] "
                                 "(apertures are vid, coh and ncoh)",
                                 space));
    if (!parse_integer(address))
        return usage(
            fmt::format("'{}' is no virtual address: write a number, decimal or 0x…", address));
    for (const std::string &option : context.words("OPTION"))
        if ((option == "base") != is_channel(space))
            return usage(fmt::format("'{}' does not take {}: base is for RUNLIST:CHANNEL, the "
                                     "others are for PDB[:APERTURE]",
                                     space, option));
    return {};
}

Json step(const WalkStep &step) {
    return {{"level", step.level},
            {"index", step.index},
            {"entry", place(step.entry)},
            {"raw", step.raw},
            {"meaning", step.meaning}};
}

Outcome<Document> translate(Context &context) {
    std::string request = context.words("SPACE").front() + " " + context.words("VA").front();
    for (const std::string &option : context.words("OPTION"))
        request += " " + option;
    const auto walk = context.gpu().translate(request);
    if (!walk)
        return tl::unexpected(Failure(walk.error()));
    Json steps = Json::array();
    for (const WalkStep &entry : walk->steps)
        steps.push_back(step(entry));
    return Document{{{"virtual_address", hex(walk->virtual_address)},
                     {"page_directory", place(walk->page_directory)},
                     {"page_tables", walk->page_tables},
                     {"steps", std::move(steps)},
                     {"result", walk->result ? place(*walk->result) : Json()},
                     {"page_size_bytes", or_null(walk->page_size)},
                     {"flags", walk->flags},
                     {"error", or_null(walk->error)}},
                    std::nullopt,
                    walk->result ? done : refused};
}

std::string shown_place(const Json &place) {
    return shown("", place["address"]) + " " + shown("", place["aperture"]);
}

void print_memory(const Json &data, Page &page) {
    page.line(fmt::format("{} through {}, version {} page tables",
                          page.bold(data["virtual_address"].get<std::string>()),
                          shown_place(data["page_directory"]), data["page_tables"].dump()));
    for (const Json &step : data["steps"])
        page.line(fmt::format(
            "  {:<10}  {}  {}  {}",
            fmt::format("{}[{}]", step["level"].get<std::string>(), step["index"].dump()),
            shown_place(step["entry"]), step["raw"].get<std::string>(),
            step["meaning"].get<std::string>()));
    if (data["result"].is_null())
        page.line(page.warning("not mapped") + ": " + shown("", data["error"]));
    else
        page.line(fmt::format("{}  page {}  {}", page.bold(shown_place(data["result"])),
                              shown("page_size_bytes", data["page_size_bytes"]),
                              shown("flags", data["flags"])));
}

} // namespace

std::vector<Command> memory_commands() {
    return {
        {.object = "memory",
         .verb = "translate",
         .help = "where a GPU virtual address lies, with the walk of the page tables",
         .arguments =
             {{"SPACE", Argument::Kind::text,
               "RUNLIST:CHANNEL, or PDB[:APERTURE] (vid, coh or ncoh): the page directory"},
              {"VA", Argument::Kind::text, "the virtual address"},
              {"OPTION",
               Argument::Kind::choice,
               "of RUNLIST:CHANNEL: base; of PDB: v1 or v2, 64k or 128k",
               Argument::Count::any,
               {"base", "v1", "v2", "64k", "128k"}}},
         .fields = {{"virtual_address", "what was asked for", "hex"},
                    {"page_directory", "root of the page tables", "place"},
                    {"page_tables", "version of the page tables", "uint"},
                    {"steps",
                     "entries that were read",
                     "[object]",
                     {{"level", "level of the table: 'PD3' to 'PD0', 'PT64K', 'PT4K', ...",
                       "string"},
                      {"index", "entry of the table", "uint"},
                      {"entry", "where the entry is", "place"},
                      {"raw", "the entry", "hex"},
                      {"meaning", "what it says", "string"}}},
                    {"result", "where the address lies; null: not mapped", "place?"},
                    {"page_size_bytes", "size of the page, in bytes", "uint?"},
                    {"flags", "'read-only', 'volatile', 'kind=N', ...", "[string]"},
                    {"error", "where the walk ended and why; null: mapped", "string?"}},
         .notes =
             {"Live GPUs only: the kernel walks. 'base' takes the page directory of Host, copy "
              "and video engines in place of that of compute.",
              "Exit status 2 if the address is not mapped; the "
              "walk is printed all the same."},
         .examples = {{"nvdebugctl memory translate 0:5 0x7f0000000000",
                       "through the page tables of channel 5 of runlist 0"},
                      {"nvdebugctl memory translate 0x200100000:vid 0x1000",
                       "through the page directory at that address of video memory"}},
         .check = check,
         .run = translate,
         .text = print_memory},
    };
}

} // namespace nvdebugctl
