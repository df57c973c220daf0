// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Timeslices that give tenants their part of a runlist's time. */
#ifndef NVDEBUGCTL_SHARES_HPP
#define NVDEBUGCTL_SHARES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "failure.hpp"
#include "nvdebug/control.hpp"

namespace nvdebugctl {

/** A TSG that competes for a runlist. */
struct Competitor {
    nvdebug::Target tsg;
    std::uint64_t ns;      ///< its timeslice
    std::uint32_t headers; ///< how often a round has it
    /** Who is to have a part; empty: one of the others. */
    std::optional<std::size_t> tenant;
};

/** `25%`, `0.5%`: a part between 0 and 1, both not included. */
std::optional<double> parse_share(const std::string &text);

/**
 * Timeslices in whole microseconds, so that while all have work each tenant has @p share of the
 * time, divided evenly among its TSGs, and the others have what is left as they had it among
 * themselves. A turn is 103 us longer than its timeslice (measured on an H100), and that is
 * counted. A round takes as long as before, or longer if a timeslice were shorter than 500 us: of
 * such turns too much would be lost to switches (84 us each). Fails if it cannot be.
 */
Outcome<std::vector<nvdebug::TsgTimeslice>> timeslices_for(const std::vector<Competitor> &all,
                                                           double share);

} // namespace nvdebugctl

#endif
