// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief A GPU, one folder of a tree. Every call reads the files again.
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

/// A GPU. Several threads may use distinct objects at once, even for the same GPU.
class NVDEBUG_API Gpu {
  public:
    Gpu(Tree tree, std::uint32_t index);

    std::uint32_t index() const { return index_; }
    const Tree &tree() const { return tree_; }
    /// Returns the folder relative to the tree's root: `gpu0`.
    std::string folder() const;
    /// Returns a file's path as the user would type it: `/proc/gpu0/NAME`.
    std::string path(const std::string &name) const;

    /// Returns the GPU's identity and features.
    Result<Info> info() const;
    /// Returns the engines that `device_info` lists.
    Result<std::vector<Engine>> engines() const;
    /// Returns the state of each engine. With Detail::brief and NVIDIA's driver, one call to the
    /// driver gets it, without PBDMAs, channels, `faulted` and `reload`. With any other source,
    /// Detail::brief is the full state.
    Result<std::vector<EngineState>> engine_states(Detail detail = Detail::full) const;
    /// Returns a runlist. Detail::brief reads `runlistY_brief`, or `runlistY` in a folder that
    /// lacks it.
    Result<Runlist> runlist(std::uint32_t id, Detail detail = Detail::full) const;
    /// Returns the address spaces of all TSGs.
    Result<std::vector<AddressSpaceUse>> address_spaces() const;
    /// Returns the wiring of copy engines. ErrorCode::unsupported where copy engines are physical
    /// or their wiring is not public.
    Result<CopyTopology> copy_topology() const;
    /// Returns GPCs, TPCs and SMs. Values that cannot be read are empty.
    Result<GpcTopology> gpc_topology() const;
    /// Returns which process made which channel. ErrorCode::unsupported unless NVIDIA's driver is
    /// the source (Source::driver).
    Result<Owners> owners() const;
    /// Returns the state of the compute work distributor.
    Result<WorkDistributor> work_distributor() const;
    /// Returns by runlist id whether scheduling is on. Unreadable runlists are left out.
    Result<std::map<std::uint32_t, bool>> scheduling() const;
    /// Returns the size of video memory in bytes.
    Result<std::uint64_t> local_memory_bytes() const;
    /// Returns the GPU's clock (PTIMER) in ns.
    Result<std::uint64_t> ptimer_ns() const;

    /// Walks page tables. @p request has the form of `translate` (docs/proc.md): `PDB[:APERTURE] VA
    /// [OPTION]…` or `RUNLIST:CHANNEL VA [base]`.
    Result<Translation> translate(const std::string &request) const;

    /// Records the context switches of GR0 for @p ms milliseconds. Root gets the switches of all
    /// users, others those of their own processes. ErrorCode::unsupported unless NVIDIA's driver is
    /// the source (Source::driver).
    Result<ContextSwitches> context_switches(std::uint32_t ms) const;

    /// Begins to record context switches, which the reader returns as they happen.
    Result<std::unique_ptr<SwitchReader>> follow_switches() const;

    /// Makes a request. Returns the answer of the control, which mostly is empty.
    Result<std::string> perform(const Request &request) const;

    /// Makes a request that is undone when the Lease ends.
    Result<Lease> lease(const Request &request) const;

    /// Prepares repeated changes of the TSGs and channels that these processes have now. A change
    /// applies to all of the processes or to none. Processes that share a TSG (MPS) must all be
    /// named. ErrorCode::unsupported unless NVIDIA's driver is the source (Source::driver).
    Result<std::unique_ptr<TaskHold>> hold(Pids pids, const HoldOptions &options = {}) const;

    /// Prepares a hold for each process, in the order of @p pids, each of which is named once. One
    /// search serves all, and takes as long as the search of a single hold().
    Result<TaskHolds> hold_each(Pids pids, const HoldOptions &options = {}) const;

    /// Returns the changes on this GPU that helpers of holds and leases have left because they were
    /// killed, as they wrote them down in /run/nvdebug. ErrorCode::denied for users other than
    /// root, ErrorCode::unsupported unless NVIDIA's driver is the source.
    Result<LeftOvers> left_overs() const;

    /// Restores the left-overs of these processes, or all left-overs if no process is named. If
    /// NVIDIA's driver refuses an undo, a forked process keeps trying.
    Result<LeftOvers> restore(Pids pids) const;

  private:
    Tree tree_;
    std::uint32_t index_;
};

/// Returns the GPUs of a tree by rising index. A tree without GPUs is no error.
NVDEBUG_API Result<std::vector<Gpu>> gpus(const Tree &tree);

/// The GPUs of a tree for a program whose user names none. NVIDIA's driver lists all GPUs of the
/// machine, also in a container or a unit that may open the device files of some of them only.
struct UsableGpus {
    std::vector<Gpu> gpus; ///< by rising index
    /// A sentence for each reason why GPUs are left out: `GPU 0 is left out: this container or unit
    /// has no access to it (/dev/nvidia0: No such file or directory)`.
    std::vector<std::string> left_out;
};

/// Returns the GPUs of a tree without those to which this process has no access. If it has access to
/// none, none is left out, and requests about them fail with the reason. Examines the device files
/// (access(2)) and opens none, so that it wakes no GPU and waits for none.
NVDEBUG_API Result<UsableGpus> usable_gpus(const Tree &tree);

} // namespace nvdebug
