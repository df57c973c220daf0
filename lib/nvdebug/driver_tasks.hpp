// SPDX-License-Identifier: MIT OR GPL-2.0
// What processes have, as NVIDIA's driver and as runlists have it, and what a request means of it.
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

/// Processes with their channels: by the names that runlists and this library use, and by those of
/// the driver.
class DriverTasks {
  public:
    DriverTasks(Owned owned, std::vector<Runlist> lists);

    [[nodiscard]] const Owned &owned() const { return owned_; }
    [[nodiscard]] const Owners &owners() const { return on_lists_.owners(); }
    [[nodiscard]] const OwnersOnLists &on_lists() const { return on_lists_; }
    /// Joins the same channels with the lists as they are now.
    void update(std::vector<Runlist> lists) { on_lists_.update(std::move(lists)); }

    /// The driver's names of one of owners(), and its process with the descriptors that were taken.
    [[nodiscard]] const ClientChannel &client_channel(const OwnedChannel &channel) const;
    [[nodiscard]] const Process &process(const OwnedChannel &channel) const;
    [[nodiscard]] std::vector<Process> &processes() { return owned_.processes; }

  private:
    Owned owned_; ///< its channels are in the order of owners()
    OwnersOnLists on_lists_;
};

using OwnedChannels = std::vector<const OwnedChannel *>;

/// Reads the GPU's runlists as they are now; none: this user may not read them.
using ReadLists = std::function<Result<std::vector<Runlist>>(Detail)>;

/// How much of the lists a request is planned and verified by.
[[nodiscard]] Detail detail_for(const TaskRequest &request);

/// Reads the lists, then finds the processes with what they have on the GPU.
[[nodiscard]] Result<DriverTasks> find_tasks(Ownership &ownership, const Card &card,
                                             const TaskRequest &request,
                                             const ReadLists &read_lists);

/// `train[4711]`
[[nodiscard]] std::string name_of(const Process &process);

/// The channels that a request means: all of its processes; of its targets those, and of a TSG one.
/// Fails if a target or a process has none that this one may change.
[[nodiscard]] Result<OwnedChannels> find_channels(Kernel &kernel, const DriverTasks &tasks,
                                                  const TaskRequest &request);

/// The TSGs of some channels; what is in none is left out.
[[nodiscard]] std::vector<OwnedTsg> tsgs_in(const OwnedChannels &channels);

/// The channel of a TSG of which runlists show the context, with its preemption mode; empty: none
/// (copies), or not known. What another channel shares is printed once, below the first.
struct ContextMode {
    const OwnedChannel *channel;
    PreemptionMode mode;
};
[[nodiscard]] std::optional<ContextMode> context_mode(const DriverTasks &tasks,
                                                      const OwnedTsg &tsg);

} // namespace nvdebug::driver
