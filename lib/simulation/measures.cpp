// SPDX-License-Identifier: MIT OR GPL-2.0
#include "measures.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

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

std::size_t RankUse::first_bin() const {
    return static_cast<std::size_t>((begin_ + bin - 1) / bin);
}

std::size_t RankUse::last_bin() const {
    return static_cast<std::size_t>(end_ / bin);
}

Ns RankUse::second_from(std::size_t first) const {
    Ns sum = 0;
    for (std::size_t n = first; n < first + bins_in_a_second; n++)
        sum += bins_[n];
    return sum;
}

std::optional<Ns> RankUse::most_in_a_second() const {
    std::optional<Ns> most;
    for (std::size_t n = first_bin(); n + bins_in_a_second <= last_bin(); n++)
        most = std::max(most.value_or(0), second_from(n));
    return most;
}

std::vector<Ns> RankUse::in_seconds() const {
    std::vector<Ns> all;
    for (std::size_t n = first_bin(); n + bins_in_a_second <= last_bin(); n += bins_in_a_second)
        all.push_back(second_from(n));
    return all;
}

std::vector<std::optional<qos::WhyNot>> RankUse::reasons_in_seconds() const {
    std::vector<std::optional<qos::WhyNot>> all;
    for (std::size_t n = first_bin(); n + bins_in_a_second <= last_bin(); n += bins_in_a_second) {
        const Ns end = static_cast<Ns>(n + bins_in_a_second) * bin;
        const auto after =
            std::ranges::upper_bound(verdicts, end, std::ranges::less(), &Verdict::at);
        const bool has_epoch =
            after != verdicts.begin() && std::prev(after)->at > end - qos::second;
        all.push_back(has_epoch ? std::prev(after)->why : std::nullopt);
    }
    return all;
}

} // namespace simulation
