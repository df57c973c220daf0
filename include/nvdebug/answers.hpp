// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief What people ask of the state: pure functions over what Gpu reads.
///
/// Rules R1 to R8 are those of Bakita and Anderson, RTAS 2024.
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

/// Engines of each runlist, in the order of `device_info`; engines that Host does not drive: none.
NVDEBUG_API std::map<std::uint32_t, std::vector<const Engine *>>
engines_by_runlist(std::span<const Engine> engines);
std::map<std::uint32_t, std::vector<const Engine *>>
engines_by_runlist(const std::vector<Engine> &&engines) = delete;

/// The engine of that name in any case (`GR0`, `lce2`; `GR` is `GR0` if there is just one), or
/// nullptr.
NVDEBUG_API const Engine *find_engine(std::span<const Engine> engines, std::string_view name);
const Engine *find_engine(const std::vector<Engine> &&engines, std::string_view name) = delete;

/// Engines that serve one runlist wait for each other's TSGs (R4, R6).
NVDEBUG_API bool share_runlist(const Engine &a, const Engine &b);

/// LCEs with copies that contend, since they run on the same physical copy engines (R8).
struct CopyContention {
    std::uint32_t pces;            ///< bit n: PCE n is contended for
    std::vector<std::string> lces; ///< two or more, in the order of `device_info`
};
NVDEBUG_API std::vector<CopyContention> copy_contention(const CopyTopology &copy);

/// A LCE's PCEs, borrowed ones included; 0: it cannot copy.
NVDEBUG_API std::uint32_t pces_of(const CopyTopology &copy, const LogicalCopyEngine &lce);

/// A PBDMA that feeds several runlists (up to Maxwell and Pascal): one channel at a time.
struct SharedPbdma {
    std::uint32_t pbdma;
    std::vector<std::uint32_t> runlists; ///< two or more, rising
};
NVDEBUG_API std::vector<SharedPbdma> shared_pbdmas(std::span<const Engine> engines);

/// How many tasks can run independently of each other (R5): those on runlists of different groups.
/// Runlists of one group share a PBDMA, or PCEs (R8). That those of one PBDMA are not independent
/// is inferred, not published.
struct RunlistGroups {
    std::vector<std::vector<std::uint32_t>> groups; ///< runlists, all rising
    /// In no group, since they serve nothing but LCEs without a PCE, on which nothing can run.
    std::vector<std::uint32_t> unable;
    bool copy_known; ///< the copy topology has every LCE; else there may be fewer groups
};
/// @param copy nullptr: not public here, so that the copy engines of runlists join none of them
NVDEBUG_API RunlistGroups independent_runlists(std::span<const Engine> engines,
                                               const CopyTopology *copy);

/// A TSG with more than one address space, for example of clients of an MPS server.
struct SharedTsg {
    std::uint32_t runlist, tsg;
    std::uint32_t spaces;
    std::vector<const AddressSpaceUse *> uses;
};
NVDEBUG_API std::vector<SharedTsg> shared_tsgs(std::span<const AddressSpaceUse> uses);
std::vector<SharedTsg> shared_tsgs(const std::vector<AddressSpaceUse> &&uses) = delete;

/// What part of its runlist's time a TSG gets while every TSG that may run always has work: its
/// timeslices over those of all, one round of the list. A TSG without an enabled channel may not
/// run and has 0. Empty: not known, since the list has bare channels that may run (their timeslice
/// is not in the list), is torn, or could not be read; or the channels' state is not known.
struct TsgShare {
    std::uint32_t tsg;
    std::optional<double> share; ///< 0 to 1
    std::uint64_t timeslice_ns;  ///< of one header
    std::uint32_t headers;       ///< how often the list has it
};
NVDEBUG_API std::vector<TsgShare> expected_shares(const Runlist &runlist);

} // namespace nvdebug
