// SPDX-License-Identifier: MIT OR GPL-2.0
#include "measures.hpp"

#include <algorithm>

namespace simulation {
namespace {

constexpr Ns bin = 50 * qos::ms;
constexpr std::size_t bins_in_a_second = qos::second / bin;

} // namespace

RankUse::RankUse(Ns begin, Ns end)
    : begin_(begin), end_(end), bins_(static_cast<std::size_t>((end + bin - 1) / bin)) {}

void RankUse::add(Ns begin, Ns end) {
    begin = std::max(begin, begin_);
    end = std::min(end, end_);
    if (begin >= end)
        return;
    used_ += end - begin;
    while (begin < end) {
        const Ns next = std::min(end, (begin / bin + 1) * bin);
        bins_[static_cast<std::size_t>(begin / bin)] += next - begin;
        begin = next;
    }
}

std::optional<Ns> RankUse::most_in_a_second() const {
    std::optional<Ns> most;
    const auto first = static_cast<std::size_t>((begin_ + bin - 1) / bin),
               last = static_cast<std::size_t>(end_ / bin);
    for (std::size_t n = first; n + bins_in_a_second <= last; n++) {
        Ns sum = 0;
        for (std::size_t k = n; k < n + bins_in_a_second; k++)
            sum += bins_[k];
        most = std::max(most.value_or(0), sum);
    }
    return most;
}

} // namespace simulation
