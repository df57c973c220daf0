// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Turns a ResourceClaim of resource.k8s.io/v1 into tenants of nvqos. Pure functions.
///
/// The scheduler has written into the claim which devices it has, and how much of each (the
/// capacity `share`, in percent). The claim's parameters add what is no number to be summed up:
/// `cap`, `latency`, `timeslice` and `gang`. The claim is the tenant, so all its containers have
/// the share together. A claim on several GPUs is one tenant on all of them, a gang. Devices with
/// different goals, or several parts of one GPU, are different tenants, because nvqos keeps one
/// goal for a tenant. Claims of several nodes with the same name in `gang` are one gang.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/base/container_device.hpp"

namespace nvdebug::kubernetes {

using Json = nlohmann::json;
using base::OrSentence;

inline constexpr const char *driver_name = "gpu.nvdebug.io";
/// The name of the capacity in devices and claims, in percent of a GPU's time.
inline constexpr const char *share_capacity = "share";

/// A claim as kubelet names it. A claim that is made anew with the same name has another uid.
struct ClaimId {
    std::string space; ///< its namespace
    std::string name;
    std::string uid;
    bool operator==(const ClaimId &) const = default;

    /// Returns `NAMESPACE/NAME` for sentences.
    [[nodiscard]] std::string text() const { return space + "/" + name; }
};

/// Returns whether all parts of the id are there, and the uid can be a part of names of files,
/// devices and tenants.
[[nodiscard]] bool is_claim_id(const ClaimId &id);

/// A part of a device, which the scheduler has given to a claim.
struct ClaimDevice {
    std::string request; ///< of the claim; `gpu/large` if the request has alternatives
    std::string pool, device;
    std::string share_id; ///< empty: the scheduler gave none
    bool operator==(const ClaimDevice &) const = default;
};

/// A tenant of nvqos for a claim or a part of it.
struct ClaimTenant {
    /// `claim:UID`, or `claim:gang/NAMESPACE/GANG` if other nodes have the same gang. A second
    /// tenant of the claim has `/2` behind it.
    std::string name;
    std::string cdi_name;          ///< of its device in CDI: `claim-UID`, `claim-UID-2`
    std::string goal;              ///< as `share:30%,cap:50%`
    bool is_gang = true;           ///< false: its tasks on several GPUs do not wait for each other
    bool has_nodes = false;        ///< its gang has tasks on other nodes, too
    std::vector<std::string> gpus; ///< names as nvqos takes them, one for each device
    std::vector<ClaimDevice> devices; ///< on these GPUs, in the same order
    bool operator==(const ClaimTenant &) const = default;

    /// Returns `gang=off` or `gang=nodes`, as it stands behind a goal; empty: neither.
    [[nodiscard]] std::string gang_word() const {
        return has_nodes ? "gang=nodes" : is_gang ? "" : "gang=off";
    }
};

/// Fails with a sentence if the object has another uid.
[[nodiscard]] OrSentence<void> expect_uid(const Json &claim, const ClaimId &id);

/// Returns the tenants of a claim.
/// @param claim the ResourceClaim as the API server has it
/// @param pool the devices of this node
/// @param gpus by the name of a device, the GPU's name for nvqos
/// Fails with a sentence if the claim is another one than @p id, has no device of this node, or has
/// parameters that make no sense.
[[nodiscard]] OrSentence<std::vector<ClaimTenant>>
tenants_of_claim(const Json &claim, const ClaimId &id, const std::string &pool,
                 const std::map<std::string, std::string> &gpus);

} // namespace nvdebug::kubernetes
