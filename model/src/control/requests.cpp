// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control/requests.hpp"

#include "base/error.hpp"
#include "base/parse.hpp"
#include "control/layout.hpp"
#include "mmu/translate.hpp"
#include "workload/workload.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace nvmodel {
namespace {

using Json = nlohmann::ordered_json;
using Arguments = std::span<const std::string>;

/// The longest time that one request may let pass: ten minutes of GPU time take seconds to compute.
constexpr double max_advance_us = 600e6;

struct Context {
    Gpu &gpu;
    const Catalog &catalog;
};

void expect(Arguments arguments, std::size_t count) {
    if (arguments.size() != count)
        throw ConfigError("expected " + std::to_string(count) + " arguments, got " +
                          std::to_string(arguments.size()));
}

Json start(Context context, Arguments arguments) {
    expect(arguments, 0);
    context.gpu.start();
    return Json::object();
}

Json restart(Context context, Arguments arguments) {
    if (arguments.empty()) {
        context.gpu.restart(nullptr);
        return Json::object();
    }
    expect(arguments, 1);
    const Workload workload = load_workload(context.catalog.workload(arguments[0]));
    context.gpu.restart(&workload);
    return Json::object();
}

Json sleep(Context context, Arguments arguments) {
    expect(arguments, 0);
    context.gpu.set_asleep(true);
    return Json::object();
}

Json wake(Context context, Arguments arguments) {
    expect(arguments, 0);
    context.gpu.set_asleep(false);
    return Json::object();
}

Json advance(Context context, Arguments arguments) {
    expect(arguments, 1);
    const auto us = parse_decimal(arguments[0]);
    if (!us || *us > max_advance_us)
        throw ConfigError("\"" + arguments[0] + "\" is not a time of 0 to " +
                          std::to_string(static_cast<long>(max_advance_us)) + " microseconds");
    context.gpu.advance(static_cast<Ns>(std::llround(*us * static_cast<double>(ns_per_us))));
    return {{"now_us", to_us(context.gpu.now())}};
}

Json progress(Context context, Arguments arguments) {
    expect(arguments, 0);
    Json channels = Json::array();
    for (const ChannelProgress &each : context.gpu.progress())
        channels.push_back({{"runlist", each.runlist},
                            {"tsg", each.tsg ? Json(*each.tsg) : Json(nullptr)},
                            {"channel", each.channel},
                            {"task", each.task},
                            {"engine", each.engine},
                            {"enabled", each.enabled},
                            {"progress_us", each.progress_us},
                            {"state", each.state}});
    return {{"now_us", to_us(context.gpu.now())}, {"channels", std::move(channels)}};
}

unsigned runlist_argument(Arguments arguments) {
    expect(arguments, 1);
    const auto runlist = parse_number(arguments[0]);
    if (!runlist || *runlist > 126)
        throw ConfigError("\"" + arguments[0] + "\" is not a runlist id");
    return static_cast<unsigned>(*runlist);
}

Json submit(Context context, Arguments arguments) {
    context.gpu.resubmit(runlist_argument(arguments));
    return Json::object();
}

Json rotate(Context context, Arguments arguments) {
    return {{"version", context.gpu.rotate(runlist_argument(arguments))}};
}

/// Lists every block of BAR0, whether it was accessed or not.
Json stats_of_bar(const Statistics &statistics, Bar bar) {
    Statistics::Counts total;
    Json blocks = Json::object();
    const auto add = [&](std::string_view name, const Statistics::Counts &counts) {
        total.reads += counts.reads;
        total.read_bytes += counts.read_bytes;
        total.writes += counts.writes;
        total.write_bytes += counts.write_bytes;
        blocks[std::string(name)] = {{"reads", counts.reads},
                                     {"read_bytes", counts.read_bytes},
                                     {"writes", counts.writes},
                                     {"write_bytes", counts.write_bytes},
                                     {"reread_bytes", counts.reread_bytes},
                                     {"read_mib", counts.mebibytes.size()}};
    };
    const auto &all = statistics.blocks();
    const auto found = all.find(bar);
    if (bar == Bar::registers)
        for (unsigned i = 0; i < block_names; ++i)
            add(name_of(static_cast<BlockName>(i)), {});
    if (found != all.end())
        for (const auto &[name, counts] : found->second)
            add(name, counts);
    return {{"reads", total.reads},
            {"read_bytes", total.read_bytes},
            {"writes", total.writes},
            {"write_bytes", total.write_bytes},
            {"blocks", std::move(blocks)}};
}

Json stats(Context context, Arguments arguments) {
    Statistics &statistics = context.gpu.statistics();
    if (!arguments.empty()) {
        expect(arguments, 1);
        if (arguments[0] != "reset")
            throw ConfigError("expected \"stats\" or \"stats reset\"");
        statistics.reset();
        return Json::object();
    }
    Json bars = Json::object();
    for (const Bar bar : {Bar::registers, Bar::framebuffer, Bar::instance})
        bars[std::to_string(static_cast<unsigned>(bar))] = stats_of_bar(statistics, bar);
    return {{"bars", std::move(bars)}};
}

Json violations(Context context, Arguments arguments) {
    Violations &violations = context.gpu.violations();
    if (!arguments.empty()) {
        expect(arguments, 1);
        if (arguments[0] != "reset")
            throw ConfigError("expected \"violations\" or \"violations reset\"");
        violations.reset();
        return Json::object();
    }
    Json list = Json::array();
    for (const Violations::Record &record : violations.records())
        list.push_back({{"bar", static_cast<unsigned>(record.access.bar)},
                        {"offset", hex(record.access.offset)},
                        {"access", record.access.write ? "write" : "read"},
                        {"size", record.access.size},
                        {"why", name_of(record.why)},
                        {"count", record.count}});
    return {{"violations", std::move(list)}, {"not_listed", violations.overflow()}};
}

Json fault(Context context, Arguments arguments) {
    Faults &faults = context.gpu.faults();
    const std::uint64_t hits = faults.hits();
    const std::uint64_t accesses = faults.accesses();
    faults.add(arguments);
    return {{"hits", hits}, {"accesses", accesses}};
}

/// mode [NAME 0|1]: answers the modes that the board has.
Json mode(Context context, Arguments arguments) {
    if (!arguments.empty()) {
        expect(arguments, 2);
        const auto on = parse_number(arguments[1]);
        if (!on || *on > 1)
            throw ConfigError("\"" + arguments[1] + "\" is neither 0 nor 1");
        if (!context.gpu.set_mode(arguments[0], *on == 1))
            throw ConfigError("this board has no mode \"" + arguments[0] + "\"");
    }
    Json all = Json::object();
    for (const auto &[name, on] : context.gpu.modes())
        all[std::string(name)] = on;
    return {{"modes", std::move(all)}};
}

Json layout(Context context, Arguments arguments) {
    expect(arguments, 0);
    return layout_of(context.gpu);
}

std::uint64_t address_argument(const std::string &text) {
    const auto value = parse_number(text);
    if (!value)
        throw ConfigError("\"" + text + "\" is not an address");
    return *value;
}

template <typename Value, std::size_t N>
Value choose(const std::string &text,
             const std::array<std::pair<std::string_view, Value>, N> &all) {
    for (const auto &[name, value] : all)
        if (text == name)
            return value;
    throw ConfigError("\"" + text + "\" is not one of the choices (see docs/model.md)");
}

constexpr std::array apertures{std::pair(name_of(Aperture::video), Aperture::video),
                               std::pair(name_of(Aperture::coherent), Aperture::coherent),
                               std::pair(name_of(Aperture::noncoherent), Aperture::noncoherent)};

/// Parses APERTURE ADDRESS.
PhysicalAddress place_argument(Arguments arguments) {
    const PhysicalAddress at{choose(arguments[0], apertures), address_argument(arguments[1])};
    if (at.address % 4 != 0)
        throw ConfigError(arguments[1] + " is not a multiple of 4");
    return at;
}

/// peek APERTURE ADDRESS COUNT
Json peek(Context context, Arguments arguments) {
    constexpr std::uint64_t max_words = 1024;
    expect(arguments, 3);
    const PhysicalAddress at = place_argument(arguments);
    const auto count = parse_number(arguments[2]);
    if (!count || *count == 0 || *count > max_words)
        throw ConfigError("\"" + arguments[2] + "\" is not a count of words");
    std::vector<std::uint32_t> words(*count);
    if (!context.gpu.memory().read_words(at, words))
        throw ConfigError("there is no such memory");
    Json all = Json::array();
    for (const std::uint32_t word : words)
        all.push_back(hex(word));
    return {{"words", std::move(all)}};
}

/// poke APERTURE ADDRESS WORD...
Json poke(Context context, Arguments arguments) {
    if (arguments.size() < 3)
        expect(arguments, 3);
    const PhysicalAddress at = place_argument(arguments);
    std::vector<std::uint32_t> words;
    for (const std::string &text : arguments.subspan(2)) {
        const auto word = parse_number(text);
        if (!word || *word > UINT32_MAX)
            throw ConfigError("\"" + text + "\" is not a word of 32 bits");
        words.push_back(static_cast<std::uint32_t>(*word));
    }
    if (!context.gpu.memory().write_words(at, words))
        throw ConfigError("there is no such memory");
    return Json::object();
}

/// translate PDB APERTURE VERSION VA [128k]
Json translate(Context context, Arguments arguments) {
    constexpr std::array versions{std::pair(std::string_view("v1"), mmu::Version::v1),
                                  std::pair(std::string_view("v2"), mmu::Version::v2),
                                  std::pair(std::string_view("v3"), mmu::Version::v3)};
    constexpr std::array big_pages{std::pair(std::string_view("128k"), 128 * mmu::kib)};
    if (arguments.size() != 5)
        expect(arguments, 4);
    const PageTableTraits &traits = context.gpu.board().generation->page_tables;
    mmu::Format format{.version = choose(arguments[2], versions),
                       .big_page = 64 * mmu::kib,
                       .leaf_512m = traits.leaf_512m,
                       .leaf_256g = traits.leaf_256g};
    if (arguments.size() == 5)
        format.big_page = choose(arguments[4], big_pages);
    if (format.version == mmu::Version::v3 && arguments.size() == 5)
        throw ConfigError("version 3 has no pages of 128 KiB");
    const PhysicalAddress root{choose(arguments[1], apertures), address_argument(arguments[0])};
    const mmu::Walk walk =
        mmu::translate(context.gpu.memory(), format, root, address_argument(arguments[3]));
    if (!walk.page)
        return {{"mapped", false}, {"why", name_of(walk.why)}};
    return {{"mapped", true},
            {"address", hex(walk.page->at.address)},
            {"aperture", name_of(walk.page->at.aperture)},
            {"page_size", walk.page->page_size}};
}

Json corrupt(Context context, Arguments arguments) {
    constexpr unsigned default_flips = 8;
    constexpr std::uint64_t max_flips = 4096;
    if (arguments.size() == 1 && arguments[0] == "undo") {
        context.gpu.undo_corruption();
        return Json::object();
    }
    if (arguments.size() != 2)
        expect(arguments, 1);
    const auto seed = parse_number(arguments[0]);
    const auto count = arguments.size() == 2 ? parse_number(arguments[1]) : default_flips;
    if (!seed || !count || *count > max_flips)
        throw ConfigError("expected \"corrupt SEED [FLIPS]\" or \"corrupt undo\"; at most " +
                          std::to_string(max_flips) + " flips");
    Json flips = Json::array();
    for (const Corruption::Flip &flip : context.gpu.corrupt(*seed, static_cast<unsigned>(*count)))
        flips.push_back({{"what", flip.what},
                         {"address", hex(flip.at.address)},
                         {"aperture", name_of(flip.at.aperture)},
                         {"bit", flip.bit}});
    return {{"flips", std::move(flips)}};
}

Json info(Context context, Arguments arguments) {
    expect(arguments, 0);
    const Board &board = context.gpu.board();
    return {{"board", board.name},
            {"workload", context.gpu.plan().name},
            {"chip", board.chip.name},
            {"started", context.gpu.started()},
            {"asleep", context.gpu.asleep()}};
}

struct Request {
    std::string_view name;
    Json (*run)(Context, Arguments);
};

constexpr std::array<Request, 18> requests{{
    {"start", start},
    {"restart", restart},
    {"sleep", sleep},
    {"wake", wake},
    {"advance", advance},
    {"progress", progress},
    {"submit", submit},
    {"rotate", rotate},
    {"stats", stats},
    {"violations", violations},
    {"fault", fault},
    {"mode", mode},
    {"layout", layout},
    {"translate", translate},
    {"corrupt", corrupt},
    {"peek", peek},
    {"poke", poke},
    {"info", info},
}};

} // namespace

std::string Requests::answer(std::string_view line) {
    Json reply{{"ok", true}};
    try {
        const std::vector<std::string> words = split_words(line);
        const std::string name = words.empty() ? "" : words.front();
        const auto found = std::ranges::find(requests, name, &Request::name);
        if (found == requests.end())
            throw ConfigError("\"" + name + "\" is not a request (see docs/model.md)");
        reply.update(found->run({gpu_, catalog_}, Arguments(words).subspan(1)));
    } catch (const ConfigError &error) {
        reply = {{"ok", false}, {"error", error.what()}};
    }
    return reply.dump(-1, ' ', true, Json::error_handler_t::replace);
}

} // namespace nvmodel
