// SPDX-License-Identifier: MIT OR GPL-2.0
#include "board/board.hpp"

#include "regs/ramrl.hpp"

#include <algorithm>

namespace nvmodel {

Ns Timeslice::duration() const {
    const Ns units = timeout == 0 ? 1 : Ns{timeout} << scale;
    return units * regs::ramrl::timeslice_unit_ns;
}

const RunlistRow *Board::find_runlist(unsigned id) const {
    const auto found = std::ranges::find(runlists, id, &RunlistRow::id);
    return found == runlists.end() ? nullptr : &*found;
}

const EngineRow *Board::find_engine(EngineName engine) const {
    const auto found = std::ranges::find(engines, engine, &EngineRow::name);
    return found == engines.end() ? nullptr : &*found;
}

unsigned Board::engine_slots() const {
    unsigned slots = 0;
    for (const EngineRow &row : engines)
        if (row.engine_id)
            slots = std::max(slots, *row.engine_id + 1);
    return slots;
}

unsigned Board::pbdma_count() const {
    unsigned count = 0;
    for (const RunlistRow &row : runlists)
        for (const unsigned pbdma : row.pbdmas)
            count = std::max(count, pbdma + 1);
    return count;
}

} // namespace nvmodel
