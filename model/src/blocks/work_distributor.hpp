// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/board.hpp"

#include <cstdint>
#include <vector>

namespace nvmodel {

/// The places of the tables, and their numbers of words.
struct WorkDistributorTables {
    std::uint32_t gpc_tpc_id = 0;
    unsigned gpc_tpc_id_words = 0;
    std::uint32_t sm_id = 0;
    unsigned sm_id_words = 0;
};

WorkDistributorTables work_distributor_tables(const Board &board);

/// The compute work distributor. It stores the words that a driver writes; before, they are 0.
class WorkDistributorBlock final : public RegisterBlock {
  public:
    explicit WorkDistributorBlock(const Board &board);
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

  private:
    struct Register {
        std::uint32_t *value = nullptr;
        std::uint32_t mask = 0xffffffff;
    };
    Register find(std::uint32_t offset);

    WorkDistributorTables tables_;
    bool partitions_;
    std::uint32_t fs_ = 0;
    std::uint32_t partition_ctl_ = 0;
    std::uint32_t partition_data_ = 0;
    std::vector<std::uint32_t> gpc_tpc_id_;
    std::vector<std::uint32_t> sm_id_;
};

} // namespace nvmodel
