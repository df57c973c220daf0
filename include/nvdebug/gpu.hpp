// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief A GPU: one folder of a tree. Every call reads its files anew.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/address_space.hpp"
#include "nvdebug/control.hpp"
#include "nvdebug/copy.hpp"
#include "nvdebug/engine.hpp"
#include "nvdebug/gpc.hpp"
#include "nvdebug/hold.hpp"
#include "nvdebug/info.hpp"
#include "nvdebug/owner.hpp"
#include "nvdebug/runlist.hpp"
#include "nvdebug/switches.hpp"
#include "nvdebug/translation.hpp"
#include "nvdebug/tree.hpp"

namespace nvdebug {

/// Distinct objects may be used by different threads at once, also for the same GPU.
class NVDEBUG_API Gpu {
  public:
    Gpu(Tree tree, std::uint32_t index);

    std::uint32_t index() const { return index_; }
    const Tree &tree() const { return tree_; }
    /// `gpu0`, relative to the tree's root.
    std::string folder() const;
    /// A file's name as the user would type it: `/proc/gpu0/NAME`.
    std::string path(const std::string &name) const;

    Result<Info> info() const;
    Result<std::vector<Engine>> engines() const;
    /// Detail::brief through NVIDIA's driver: without PBDMAs and channels, `faulted` and `reload`,
    /// for one call of it; from elsewhere that is the same as the full state.
    Result<std::vector<EngineState>> engine_states(Detail detail = Detail::full) const;
    /// Detail::brief from `runlistY_brief`, or from `runlistY` in a folder that lacks it.
    Result<Runlist> runlist(std::uint32_t id, Detail detail = Detail::full) const;
    Result<std::vector<AddressSpaceUse>> address_spaces() const;
    /// ErrorCode::unsupported where copy engines are physical or their wiring is not public.
    Result<CopyTopology> copy_topology() const;
    Result<GpcTopology> gpc_topology() const;
    /// ErrorCode::unsupported where the files are not NVIDIA's driver's (Source::driver).
    Result<Owners> owners() const;
    Result<WorkDistributor> work_distributor() const;
    /// Runlist id to whether its scheduling is on; without those that cannot be read.
    Result<std::map<std::uint32_t, bool>> scheduling() const;
    Result<std::uint64_t> local_memory_bytes() const;
    Result<std::uint64_t> ptimer_ns() const;

    /// Walks page tables. @p request is in the form of `translate` (docs/proc.md):
    /// `PDB[:APERTURE] VA [OPTION]…` or `RUNLIST:CHANNEL VA [base]`.
    Result<Translation> translate(const std::string &request) const;

    /// Context switches of GR0 in the next @p ms milliseconds, for which it waits: of all users for
    /// root, of own processes for others. ErrorCode::unsupported where NVIDIA's driver is not the
    /// source (Source::driver).
    Result<ContextSwitches> context_switches(std::uint32_t ms) const;

    /// The same as they happen, from now on.
    Result<std::unique_ptr<SwitchReader>> follow_switches() const;

    /// Makes a request; the result is what the control answered, mostly nothing.
    Result<std::string> perform(const Request &request) const;

    /// Makes a request that is undone when the Lease ends.
    Result<Lease> lease(const Request &request) const;

    /// For many changes of what these processes have now: of all of them, or of none. Of those that
    /// share a TSG (MPS) all are to be named. ErrorCode::unsupported where NVIDIA's driver is not
    /// the source (Source::driver).
    Result<std::unique_ptr<TaskHold>> hold(Pids pids, const HoldOptions &options = {}) const;

    /// One hold of each process, in the order of @p pids, after one search for all: the search
    /// takes as long as that of a single hold(). A process is named once.
    Result<TaskHolds> hold_each(Pids pids, const HoldOptions &options = {}) const;

    /// What helpers of holds and leases left changed on this GPU when they were killed, as they
    /// wrote it down in /run/nvdebug. ErrorCode::denied to others than root,
    /// ErrorCode::unsupported where NVIDIA's driver is not the source.
    Result<LeftOvers> left_overs() const;

    /// Puts that back for these processes, or for all if none is named. A process that was forked
    /// for it goes on with what NVIDIA's driver refuses.
    Result<LeftOvers> restore(Pids pids) const;

  private:
    Tree tree_;
    std::uint32_t index_;
};

/// The GPUs of a tree by rising index. None is no error: the list is empty.
NVDEBUG_API Result<std::vector<Gpu>> gpus(const Tree &tree);

} // namespace nvdebug
