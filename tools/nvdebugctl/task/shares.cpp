// SPDX-License-Identifier: MIT OR GPL-2.0
#include "shares.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include "lib/base/claim.hpp"
#include "lib/base/quantity.hpp"

namespace nvdebugctl {

namespace {

constexpr double shortest_us = 500, longest_us = 1'000'000;
/// A turn is so much longer than its timeslice, because it ends only where the work can be
/// preempted. Measured on an H100, with timeslices from 300 us to 16 ms.
constexpr double overrun_us = 103;

/// Returns the time that a round has for the TSG, in us.
double turn_of(const Competitor &one) {
    return (static_cast<double>(one.ns) / 1000 + overrun_us) * one.headers;
}

} // namespace

std::optional<Shares> parse_shares(const std::string &text) {
    Shares shares;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const auto percent =
            nvdebug::base::parse_percent(std::string_view(text).substr(begin, end - begin));
        constexpr std::int64_t whole = 100'000'000;
        if (!percent || *percent == whole)
            return std::nullopt;
        shares.push_back(static_cast<double>(*percent) / whole);
        begin = end + 1;
    }
    return shares;
}

Outcome<std::vector<nvdebug::TsgTimeslice>> timeslices_for(const std::vector<Competitor> &all,
                                                           const Shares &shares) {
    constexpr double rounding = 1e-9;
    const auto share_of = [&](std::size_t tenant) {
        return shares.size() > 1 ? shares.at(tenant) : shares.front();
    };
    std::map<std::size_t, std::uint32_t> tsgs; // number of TSGs of each tenant
    double round = 0, others = 0;
    for (const Competitor &one : all) {
        round += turn_of(one);
        if (one.tenant)
            tsgs[*one.tenant]++;
        else
            others += turn_of(one);
    }
    double wanted = 0;
    for (const auto &[tenant, count] : tsgs)
        wanted += share_of(tenant);
    const double left = 1 - wanted;
    if (tsgs.empty() || (others <= 0 && tsgs.size() == 1))
        return fail(nvdebug::ErrorCode::not_found,
                    "no other task competes for the runlist: alone it has all of the time");
    if (others <= 0 && std::abs(left) > rounding)
        return fail(
            nvdebug::ErrorCode::invalid,
            fmt::format(
                "no other task competes for the runlist: the shares of these {} must be 100% "
                "together, not {:g}%",
                tsgs.size(), wanted * 100));
    if (others > 0 && left <= rounding)
        return fail(nvdebug::ErrorCode::invalid,
                    fmt::format("{} tenants with {:g}% together leave nothing for the others",
                                tsgs.size(), wanted * 100));
    // The lengths of turns, if a round has the length 1.
    std::vector<double> turns;
    for (const Competitor &one : all)
        turns.push_back((one.tenant ? share_of(*one.tenant) / tsgs[*one.tenant]
                                    : left * turn_of(one) / others) /
                        one.headers);
    const auto [least, most] = std::ranges::minmax(turns);
    round = std::max(round, (shortest_us + overrun_us) / least);
    if (most * round - overrun_us > longest_us)
        return fail(nvdebug::ErrorCode::invalid,
                    fmt::format("{:g}% takes a timeslice of 500us beside others longer than 1s",
                                std::ranges::min(shares) * 100));
    std::vector<nvdebug::TsgTimeslice> slices;
    for (std::size_t n = 0; n < all.size(); n++)
        slices.push_back(
            {all[n].tsg,
             static_cast<std::uint64_t>(std::llround(turns[n] * round - overrun_us)) * 1000});
    return slices;
}

Outcome<std::shared_ptr<const void>> claim_shares(const std::string &folder,
                                                  const std::string &gpu) {
    auto claim = nvdebug::base::claim_shares(folder, gpu);
    if (!claim)
        return fail(
            nvdebug::ErrorCode::busy,
            "another 'task set --share' (--hold or --for), or nvqos, is at work on this GPU: give "
            "all shares in one, or end it first");
    return claim;
}

} // namespace nvdebugctl
