// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/work_distributor.hpp"

#include "regs/cwd.hpp"

namespace nvmodel {

using namespace regs;

WorkDistributorTables work_distributor_tables(const Board &board) {
    const Geometry &geometry = board.geometry;
    const auto words = [](unsigned tpcs) {
        return (tpcs + cwd::tpcs_per_word - 1) / cwd::tpcs_per_word;
    };
    switch (board.generation->work_distributor) {
    case WorkDistributor::none:
    case WorkDistributor::counts:
        break;
    case WorkDistributor::gm200:
    case WorkDistributor::gp100:
        return {cwd::gpc_tpc_id, cwd::table_words, cwd::sm_id, cwd::table_words};
    case WorkDistributor::gh100:
        return {cwd::gpc_tpc_id_gh100, words(geometry.num_gpcs * geometry.num_tpc_per_gpc),
                cwd::sm_id_gh100, geometry.num_gpcs * words(geometry.num_tpc_per_gpc)};
    case WorkDistributor::gb20c:
        return {0, 0, cwd::sm_id_gh100, geometry.num_gpcs * words(geometry.num_tpc_per_gpc)};
    }
    return {};
}

WorkDistributorBlock::WorkDistributorBlock(const Board &board)
    : tables_(work_distributor_tables(board)), partitions_(board.generation->subcontexts),
      gpc_tpc_id_(tables_.gpc_tpc_id_words), sm_id_(tables_.sm_id_words) {}

WorkDistributorBlock::Register WorkDistributorBlock::find(std::uint32_t offset) {
    if (offset == cwd::fs)
        return {&fs_, cwd::fs_num_gpcs.mask() | cwd::fs_num_tpcs.mask()};
    if (partitions_ && offset == cwd::partition_ctl)
        return {&partition_ctl_, cwd::partition_ctl_known.mask()};
    if (partitions_ && offset == cwd::partition_data)
        return {&partition_data_};
    if (const auto i = element(offset, tables_.gpc_tpc_id, 4, tables_.gpc_tpc_id_words))
        return {&gpc_tpc_id_[*i]};
    if (const auto i = element(offset, tables_.sm_id, 4, tables_.sm_id_words))
        return {&sm_id_[*i]};
    return {};
}

ReadAnswer WorkDistributorBlock::read(std::uint32_t offset) {
    const Register reg = find(offset);
    return reg.value != nullptr ? ReadAnswer{*reg.value} : ReadAnswer::unmodelled();
}

Answer WorkDistributorBlock::write(std::uint32_t offset, std::uint32_t value) {
    const Register reg = find(offset);
    if (reg.value == nullptr)
        return Answer::unmodelled;
    *reg.value = value & reg.mask;
    return Answer::done;
}

} // namespace nvmodel
