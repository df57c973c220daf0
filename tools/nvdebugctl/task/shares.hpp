// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Timeslices that give tenants their part of a runlist's time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/failure.hpp"
#include "nvdebug/control.hpp"

namespace nvdebugctl {

/// A TSG that competes for a runlist.
struct Competitor {
    nvdebug::Target tsg;
    std::uint64_t ns;      ///< its timeslice
    std::uint32_t headers; ///< how often a round has it
    /// The tenant that gets a part; empty: one of the other tasks.
    std::optional<std::size_t> tenant;
};

/// Parts of the time between 0 and 1, both not included: one that every tenant gets, or one for
/// each tenant.
using Shares = std::vector<double>;

/// `25%`, or `25%,0.5%`.
[[nodiscard]] std::optional<Shares> parse_shares(const std::string &text);

/// Timeslices in whole microseconds, so that while all have work each tenant has its share of the
/// time, divided evenly among its TSGs, and the others have what is left as they had it among
/// themselves. A turn is 103 us longer than its timeslice (measured on an H100), and that is
/// counted. A round takes as long as before, or longer if a timeslice were shorter than 500 us: of
/// such turns too much would be lost to switches (84 us each). Fails if it cannot be.
[[nodiscard]] Outcome<std::vector<nvdebug::TsgTimeslice>>
timeslices_for(const std::vector<Competitor> &all, const Shares &shares);

/// Makes this process the only one that gives shares of a GPU, as long as the result lives. @p gpu:
/// its PCI address, locked by a file in @p folder; where that cannot be written there is no lock.
[[nodiscard]] Outcome<std::shared_ptr<const void>> claim_shares(const std::string &folder,
                                                                const std::string &gpu);

} // namespace nvdebugctl
