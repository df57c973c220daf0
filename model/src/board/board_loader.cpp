// SPDX-License-Identifier: MIT OR GPL-2.0
#include "base/json_reader.hpp"
#include "board/board.hpp"
#include "board/provenance.hpp"
#include "regs/pmc.hpp"
#include "regs/ptop.hpp"
#include "regs/runlist.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

namespace nvmodel {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr unsigned max_pbdmas = 64;
constexpr unsigned max_dies = 2;
constexpr unsigned max_engines = 64;
constexpr unsigned max_runlists = 64;

/// Opens a section with its data as keys.
JsonObject open_section(JsonObject &board, std::string_view name) {
    JsonObject section(board.at(name));
    std::vector<std::string> keys = section.keys();
    std::erase(keys, "facts");
    check_facts(section, keys);
    return section;
}

/// Opens a section with its data as rows: {"facts": […], "rows": [{…}, …]}.
std::vector<JsonObject> open_rows(JsonObject &board, std::string_view name, std::size_t max) {
    JsonObject section(board.at(name));
    std::vector<JsonObject> rows;
    std::set<std::string> keys;
    for (const JsonValue &item : section.at("rows").items(max)) {
        rows.emplace_back(item);
        const auto row_keys = rows.back().keys();
        keys.insert(row_keys.begin(), row_keys.end());
    }
    check_facts(section, {keys.begin(), keys.end()});
    section.finish();
    return rows;
}

const Generation *read_generation(const JsonValue &value) {
    const Generation *found = find_generation(value.text());
    if (found == nullptr) {
        std::string known;
        for (const Generation &generation : generations())
            known += (known.empty() ? "" : ", ") + std::string(generation.name);
        value.fail("unknown generation; known: " + known);
    }
    return found;
}

void read_chip(JsonObject &file, Board &board) {
    JsonObject chip = open_section(file, "chip");
    board.chip.name = chip.at("name").text();
    board.generation = read_generation(chip.at("generation"));
    board.chip.boot_0 = chip.at("boot_0").number32(0, 0xffffffff);
    board.chip.boot_1 = chip.at("boot_1").number32(0, 0xffffffff);
    const JsonValue boot_42 = chip.at("boot_42");
    board.chip.boot_42 = boot_42.number32(0, 0xffffffff);
    if (board.chip.boot_42 != 0 &&
        regs::pmc::boot_0_chip_id.get(board.chip.boot_0) != Field{29, 20}.get(board.chip.boot_42))
        boot_42.fail("names another chip than boot_0");
    chip.finish();
}

void read_pci(JsonObject &file, Board &board) {
    JsonObject pci = open_section(file, "pci");
    const auto id = [&pci](std::string_view key) {
        return static_cast<std::uint16_t>(pci.at(key).number(0, 0xffff));
    };
    board.pci.vendor = id("vendor");
    board.pci.device = id("device");
    board.pci.subsystem_vendor = id("subsystem_vendor");
    board.pci.subsystem = id("subsystem");
    board.pci.class_code = pci.at("class").number32(0, 0xffffff);
    board.pci.revision = static_cast<std::uint8_t>(pci.at("revision").number(0, 0xff));
    pci.finish();
}

std::uint64_t read_power_of_two(const JsonValue &value, std::uint64_t min, std::uint64_t max) {
    const std::uint64_t size = value.number(min, max);
    if (!std::has_single_bit(size))
        value.fail("not a power of two");
    return size;
}

/// Reads the bus. A GPU with memory of its own is a PCI function, a GPU without is part of an SoC.
void read_bus(JsonObject &file, Board &board) {
    const auto value = file.find("bus");
    const std::string bus = value ? value->text() : "pci";
    if (bus != "pci" && bus != "platform")
        value->fail("neither \"pci\" nor \"platform\"");
    board.bus = bus == "platform" ? BusKind::platform : BusKind::pci;
    if ((board.bus == BusKind::pci) != board.generation->has_video_memory())
        (value ? *value : file.value()).fail("this generation is not on bus \"" + bus + "\"");
}

/// Reads sizes in MiB. Modelled BARs have 32 bits, and several GPUs share the space below 4 GiB.
void read_memory(JsonObject &file, Board &board) {
    JsonObject memory = open_section(file, "memory");
    board.bar0.real = read_power_of_two(memory.at("bar0_mib"), 16, 256) * mib;
    board.bar1.real = read_power_of_two(memory.at("bar1_mib"), 1, 1 << 20) * mib;
    board.bar0.modelled = read_power_of_two(memory.at("bar0_modelled_mib"), 16, 16) * mib;
    board.bar1.modelled = read_power_of_two(memory.at("bar1_modelled_mib"), 1, 64) * mib;
    if (board.generation->has_video_memory()) {
        board.video_bytes = memory.at("video_mib").number(128, 1 << 20) * mib;
        board.bar2.real = read_power_of_two(memory.at("bar2_mib"), 1, 256) * mib;
        board.bar2.modelled = read_power_of_two(memory.at("bar2_modelled_mib"), 1, 32) * mib;
    }
    memory.finish();
}

void read_host(JsonObject &file, Board &board) {
    JsonObject host = open_section(file, "host");
    const JsonValue channels = host.at("channels");
    board.channels = channels.number32(1, 4096);
    if (board.ids_per_runlist() && !std::has_single_bit(board.channels))
        channels.fail("must be a power of two where channel ids are per runlist");
    board.default_timeslice.timeout = host.at("timeslice_timeout").number32(0, 255);
    board.default_timeslice.scale = host.at("timeslice_scale").number32(0, 15);
    const auto time = [&host](std::string_view key) {
        return static_cast<Ns>(host.at(key).real(0.001, 10000) * static_cast<double>(ns_per_us));
    };
    board.timing.list_fetch = time("list_fetch_us");
    board.timing.context_switch = time("context_switch_us");
    board.timing.channel_switch = time("channel_switch_us");
    host.finish();
}

void read_ptop(JsonObject &file, Board &board) {
    if (board.generation->ptop == PtopVersion::v1)
        return;
    JsonObject ptop = open_section(file, "ptop");
    if (const auto version = ptop.find("version"))
        board.ptop_version = version->number32(2, 3);
    board.ptop_max_devices = ptop.at("max_devices").number32(1, 0xfff);
    board.ptop_rows = ptop.at("rows").number32(1, 512);
    ptop.finish();
}

std::optional<unsigned> optional_number(JsonObject &row, std::string_view key, unsigned max) {
    const auto value = row.find(key);
    return value ? std::optional(value->number32(0, max)) : std::nullopt;
}

void read_runlists(JsonObject &file, Board &board) {
    const unsigned max_id = board.generation->ptop == PtopVersion::v1 ? 15 : 126;
    for (JsonObject &row : open_rows(file, "runlists", max_runlists)) {
        RunlistRow runlist;
        const JsonValue id = row.at("id");
        runlist.id = id.number32(0, max_id);
        if (board.find_runlist(runlist.id) != nullptr)
            id.fail("listed twice");
        const JsonValue pbdmas = row.at("pbdmas");
        for (const JsonValue &pbdma : pbdmas.items(regs::runlist::pbdma_config_count))
            runlist.pbdmas.push_back(pbdma.number32(0, max_pbdmas - 1));
        if (runlist.pbdmas.empty())
            pbdmas.fail("a runlist needs a PBDMA");
        if (board.generation->submit == SubmitScheme::block) {
            const JsonValue base = row.at("base");
            runlist.base = base.number32(0x1000, 0x03fffc00);
            if (runlist.base % 0x400 != 0)
                base.fail("must be a multiple of 0x400");
            const JsonValue chram = row.at("chram");
            runlist.chram = chram.number32(0x1000, 0xfffffff0);
            if (runlist.chram % 0x10 != 0)
                chram.fail("must be a multiple of 0x10");
            runlist.fb_config = optional_number(row, "fb_config", 0xffffffff).value_or(0);
        }
        row.finish();
        board.runlists.push_back(std::move(runlist));
    }
}

/// Reads the facts that every device table except for Kepler's has.
void read_engine_data(JsonObject &row, const Board &board, EngineRow &engine) {
    const bool v1 = board.generation->ptop == PtopVersion::v1;
    const bool maxwell = v1 && board.generation->ptop_data == PtopData::no_instance;
    engine.fault_id = optional_number(row, "fault_id", maxwell ? 31 : v1 ? 127 : 0x7ff);
    const JsonValue pri_base = row.at("pri_base");
    engine.pri_base = pri_base.number32(0, maxwell ? 0x007ff000 : v1 ? 0x00fff000 : 0x03ffff00);
    if (engine.pri_base % (v1 ? 0x1000 : 0x100) != 0)
        pri_base.fail("not aligned");
}

EngineRow read_engine(JsonObject &row, const Board &board) {
    const bool v1 = board.generation->ptop == PtopVersion::v1;
    EngineRow engine;
    engine.gap_before = optional_number(row, "gap_before", 16).value_or(0);
    if (!v1)
        engine.die = optional_number(row, "die", max_dies - 1).value_or(0);
    const JsonValue name = row.at("engine");
    const auto parsed = parse_engine_name(name.text());
    if (!parsed)
        name.fail("not an engine's name; for example GR0, LCE2, NVDEC0, SEC0");
    engine.name = *parsed;
    if (board.find_engine(engine.name) != nullptr)
        name.fail("listed twice");
    const bool physical = board.generation->copy == CopyWiring::physical;
    if (engine.name.type == (physical ? EngineType::lce : EngineType::copy))
        name.fail(physical ? "copy engines are physical in this generation: COPY0 to COPY2"
                           : "copy engines are logical in this generation: LCE0 and so on");
    engine.intr = optional_number(row, "intr", 31);
    engine.reset = optional_number(row, "reset", v1 ? 31 : 255);
    if (!v1 || board.generation->ptop_data != PtopData::none)
        read_engine_data(row, board, engine);
    if (const auto runlist = row.find("runlist")) {
        engine.runlist = runlist->number32(0, 126);
        if (board.find_runlist(*engine.runlist) == nullptr)
            runlist->fail("no such runlist in \"runlists\"");
        engine.engine_id = row.at("engine_id").number32(0, v1 ? 15 : max_engines - 1);
        for (const EngineRow &other : board.engines) {
            if (other.engine_id == engine.engine_id)
                row.value().fail("engine_id is that of " + to_string(other.name));
            if (other.runlist == engine.runlist)
                engine.slot += 1;
        }
        if (engine.slot >= board.generation->engine_slots())
            runlist->fail("has more engines than its registers have slots");
    }
    row.finish();
    return engine;
}

void read_engines(JsonObject &file, Board &board) {
    const unsigned words_per_engine =
        board.generation->ptop == PtopVersion::v1 && board.generation->ptop_data == PtopData::none
            ? 2
            : 3;
    unsigned words = 0;
    for (JsonObject &row : open_rows(file, "engines", max_engines)) {
        board.engines.push_back(read_engine(row, board));
        const EngineRow &engine = board.engines.back();
        const bool short_form = board.generation->ptop != PtopVersion::v1 && !engine.runlist;
        words += words_per_engine - (short_form ? 1 : 0) + engine.gap_before;
    }
    const unsigned room =
        board.generation->ptop == PtopVersion::v1 ? regs::ptop::v1::words : board.ptop_rows;
    if (words > room)
        file.value().fail("the engines do not fit into PTOP's " + std::to_string(room) + " words");
    if (board.find_engine({EngineType::gr, 0}) == nullptr)
        file.value().fail("there is no engine GR0");
}

void read_copy(JsonObject &file, Board &board) {
    if (board.generation->copy == CopyWiring::physical)
        return;
    JsonObject copy = open_section(file, "copy");
    // The registers limit the numbers of PCEs and LCEs; those of a second die are limited by the
    // model.
    const bool pascal = board.generation->copy == CopyWiring::pascal;
    const unsigned max_pces = pascal ? 8 : 24;
    const unsigned max_lce = pascal ? 6 : 14;
    constexpr unsigned max_lce_second_die = 31;
    board.copy.pce_map = copy.at("pce_map").number32(0, (1U << max_pces) - 1);
    const auto lce = [&](const JsonValue &value, unsigned max) -> std::optional<unsigned> {
        if (value.is_null())
            return std::nullopt;
        const unsigned number = value.number32(0, max);
        if (board.find_engine({EngineType::lce, number}) == nullptr)
            value.fail("there is no engine LCE" + std::to_string(number));
        return number;
    };
    for (const JsonValue &item : copy.at("pce_lce").items(max_pces))
        board.copy.pce_lce.push_back(lce(item, max_lce));
    if (const auto second = copy.find("second_die"))
        for (const JsonValue &item : second->items(max_pces))
            board.copy.second_die.push_back(lce(item, max_lce_second_die));
    for (const JsonValue &item : copy.at("grce_shares").items(4)) {
        const auto shared = lce(item, max_lce);
        board.copy.grces.push_back({shared.has_value(), shared});
    }
    copy.finish();
}

/// Reads a driver's order of the GPCs, if it is known.
void read_gpc_order(JsonObject &geometry, Geometry &to) {
    const auto order = geometry.find("gpc_order");
    if (!order)
        return;
    const std::vector<unsigned> live = to.live_gpcs();
    for (const JsonValue &item : order->items(live.size()))
        to.gpc_order.push_back(item.number32(0, to.num_gpcs - 1));
    std::vector<unsigned> sorted = to.gpc_order;
    std::ranges::sort(sorted);
    if (sorted != live)
        order->fail("must name each GPC that is on once");
    for (const JsonValue &item : geometry.at("gpc_half").items(to.num_gpcs))
        to.gpc_half.push_back(item.number32(0, 1));
    if (to.gpc_half.size() != to.num_gpcs)
        geometry.at("gpc_half").fail("needs a number for each GPC");
}

/// Reads a driver's order of the TPCs, if it is known: [logical GPC, TPC] for each id.
void read_tpc_order(JsonObject &geometry, Geometry &to) {
    const auto order = geometry.find("tpc_order");
    if (!order)
        return;
    const std::vector<unsigned> live = to.live_tpcs();
    std::set<std::pair<unsigned, unsigned>> seen;
    for (const JsonValue &item : order->items(to.num_gpcs * to.num_tpc_per_gpc)) {
        const std::vector<JsonValue> pair = item.items(2);
        if (pair.size() != 2)
            item.fail("must be a GPC and a TPC");
        const unsigned gpc = pair[0].number32(0, static_cast<unsigned>(live.size()) - 1);
        const unsigned tpc = pair[1].number32(0, live[gpc] - 1);
        if (!seen.emplace(gpc, tpc).second)
            item.fail("is there twice");
        to.tpc_order.push_back({gpc, tpc});
    }
    if (seen.size() != std::accumulate(live.begin(), live.end(), std::size_t{0}))
        order->fail("must name each TPC that is on once");
}

void read_geometry(JsonObject &file, Board &board) {
    JsonObject geometry = open_section(file, "geometry");
    Geometry &to = board.geometry;
    to.num_gpcs = geometry.at("num_gpcs").number32(1, 31);
    to.num_tpc_per_gpc = geometry.at("num_tpc_per_gpc").number32(1, 31);
    to.num_ces = geometry.at("num_ces").number32(0, 31);
    to.num_fbps = geometry.at("num_fbps").number32(1, 31);
    if (board.generation->ltc_count)
        to.num_ltcs = geometry.at("num_ltcs").number32(1, 31);
    to.gpc_disabled = geometry.at("gpc_disabled").number32(0, (1U << to.num_gpcs) - 1);
    const JsonValue tpcs = geometry.at("tpc_disabled");
    for (const JsonValue &mask : tpcs.items(to.num_gpcs))
        to.tpc_disabled.push_back(mask.number32(0, 0xffffffff));
    if (to.tpc_disabled.size() != to.num_gpcs)
        tpcs.fail("needs one mask for each of the " + std::to_string(to.num_gpcs) + " GPCs");
    read_gpc_order(geometry, to);
    read_tpc_order(geometry, to);
    geometry.finish();
}

} // namespace

Board load_board(const std::filesystem::path &path) {
    JsonObject file(JsonValue::load(path));
    static_cast<void>(file.at("SPDX-License-Identifier").text());
    static_cast<void>(file.at("format").number(1, 1));
    Board board;
    board.name = file.at("name").text();
    board.title = file.at("title").text();
    read_chip(file, board);
    read_bus(file, board);
    read_pci(file, board);
    read_memory(file, board);
    read_host(file, board);
    read_ptop(file, board);
    read_runlists(file, board);
    read_engines(file, board);
    read_copy(file, board);
    read_geometry(file, board);
    file.finish();
    return board;
}

} // namespace nvmodel
