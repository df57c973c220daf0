// SPDX-License-Identifier: MIT OR GPL-2.0
#include "board/ptop_table.hpp"

#include "regs/ptop.hpp"

namespace nvmodel {

std::vector<std::uint32_t> ptop_v1_words(const Board &board) {
    using namespace regs::ptop::v1;
    std::vector<std::uint32_t> table;
    const auto optional = [](std::optional<unsigned> value, Field field, Field valid) {
        return value ? field.put(*value) | valid.mask() : 0;
    };
    for (const EngineRow &row : board.engines) {
        table.insert(table.end(), row.gap_before, 0);
        table.push_back(chain.mask() | entry.put(entry_enum) |
                        optional(row.engine_id, enum_engine, enum_engine_valid) |
                        optional(row.runlist, enum_runlist, enum_runlist_valid) |
                        optional(row.intr, enum_intr, enum_intr_valid) |
                        optional(row.reset, enum_reset, enum_reset_valid));
        const PtopData data = board.generation->ptop_data;
        const auto type = static_cast<std::uint32_t>(row.name.type) +
                          (data == PtopData::instance ? 0 : row.name.instance);
        table.push_back((data == PtopData::none ? 0 : chain.mask()) | entry.put(entry_engine_type) |
                        type_enum.put(type));
        if (data != PtopData::none)
            table.push_back(entry.put(entry_data) |
                            data_pri_base.put(row.pri_base >> data_pri_base.lo) |
                            data_inst_id.put(data == PtopData::instance ? row.name.instance : 0) |
                            optional(row.fault_id, data_fault_id, data_fault_id_valid));
    }
    table.resize(words, 0);
    return table;
}

std::vector<std::uint32_t> ptop_v2_rows(const Board &board, unsigned die) {
    using namespace regs::ptop::v2;
    std::vector<std::uint32_t> table;
    for (const EngineRow &row : board.engines) {
        if (row.die != die)
            continue;
        table.insert(table.end(), row.gap_before, 0);
        const RunlistRow *runlist = row.runlist ? board.find_runlist(*row.runlist) : nullptr;
        table.push_back(chain.mask() | row0_fault_id.put(row.fault_id.value_or(0)) |
                        row0_instance_id.put(row.name.instance) |
                        row0_type.put(static_cast<std::uint32_t>(row.name.type)));
        const std::uint32_t row1 = row1_reset_id.put(row.reset.value_or(0)) |
                                   row1_pri_base.put(row.pri_base >> row1_pri_base.lo);
        if (runlist == nullptr) {
            table.push_back(row1);
            continue;
        }
        table.push_back(row1 | row1_is_engine.mask() | chain.mask());
        table.push_back(row2_rleng_id.put(row.slot) |
                        row2_runlist_pri_base.put(runlist->base >> row2_runlist_pri_base.lo));
    }
    table.resize(board.ptop_rows, 0);
    return table;
}

} // namespace nvmodel
