// SPDX-License-Identifier: MIT OR GPL-2.0
// Joins the processes and channels that NVIDIA's driver names with runlists, and finds the channels
// that a request means.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/driver/kernel.hpp"
#include "lib/driver/ownership.hpp"
#include "nvdebug/error.hpp"
#include "nvdebug/task.hpp"
#include "task_request.hpp"

namespace nvdebug::driver {

inline constexpr std::uint64_t ns_per_us = 1000;

/// Processes with their channels, by the names of runlists and of this library, and by the driver's
/// names.
class DriverTasks {
  public:
    DriverTasks(Owned owned, std::vector<Runlist> lists);

    [[nodiscard]] const Owned &owned() const { return owned_; }
    [[nodiscard]] const Owners &owners() const { return on_lists_.owners(); }
    [[nodiscard]] const OwnersOnLists &on_lists() const { return on_lists_; }
    /// Joins the same channels with newly read lists.
    void update(std::vector<Runlist> lists) { on_lists_.update(std::move(lists)); }

    /// Returns the driver's names of a channel of owners().
    [[nodiscard]] const ClientChannel &client_channel(const OwnedChannel &channel) const;
    [[nodiscard]] const Process &process(const OwnedChannel &channel) const;
    [[nodiscard]] std::vector<Process> &processes() { return owned_.processes; }

  private:
    Owned owned_; ///< its channels have the order of owners().channels
    OwnersOnLists on_lists_;
};

using OwnedChannels = std::vector<const OwnedChannel *>;

/// Reads the GPU's runlists as they are now; returns none if this user may not read them.
using ReadLists = std::function<Result<std::vector<Runlist>>(Detail)>;

/// Returns how much of the lists is needed to plan and verify the request.
[[nodiscard]] Detail detail_for(const TaskRequest &request);

/// Reads the lists, and then finds the processes and their objects on the GPU.
[[nodiscard]] Result<DriverTasks> find_tasks(Ownership &ownership, const Card &card,
                                             const TaskRequest &request,
                                             const ReadLists &read_lists);

/// Returns `train[4711]`.
[[nodiscard]] std::string name_of(const Process &process);

/// Returns the channels that a request means: all channels of its processes, the channels that it
/// targets, and one channel of each TSG that it targets. Fails if a process or a target has no
/// channel that this process may change.
[[nodiscard]] Result<OwnedChannels> find_channels(Kernel &kernel, const DriverTasks &tasks,
                                                  const TaskRequest &request);

/// Returns the TSGs of the channels. Channels without a TSG are left out.
[[nodiscard]] std::vector<OwnedTsg> tsgs_in(const OwnedChannels &channels);

/// A channel of a TSG whose context the runlists show, and the context's preemption mode. Lists
/// print a context that several channels share only once, below the first channel.
struct ContextMode {
    const OwnedChannel *channel;
    PreemptionMode mode;
};
[[nodiscard]] std::optional<ContextMode> context_mode(const DriverTasks &tasks,
                                                      const OwnedTsg &tsg);

} // namespace nvdebug::driver
