// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver/tpc_numbers.hpp"

#include "blocks/work_distributor.hpp"
#include "regs/cwd.hpp"

#include <algorithm>

namespace nvmodel {
namespace {

std::vector<TpcPlace> round_robin(std::span<const unsigned> live) {
    std::vector<TpcPlace> places;
    const unsigned most = live.empty() ? 0 : *std::ranges::max_element(live);
    for (unsigned tpc = 0; tpc < most; ++tpc)
        for (unsigned gpc = 0; gpc < live.size(); ++gpc)
            if (tpc < live[gpc])
                places.push_back({gpc, tpc});
    return places;
}

std::vector<TpcPlace> fullest_first(std::span<const unsigned> live) {
    std::vector<unsigned> left(live.begin(), live.end());
    std::vector<TpcPlace> places;
    for (;;) {
        const auto last_largest = std::max_element(left.rbegin(), left.rend());
        if (last_largest == left.rend() || *last_largest == 0)
            return places;
        *last_largest -= 1;
        places.push_back({static_cast<unsigned>(left.rend() - last_largest - 1), *last_largest});
    }
}

} // namespace

std::vector<TpcPlace> number_tpcs(TpcOrder order, std::span<const unsigned> live_tpcs) {
    return order == TpcOrder::round_robin ? round_robin(live_tpcs) : fullest_first(live_tpcs);
}

WorkDistributorWords encode_work_distributor(const Board &board) {
    using namespace regs::cwd;
    const std::vector<unsigned> live = board.geometry.live_tpcs();
    const std::vector<TpcPlace> places = board.geometry.tpc_order.empty()
                                             ? number_tpcs(board.generation->tpc_order, live)
                                             : board.geometry.tpc_order;
    const WorkDistributorTables tables = work_distributor_tables(board);
    WorkDistributorWords words;
    words.fs = fs_num_gpcs.put(static_cast<std::uint32_t>(live.size())) |
               fs_num_tpcs.put(static_cast<std::uint32_t>(places.size()));
    words.gpc_tpc_id.resize(tables.gpc_tpc_id_words);
    words.sm_id.resize(tables.sm_id_words);
    const bool gm200 = board.generation->work_distributor == WorkDistributor::gm200;
    for (std::uint32_t id = 0; id < places.size(); ++id) {
        const auto [gpc, tpc] = places[id];
        if (!words.gpc_tpc_id.empty())
            words.gpc_tpc_id.at(id / tpcs_per_word) |= (tpc | gpc << 4)
                                                       << (8 * (id % tpcs_per_word));
        const unsigned row = gm200 ? gpc : gpc + board.geometry.num_gpcs * (tpc / tpcs_per_word);
        if (!words.sm_id.empty())
            words.sm_id.at(row) |= id << (8 * (tpc % tpcs_per_word));
    }
    return words;
}

} // namespace nvmodel
