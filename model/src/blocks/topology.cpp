// SPDX-License-Identifier: MIT OR GPL-2.0
#include "blocks/topology.hpp"

#include "blocks/constants.hpp"
#include "board/ptop_table.hpp"
#include "regs/fuse.hpp"
#include "regs/pri_ring.hpp"
#include "regs/ptop.hpp"
#include "regs/smcarb.hpp"

namespace nvmodel {
namespace {

using namespace regs;

/// The places of a generation's masks of disabled units.
struct FuseMap {
    std::uint32_t status_gpc;
    std::uint32_t status_tpc;
    std::optional<std::uint32_t> override_gpc;
    std::uint32_t override_tpc;
};

constexpr FuseMap fuse_map(FuseForm form) {
    using namespace fuse;
    switch (form) {
    case FuseForm::gf100:
        return {gf100_hw_gpc, gf100_hw_tpc_gpc, gf100_sw_gpc, gf100_sw_tpc_gpc};
    case FuseForm::gm107:
        return {base_gm107 + status_opt_gpc, base_gm107 + status_opt_tpc_gpc, std::nullopt,
                base_gm107 + ctrl_opt_tpc_gpc};
    case FuseForm::ga100:
        break;
    }
    return {base_ga100 + status_opt_gpc, base_ga100 + status_opt_tpc_gpc, base_ga100 + ctrl_opt_gpc,
            base_ga100 + ctrl_opt_tpc_gpc};
}

/// Registers with which software may switch more units off: CTRL_OPT, which is 0 on boards as sold;
/// on Kepler the copy of the burnt-in masks.
class FuseOverrides final : public RegisterBlock {
  public:
    explicit FuseOverrides(const Board &board)
        : map_(fuse_map(board.generation->fuse)), tpc_(board.geometry.num_gpcs, 0) {
        if (board.generation->fuse == FuseForm::gf100) {
            gpc_ = board.geometry.gpc_disabled;
            tpc_ = board.geometry.tpc_disabled;
        }
    }

    ReadAnswer read(std::uint32_t offset) override {
        const std::uint32_t *const reg = find(offset);
        return reg != nullptr ? ReadAnswer{*reg} : ReadAnswer::unmodelled();
    }
    Answer write(std::uint32_t offset, std::uint32_t value) override {
        std::uint32_t *const reg = find(offset);
        if (reg == nullptr)
            return Answer::unmodelled;
        *reg = value;
        return Answer::done;
    }

  private:
    std::uint32_t *find(std::uint32_t offset) {
        if (offset == map_.override_gpc)
            return &gpc_;
        const auto i = element(offset, map_.override_tpc, 4, static_cast<unsigned>(tpc_.size()));
        return i ? &tpc_[*i] : nullptr;
    }

    FuseMap map_;
    std::uint32_t gpc_ = 0;
    std::vector<std::uint32_t> tpc_;
};

void set_v1_table(ConstantsBlock &block, const Board &board) {
    std::uint32_t offset = ptop::v1::device_info;
    for (const std::uint32_t word : ptop_v1_words(board)) {
        block.set(offset, word);
        offset += 4;
    }
}

void set_v2_table(ConstantsBlock &block, const Board &board) {
    using namespace ptop::v2;
    const std::uint32_t cfg = cfg_version.put(board.ptop_version) |
                              cfg_max_devices.put(board.ptop_max_devices) |
                              cfg_max_rows_per_device.put(3) | cfg_num_rows.put(board.ptop_rows);
    for (unsigned die = 0; die < board.dies(); ++die) {
        block.set(device_info_cfg + die * die_stride, cfg);
        std::uint32_t offset = device_info2 + die * die_stride;
        for (const std::uint32_t row : ptop_v2_rows(board, die)) {
            block.set(offset, row);
            offset += 4;
        }
    }
}

} // namespace

std::unique_ptr<RegisterBlock> make_ptop(const Board &board) {
    auto block = std::make_unique<ConstantsBlock>();
    const Geometry &geometry = board.geometry;
    block->set(ptop::scal_num_gpcs, ptop::scal.put(geometry.num_gpcs));
    block->set(ptop::scal_num_tpc_per_gpc, ptop::scal.put(geometry.num_tpc_per_gpc));
    block->set(ptop::scal_num_ces, ptop::scal.put(geometry.num_ces));
    block->set(ptop::scal_num_fbps, ptop::scal.put(geometry.num_fbps));
    if (board.generation->ltc_count)
        block->set(ptop::scal_num_ltcs, ptop::scal.put(geometry.num_ltcs));
    if (board.generation->ptop == PtopVersion::v1)
        set_v1_table(*block, board);
    else
        set_v2_table(*block, board);
    return block;
}

std::unique_ptr<RegisterBlock> make_fuse(const Board &board) {
    auto status = std::make_unique<ConstantsBlock>();
    const FuseMap map = fuse_map(board.generation->fuse);
    status->set(map.status_gpc, board.geometry.gpc_disabled);
    std::uint32_t offset = map.status_tpc;
    for (const std::uint32_t mask : board.geometry.tpc_disabled) {
        status->set(offset, mask);
        offset += 4;
    }
    auto block = std::make_unique<CompositeBlock>();
    block->add(std::move(status));
    block->add(std::make_unique<FuseOverrides>(board));
    return block;
}

std::unique_ptr<RegisterBlock> make_gpc_map(const Board &board) {
    auto block = std::make_unique<ConstantsBlock>();
    std::uint32_t logical = 0;
    for (const unsigned physical : board.geometry.gpc_order) {
        block->set(smcarb::gpc_map + 4 * logical,
                   smcarb::gpc_map_physical.put(physical) |
                       smcarb::gpc_map_half.put(board.geometry.gpc_half[physical]) |
                       smcarb::gpc_map_first.put(logical == 0 ? 1 : 0));
        ++logical;
    }
    return block;
}

std::unique_ptr<RegisterBlock> make_pri_ring(const Board &board) {
    auto block = std::make_unique<ConstantsBlock>();
    block->set(pri_ring::enum_gpc, static_cast<std::uint32_t>(board.geometry.live_tpcs().size()));
    return block;
}

} // namespace nvmodel
