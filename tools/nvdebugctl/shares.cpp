// SPDX-License-Identifier: MIT OR GPL-2.0
#include "shares.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace nvdebugctl {

namespace {

constexpr double shortest_us = 500, longest_us = 1'000'000;
/** A turn ends where the work may be taken off next: measured on an H100, 300 us to 16 ms. */
constexpr double overrun_us = 103;

/** How long a round has it. */
double turn_of(const Competitor &one) {
    return (static_cast<double>(one.ns) / 1000 + overrun_us) * one.headers;
}

} // namespace

std::optional<double> parse_share(const std::string &text) {
    double percent = 0;
    if (!text.ends_with('%'))
        return std::nullopt;
    const char *const end = text.data() + text.size() - 1;
    const auto [stop, error] = std::from_chars(text.data(), end, percent, std::chars_format::fixed);
    if (error != std::errc() || stop != end || !(percent > 0 && percent < 100))
        return std::nullopt;
    return percent / 100;
}

Outcome<std::vector<nvdebug::TsgTimeslice>> timeslices_for(const std::vector<Competitor> &all,
                                                           double share) {
    std::map<std::size_t, std::uint32_t> tsgs; // of each tenant
    double round = 0, others = 0;
    for (const Competitor &one : all) {
        round += turn_of(one);
        if (one.tenant)
            tsgs[*one.tenant]++;
        else
            others += turn_of(one);
    }
    const double left = 1 - share * static_cast<double>(tsgs.size());
    if (tsgs.empty() || others <= 0)
        return fail(nvdebug::ErrorCode::not_found,
                    "nobody else competes for the runlist: alone it has all of the time");
    if (left <= 0)
        return fail(nvdebug::ErrorCode::invalid,
                    fmt::format("{} tenants with {:g}% each leave nothing for the others",
                                tsgs.size(), share * 100));
    // Turns of a round of length 1.
    std::vector<double> turns;
    for (const Competitor &one : all)
        turns.push_back((one.tenant ? share / tsgs[*one.tenant] : left * turn_of(one) / others) /
                        one.headers);
    const auto [least, most] = std::ranges::minmax(turns);
    round = std::max(round, (shortest_us + overrun_us) / least);
    if (most * round - overrun_us > longest_us)
        return fail(nvdebug::ErrorCode::invalid,
                    fmt::format("{:g}% takes a timeslice of 500us beside others longer than 1s",
                                share * 100));
    std::vector<nvdebug::TsgTimeslice> slices;
    for (std::size_t n = 0; n < all.size(); n++)
        slices.push_back(
            {all[n].tsg,
             static_cast<std::uint64_t>(std::llround(turns[n] * round - overrun_us)) * 1000});
    return slices;
}

} // namespace nvdebugctl
