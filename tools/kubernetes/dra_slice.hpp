// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The ResourceSlice of this node (resource.k8s.io/v1): a device for each GPU, of which claims
/// consume the capacity `share`.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dra_api.hpp"
#include "dra_claim.hpp"
#include "dra_watch.hpp"

namespace nvdebug::kubernetes {

/// Where facts about GPUs are read.
struct MachineFolders {
    std::string sys = "/sys", proc = "/proc";
};

struct SliceSettings {
    std::string node;
    /// The sum of shares of a GPU, in percent. nvqos promises 99.3 % to two tenants and 98.6 % to
    /// four; with this sum it refuses nothing that the scheduler has counted.
    std::int64_t most_percent = 95;
    bool evicts = false; ///< a taint that lasts becomes NoExecute
    std::chrono::nanoseconds not_kept_for = std::chrono::minutes(1);
    MachineFolders machine = {};
};

/// Returns the value of the taint that the GPU has now: `nvqos-away`, `left-out` or `not-kept`;
/// empty: its goals are kept.
[[nodiscard]] std::optional<std::string> taint_of(const NvqosView &view, std::uint32_t gpu,
                                                  Clock::time_point now,
                                                  std::chrono::nanoseconds not_kept_for);

/// Since when each GPU has its taint, by number.
using TaintTimes = std::map<std::uint32_t, Clock::time_point>;

/// Returns the devices of a slice. With `evicts`, a taint that has lasted for twice `not_kept_for` is
/// NoExecute: a restart of nvqos, or one second in which a goal was not kept, ends no pod.
/// @param known the GPUs that nvqos has listed last, which have a taint while it is away
/// @param since of the last call; brought up to date
[[nodiscard]] Json devices_of(const NvqosView &view, const std::vector<KeptGpu> &known,
                              TaintTimes &since, Clock::time_point now,
                              const SliceSettings &settings);

/// Returns a version of NVIDIA's driver as a semantic version, which has three numbers without
/// zeros before them: `535.104.5`; empty: it cannot be one.
[[nodiscard]] std::string semantic_version(const std::string &text);

/// Keeps the slice at the API server. Used by one thread.
class SlicePublisher {
  public:
    using Log = std::function<void(const std::string &)>;
    SlicePublisher(const ApiServer &api, std::string node, Log log);

    /// Makes the slice have these devices, if it has others or is gone: kubelet removes the slices
    /// of its node when it starts. The server may drop fields behind a gate that is off; then the
    /// slice stays as the server has taken it.
    [[nodiscard]] ApiOutcome<void> publish(const Json &devices);
    /// Returns the devices of the slice that an earlier driver has left; an empty list: none.
    [[nodiscard]] ApiOutcome<Json> left_devices();
    /// Removes other slices of this driver and this node.
    [[nodiscard]] ApiOutcome<void> remove_stale();
    [[nodiscard]] ApiOutcome<void> remove();

  private:
    [[nodiscard]] Json slice_with(const Json &devices, Json metadata) const;
    [[nodiscard]] Json new_metadata() const;
    [[nodiscard]] ApiOutcome<void> write(const Json &devices, const ApiOutcome<Json> &live);
    void note_dropped(const Json &answer);

    const ApiServer &api_;
    const std::string node_;
    const std::string name_; ///< of the slice
    const Log log_;
    bool has_noted_dropped_ = false;
    std::int64_t generation_ = 0; ///< of the pool, as it was written last
    Json written_;                ///< devices that publish() has sent last; null: none yet
    Json answered_;               ///< the devices that the server has made of them
};

} // namespace nvdebug::kubernetes
