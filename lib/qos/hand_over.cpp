// SPDX-License-Identifier: MIT OR GPL-2.0
#include "hand_over.hpp"

#include <algorithm>
#include <tuple>

namespace qos {
namespace {

/// The times of turns on this machine's clock may be wrong by so much.
constexpr Ns clock_error = 300 * us;
/// So many changes in a row have to show something else before it is believed.
constexpr int enough_others = 3;
/// Tenants come and go, so that more pairs are forgotten.
constexpr std::size_t most_pairs = 100;

/// Returns the only tenant that an order lets run; empty: there is none, or there are several.
std::optional<std::string> holder_in(const WindowOrder &order) {
    return order.first.size() == 1 ? std::optional(order.first.front().tenant) : std::nullopt;
}

} // namespace

/// Returns whether already the first half is known to hand the GPU over.
bool HandOver::is_early(const WindowOrder &order) const {
    const auto gpu = gpus_.find(order.gpu);
    const auto holder = holder_in(order);
    if (gpu == gpus_.end() || !holder)
        return false;
    const auto pair = gpu->second.pairs.find({gpu->second.holder, *holder});
    return pair != gpu->second.pairs.end() && pair->second.is_early;
}

std::vector<OrderPart> HandOver::parts(std::span<const WindowOrder> orders) const {
    constexpr int before = 0, hands_over = 1, after = 2;
    std::vector<std::tuple<int, std::size_t, bool>> all; // in this order; the last one: is_then
    for (std::size_t n = 0; n < orders.size(); n++) {
        const bool early = is_early(orders[n]);
        if (!orders[n].first.empty() || !orders[n].has_windows)
            all.emplace_back(early ? hands_over : before, n, false);
        if (!orders[n].then.empty())
            all.emplace_back(early ? after : hands_over, n, true);
    }
    std::ranges::sort(all);
    std::vector<OrderPart> parts;
    for (const auto &[when, order, is_then] : all)
        parts.push_back({order, !is_then});
    return parts;
}

void HandOver::note(const WindowOrder &order, bool is_first, Ns begin, Ns end) {
    OfGpu &gpu = gpus_[order.gpu];
    if (is_first) {
        const auto holder = holder_in(order);
        const bool is_other = holder && gpu.holder != *holder && !gpu.holder.empty();
        gpu.change = is_other ? std::optional(Change{gpu.holder, begin}) : std::nullopt;
        gpu.holder = holder.value_or("");
    } else if (gpu.change) {
        gpu.change->then = {begin, end};
    }
}

void HandOver::take(std::span<const WindowTurns> turns) {
    for (const WindowTurns &on_gpu : turns)
        if (const auto at = gpus_.find(on_gpu.gpu); at != gpus_.end())
            find_out(at->second, on_gpu.turns);
}

/// Looks for the first turn of the holder since the last change.
void HandOver::find_out(OfGpu &gpu, std::span<const WindowTurn> turns) {
    if (!gpu.change || !gpu.change->then)
        return;
    const Change &change = *gpu.change;
    const auto turn = std::ranges::find_if(turns, [&](const WindowTurn &one) {
        return one.tenant == gpu.holder && one.end > change.first_began;
    });
    if (turn == turns.end())
        return;
    const Ns begin = turn->begin, then_began = change.then->first, then_ended = change.then->second;
    const bool is_early = begin < then_began - clock_error;
    // If it had the GPU before the change, nothing shows when it would have come.
    if (begin >= change.first_began && (is_early || begin > then_ended)) {
        if (gpu.pairs.size() >= most_pairs)
            gpu.pairs.clear();
        Pair &pair = gpu.pairs[{change.former, gpu.holder}];
        pair.others = pair.is_early == is_early ? 0 : pair.others + 1;
        if (pair.others == enough_others)
            pair = {.is_early = is_early};
    }
    gpu.change.reset();
}

} // namespace qos
