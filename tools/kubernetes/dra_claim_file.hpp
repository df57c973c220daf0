// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The CDI file of a claim. It is what container runtimes read, and the only place where a
/// prepared claim is written down: a driver that starts again reads its claims from these files.
///
/// A file has one device for each tenant, with a hook by which each container joins the tenant
/// before anything of its image runs. The hook's environment, which no container sees, has the rest
/// of the claim as JSON, because CDI 0.5.0 has no other place for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dra_claim.hpp"

namespace nvdebug::kubernetes {

inline constexpr const char *claim_kind = "nvdebug.io/qos";

struct PreparedClaim {
    ClaimId id;
    std::vector<ClaimTenant> tenants;
    bool operator==(const PreparedClaim &) const = default;
};

/// Returns the device of a tenant as kubelet passes it on: `nvdebug.io/qos=claim-UID`.
[[nodiscard]] std::string cdi_id_of(const ClaimTenant &tenant);

/// What is the same in all files of a driver.
struct ClaimFiles {
    std::string folder; ///< `/run/cdi`
    std::string nvqos;  ///< path of nvqos on the node, which runtimes run as the hook
    std::string socket; ///< of nvqos on the node
    bool sets_visible_devices =
        false; ///< containers get NVIDIA_VISIBLE_DEVICES with the claim's GPUs

    /// Writes the file, or replaces it as a whole.
    [[nodiscard]] OrSentence<void> write(const PreparedClaim &claim) const;
    /// Returns the claim; empty: there is no file with this uid that write() has made.
    [[nodiscard]] std::optional<PreparedClaim> read(const std::string &uid) const;
    [[nodiscard]] std::vector<PreparedClaim> read_all() const;
    /// Removes the file. A file that is not there is fine.
    [[nodiscard]] OrSentence<void> remove(const std::string &uid) const;

  private:
    [[nodiscard]] std::string path_of(const std::string &uid) const;
};

} // namespace nvdebug::kubernetes
