// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Answers common questions about a GPU's state: pure functions over the results of Gpu.
///
/// Rules R1 to R8 are from Bakita and Anderson, RTAS 2024.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nvdebug/address_space.hpp"
#include "nvdebug/copy.hpp"
#include "nvdebug/engine.hpp"
#include "nvdebug/export.hpp"
#include "nvdebug/runlist.hpp"

namespace nvdebug {

/// Returns the engines of each runlist, in the order of `device_info`. Engines that Host does not
/// drive have no runlist and are left out.
NVDEBUG_API std::map<std::uint32_t, std::vector<const Engine *>>
engines_by_runlist(std::span<const Engine> engines);
std::map<std::uint32_t, std::vector<const Engine *>>
engines_by_runlist(const std::vector<Engine> &&engines) = delete;

/// Returns the engine of this name in any case (`GR0`, `lce2`; `GR` is `GR0` if there is only one);
/// nullptr: there is none.
NVDEBUG_API const Engine *find_engine(std::span<const Engine> engines, std::string_view name);
const Engine *find_engine(const std::vector<Engine> &&engines, std::string_view name) = delete;

/// Returns whether two engines are served by one runlist. Then they wait for each other's TSGs (R4,
/// R6).
NVDEBUG_API bool share_runlist(const Engine &a, const Engine &b);

/// LCEs with contending copies, because they run on the same physical copy engines (R8).
struct CopyContention {
    std::uint32_t pces;            ///< bit n: PCE n is contended for
    std::vector<std::string> lces; ///< two or more, in the order of `device_info`
};
/// Returns the groups of LCEs that contend.
NVDEBUG_API std::vector<CopyContention> copy_contention(const CopyTopology &copy);

/// Returns a LCE's PCEs, borrowed ones included; 0: the LCE cannot copy.
NVDEBUG_API std::uint32_t pces_of(const CopyTopology &copy, const LogicalCopyEngine &lce);

/// A PBDMA that feeds several runlists (up to Pascal). It serves one channel at a time.
struct SharedPbdma {
    std::uint32_t pbdma;
    std::vector<std::uint32_t> runlists; ///< two or more, rising
};
/// Returns the PBDMAs that feed several runlists.
NVDEBUG_API std::vector<SharedPbdma> shared_pbdmas(std::span<const Engine> engines);

/// Groups of runlists, which show how many tasks can run independently of each other (R5). Tasks on
/// runlists of different groups do. The runlists of a group share a PBDMA, or PCEs (R8). That a
/// shared PBDMA makes runlists dependent is inferred, not published.
struct RunlistGroups {
    std::vector<std::vector<std::uint32_t>> groups; ///< runlists, all rising
    /// Runlists outside of all groups, because they serve only LCEs without a PCE, on which nothing
    /// can run.
    std::vector<std::uint32_t> unable;
    bool copy_known; ///< the copy topology has every LCE; if false, there may be fewer groups
};
/// Returns the groups of a GPU's runlists.
/// @param copy nullptr: the wiring of copy engines is not public, so they join no runlists
NVDEBUG_API RunlistGroups independent_runlists(std::span<const Engine> engines,
                                               const CopyTopology *copy);

/// A TSG with more than one address space, for example because clients of an MPS server share it.
struct SharedTsg {
    std::uint32_t runlist, tsg;
    std::uint32_t spaces;
    std::vector<const AddressSpaceUse *> uses;
};
/// Returns the TSGs with several address spaces.
NVDEBUG_API std::vector<SharedTsg> shared_tsgs(std::span<const AddressSpaceUse> uses);
std::vector<SharedTsg> shared_tsgs(const std::vector<AddressSpaceUse> &&uses) = delete;

/// The part of its runlist's time that a TSG gets while every TSG that may run always has work: its
/// timeslices divided by all timeslices of one round of the list. A TSG without an enabled channel
/// may not run, and has 0. The share is unknown if the list is torn or could not be read, if the
/// state of channels is unknown, or if bare channels may run, since the list does not have their
/// timeslice.
struct TsgShare {
    std::uint32_t tsg;
    std::optional<double> share; ///< 0 to 1; empty: unknown
    std::uint64_t timeslice_ns;  ///< of one header
    std::uint32_t headers;       ///< how often the list has the TSG
};
/// Returns the share of each TSG of a list, in the order of their first headers.
NVDEBUG_API std::vector<TsgShare> expected_shares(const Runlist &runlist);

} // namespace nvdebug
