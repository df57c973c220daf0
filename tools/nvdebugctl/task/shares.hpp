// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Computes timeslices that give tenants their part of a runlist's time.
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
    std::uint32_t headers; ///< number of its turns in a round
    /// The tenant to which the TSG belongs; empty: it belongs to another task.
    std::optional<std::size_t> tenant;
};

/// Parts of the time, greater than 0 and less than 1: either one part for every tenant, or a part
/// for each tenant in turn.
using Shares = std::vector<double>;

/// Parses `25%` or `25%,0.5%`.
[[nodiscard]] std::optional<Shares> parse_shares(const std::string &text);

/// Computes timeslices in whole microseconds. While all TSGs have work, each tenant gets its share
/// of the time, divided evenly among its TSGs. The other tasks share the rest in the same
/// proportions as before.
///
/// A turn is 103 us longer than its timeslice (measured on an H100), which is taken into account. A
/// round takes as long as before. It takes longer if a timeslice would be shorter than 500 us,
/// because switches (84 us each) would take too much of such turns. Fails if there is no solution.
[[nodiscard]] Outcome<std::vector<nvdebug::TsgTimeslice>>
timeslices_for(const std::vector<Competitor> &all, const Shares &shares);

/// Makes this process the only one that gives shares of a GPU, as long as the result lives. A file
/// in @p folder is the lock; if it cannot be written, there is no lock.
/// @param gpu the GPU's PCI address
[[nodiscard]] Outcome<std::shared_ptr<const void>> claim_shares(const std::string &folder,
                                                                const std::string &gpu);

} // namespace nvdebugctl
