// SPDX-License-Identifier: MIT OR GPL-2.0
#include "board/board.hpp"

#include "regs/ramrl.hpp"

#include <algorithm>
#include <bit>

namespace nvmodel {

Ns Timeslice::duration() const {
    const Ns units = timeout == 0 ? 1 : Ns{timeout} << scale;
    return units * regs::ramrl::timeslice_unit_ns;
}

void Board::show_real_bars() {
    if (bus == BusKind::platform)
        return;
    for (BarSize *const bar : {&bar0, &bar1, &bar2})
        bar->modelled = bar->real;
    bar_form = BarForm::product;
}

const RunlistRow *Board::find_runlist(unsigned id) const {
    const auto found = std::ranges::find(runlists, id, &RunlistRow::id);
    return found == runlists.end() ? nullptr : &*found;
}

const EngineRow *Board::find_engine(EngineName engine) const {
    const auto found = std::ranges::find(engines, engine, &EngineRow::name);
    return found == engines.end() ? nullptr : &*found;
}

bool Board::on_graphics_runlist(const EngineRow &engine) const {
    return engine.runlist && std::ranges::any_of(engines, [&](const EngineRow &row) {
               return row.name.type == EngineType::gr && row.runlist == engine.runlist;
           });
}

const EngineRow *Board::last_copy_engine() const {
    const EngineRow *last = nullptr;
    for (const EngineRow &row : engines)
        if (row.name.type == EngineType::lce)
            last = &row;
    return last;
}

const EngineRow *Board::engine_meant(EngineName asked) const {
    constexpr unsigned grces = 2; // by convention LCE0 and LCE1
    if (generation->copy != CopyWiring::physical || asked.type != EngineType::lce) {
        const EngineRow *const found = find_engine(asked);
        return found == nullptr && asked.type == EngineType::lce && bus == BusKind::platform
                   ? last_copy_engine()
                   : found;
    }
    const bool graphics = asked.instance < grces;
    const unsigned skip = graphics ? asked.instance : asked.instance - grces;
    std::vector<const EngineRow *> copies;
    for (const EngineRow &row : engines)
        if (row.name.type == EngineType::copy && on_graphics_runlist(row) == graphics)
            copies.push_back(&row);
    return skip < copies.size() ? copies[skip] : nullptr;
}

std::vector<unsigned> Geometry::live_gpcs() const {
    if (!gpc_order.empty())
        return gpc_order;
    std::vector<unsigned> physical;
    for (unsigned gpc = 0; gpc < num_gpcs; ++gpc)
        if ((gpc_disabled >> gpc & 1) == 0)
            physical.push_back(gpc);
    return physical;
}

std::vector<unsigned> Geometry::live_tpcs() const {
    std::vector<unsigned> counts;
    const std::uint32_t design = (1U << num_tpc_per_gpc) - 1;
    for (const unsigned gpc : live_gpcs())
        counts.push_back(static_cast<unsigned>(std::popcount(design & ~tpc_disabled[gpc])));
    return counts;
}

unsigned Board::engine_slots() const {
    unsigned slots = 0;
    for (const EngineRow &row : engines)
        if (row.engine_id)
            slots = std::max(slots, *row.engine_id + 1);
    return slots;
}

unsigned Board::dies() const {
    unsigned count = 1;
    for (const EngineRow &row : engines)
        count = std::max(count, row.die + 1);
    return count;
}

unsigned Board::pbdma_count() const {
    unsigned count = 0;
    for (const RunlistRow &row : runlists)
        for (const unsigned pbdma : row.pbdmas)
            count = std::max(count, pbdma + 1);
    return count;
}

} // namespace nvmodel
