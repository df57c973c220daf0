// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/work_distributor.hpp"

#include "regs/cwd.hpp"

namespace nvmodel {

using namespace regs;

WorkDistributorBlock::WorkDistributorBlock(const Generation &generation)
    : tables_(generation.work_distributor != WorkDistributor::counts),
      partitions_(generation.subcontexts) {}

WorkDistributorBlock::Register WorkDistributorBlock::find(std::uint32_t offset) {
    if (offset == cwd::fs)
        return {&fs_, cwd::fs_num_gpcs.mask() | cwd::fs_num_tpcs.mask()};
    if (partitions_ && offset == cwd::partition_ctl)
        return {&partition_ctl_, cwd::partition_ctl_known.mask()};
    if (partitions_ && offset == cwd::partition_data)
        return {&partition_data_};
    if (!tables_)
        return {};
    if (const auto i = element(offset, cwd::gpc_tpc_id, 4, cwd::table_words))
        return {&gpc_tpc_id_[*i]};
    if (const auto i = element(offset, cwd::sm_id, 4, cwd::table_words))
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
