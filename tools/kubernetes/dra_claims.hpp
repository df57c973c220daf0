// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The claims that are prepared on this node: asked for at nvqos, and written down as files of
/// CDI.
///
/// A claim's tenant is held from Prepare to Unprepare. The driver itself is its first holder: nvqos
/// counts the promise before a container starts, and refuses a claim that does not fit. Containers
/// join by their hooks. If the driver is killed, tenants of running containers stay, and the next
/// driver joins them again by the files.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dra_api.hpp"
#include "dra_claim_file.hpp"
#include "nvqos_state.hpp"

namespace nvdebug::kubernetes {

/// A device of a claim, as kubelet gets it.
struct PreparedDevice {
    ClaimDevice device;
    std::vector<std::string> cdi_ids;
    bool operator==(const PreparedDevice &) const = default;
};

/// A claim and what nvqos has refused of it since it was prepared.
struct ClaimState {
    PreparedClaim claim;
    std::map<std::string, std::string> refusals = {}; ///< sentences by the name of the tenant
};

struct ClaimSettings {
    std::string pool;   ///< the devices of this node
    std::string socket; ///< of nvqos
    std::uint32_t pid;  ///< of this process, as nvqos sees it
    ClaimFiles files;
    bool names_gpus = false; ///< containers get the device `nvidia.com/gpu=UUID`, too
};

/// Returns the name by which requests to nvqos, and containers, name a GPU.
[[nodiscard]] std::string name_of(const KeptGpu &gpu);
/// Returns the name of the GPU as a device of Kubernetes: `gpu-0`.
[[nodiscard]] std::string device_of(const KeptGpu &gpu);

/// May be used by several threads.
class Claims {
  public:
    /// Reads the claims that an earlier driver has written down.
    Claims(const ApiServer &api, ClaimSettings settings);

    /// Asks nvqos for the claim's goals and writes its file. The same claim gets the same answer.
    /// Fails with a sentence, and is as before then.
    [[nodiscard]] OrSentence<std::vector<PreparedDevice>> prepare(const ClaimId &id);
    /// Releases the claim. A claim that is not known is fine.
    [[nodiscard]] OrSentence<void> unprepare(const ClaimId &id);

    /// Makes the tenants of nvqos fit the claims: holds the ones that nvqos has lost, and releases
    /// the ones of claims that ended while no nvqos answered. Returns the state of nvqos afterwards.
    [[nodiscard]] Outcome<NvqosState> hold_again();
    /// Removes the claims that the API server does not have any more. kubelet unprepares a claim
    /// before it goes, unless the claim's node was away. Fails if a claim could not be looked up.
    [[nodiscard]] ApiOutcome<void> forget_deleted();

    [[nodiscard]] std::vector<ClaimState> all() const;

  private:
    [[nodiscard]] OrSentence<PreparedClaim>
    wanted(const ClaimId &id, const ApiOutcome<Json> &object,
           const std::optional<PreparedClaim> &earlier) const;
    [[nodiscard]] Outcome<void> hold(const ClaimTenant &tenant) const;
    void release(const std::string &tenant) const;
    [[nodiscard]] OrSentence<void> put(const PreparedClaim &claim);
    [[nodiscard]] OrSentence<void> take_off(const std::string &uid);
    [[nodiscard]] std::vector<PreparedDevice> devices_of(const PreparedClaim &claim) const;

    const ApiServer &api_;
    const ClaimSettings settings_;
    /// Held while nvqos is asked, so that hold_again() sees no claim that is half prepared.
    std::mutex asking_;
    mutable std::mutex mutex_;
    std::map<std::string, ClaimState> claims_; ///< by uid; guarded by mutex_
};

} // namespace nvdebug::kubernetes
