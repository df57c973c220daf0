// SPDX-License-Identifier: MIT OR GPL-2.0
/**
 * @file
 * @brief What people ask of the state: pure functions over what Gpu reads.
 *
 * Rules R1 to R8 are those of Bakita and Anderson, RTAS 2024.
 */
#ifndef NVDEBUG_ANSWERS_HPP
#define NVDEBUG_ANSWERS_HPP

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

/** Engines of each runlist, in the order of `device_info`; engines that Host does not drive: none.
 */
NVDEBUG_API std::map<std::uint32_t, std::vector<const Engine *>>
engines_by_runlist(std::span<const Engine> engines);

/** The engine of that name in any case (`GR0`, `lce2`; `GR` is `GR0` if there is just one), or
 * nullptr. */
NVDEBUG_API const Engine *find_engine(std::span<const Engine> engines, std::string_view name);

/** Engines that serve one runlist wait for each other's TSGs (R4, R6). */
NVDEBUG_API bool share_runlist(const Engine &a, const Engine &b);

/** LCEs whose copies contend, since they run on the same physical copy engines (R8). */
struct CopyContention {
    std::uint32_t pces;            ///< bit n: PCE n is contended for
    std::vector<std::string> lces; ///< two or more, in the order of `device_info`
};
NVDEBUG_API std::vector<CopyContention> copy_contention(const CopyTopology &copy);

/** A LCE's PCEs, borrowed ones included; 0: it cannot copy. */
NVDEBUG_API std::uint32_t pces_of(const CopyTopology &copy, const LogicalCopyEngine &lce);

/**
 * Runlists between which something is shared, by rising id: tasks on runlists of different groups
 * run independently of each other (R5), those in one group contend for PCEs (R8). Without @p copy
 * (not public here) each runlist is a group. `copy_known` of the result is whether @p copy has
 * every LCE of @p engines.
 */
struct RunlistGroups {
    std::vector<std::vector<std::uint32_t>> groups;
    bool copy_known;
};
NVDEBUG_API RunlistGroups independent_runlists(std::span<const Engine> engines,
                                               const CopyTopology *copy);

/** A TSG with more than one address space: clients of an MPS server, say. */
struct SharedTsg {
    std::uint32_t runlist, tsg;
    std::uint32_t spaces;
    std::vector<const AddressSpaceUse *> uses;
};
NVDEBUG_API std::vector<SharedTsg> shared_tsgs(std::span<const AddressSpaceUse> uses);

/**
 * What part of its runlist's time a TSG gets while every TSG that may run always has work: its
 * timeslices over those of all, one round of the list. A TSG without an enabled channel may not run
 * and has 0. Empty: not to be said, since the list has bare channels that may run (their timeslice
 * is not in the list), is torn, or could not be read; or the channels' state is not known.
 */
struct TsgShare {
    std::uint32_t tsg;
    std::optional<double> share; ///< 0 to 1
    std::uint64_t timeslice_ns;  ///< of one header
    std::uint32_t headers;       ///< how often the list has it
};
NVDEBUG_API std::vector<TsgShare> expected_shares(const Runlist &runlist);

} // namespace nvdebug

#endif
