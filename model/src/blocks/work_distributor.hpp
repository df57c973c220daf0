// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/generation.hpp"

#include <array>
#include <cstdint>

namespace nvmodel {

/// The compute work distributor: stores what a driver writes; 0 until one has.
class WorkDistributorBlock final : public RegisterBlock {
  public:
    explicit WorkDistributorBlock(const Generation &generation);
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

  private:
    struct Register {
        std::uint32_t *value = nullptr;
        std::uint32_t mask = 0xffffffff;
    };
    Register find(std::uint32_t offset);

    bool tables_;
    bool partitions_;
    std::uint32_t fs_ = 0;
    std::uint32_t partition_ctl_ = 0;
    std::uint32_t partition_data_ = 0;
    std::array<std::uint32_t, 16> gpc_tpc_id_{};
    std::array<std::uint32_t, 16> sm_id_{};
};

} // namespace nvmodel
