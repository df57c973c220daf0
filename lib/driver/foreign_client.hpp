// SPDX-License-Identifier: MIT OR GPL-2.0
// A client that another process has of the RM, and the channels that it made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "query_budget.hpp"
#include "rm.hpp"

namespace nvdebug::driver {

/// How much was passed over.
struct Count {
    std::uint32_t hidden = 0, denied = 0, ended = 0, refused = 0;
};

/// A channel as its client names it.
struct ClientChannel {
    std::size_t process, control;              ///< which of the processes, and of its descriptors
    std::uint32_t client;                      ///< the RM's name
    std::uint32_t subdevice, tsg, channel;     ///< the client's names; tsg 0: it is in none
    std::optional<std::uint64_t> timeslice_us; ///< of the TSG
    std::optional<rm::MemoryInfo> instance;    ///< empty: only root may know it
};

/// A client of another process, queried through a descriptor that was taken. Only questions are
/// asked.
class ForeignClient {
  public:
    /// @param count, budget are charged with what it takes; they live as long as this
    ForeignClient(Kernel &kernel, int descriptor, std::uint32_t client, Count &count,
                  QueryBudget &budget)
        : kernel_(kernel), descriptor_(descriptor), client_(client), count_(count),
          budget_(budget) {}

    /// Was the client made through this descriptor?
    [[nodiscard]] bool is_of_descriptor();
    /// Its channels on a GPU; their process and control are left to the caller.
    [[nodiscard]] std::vector<ClientChannel> channels(const Card &card);

  private:
    template <typename Params>
    Answer put(std::uint32_t object, Params &params);
    /// Was it answered? Once the client has gone nothing more is asked: the driver would log it.
    template <typename Params>
    bool ask(std::uint32_t object, Params &params);

    std::optional<std::uint64_t> info(std::uint32_t object, std::uint32_t what);
    std::optional<std::uint32_t> class_of(std::uint32_t object);
    std::uint32_t parent_of(std::uint32_t object);

    bool find_object(std::uint32_t object);

    /// Finds channels_ by rm::ChannelList, a thousand names in a question, and the devices and
    /// subdevices that they are in. False: not all of it was found, as the driver does not answer
    /// that, or names are others than CUDA's.
    bool find_channels_in_groups();
    /// Finds the objects one after the other from @p first on. Returns whether @p enough did.
    bool walk_until(std::uint32_t first, const std::function<bool()> &enough);
    [[nodiscard]] std::optional<std::uint32_t> any_device() const;
    /// Returns whether one of the names from @p first on is a channel's; empty: not answered.
    std::optional<bool> ask_group(std::uint32_t device, std::uint32_t first);
    bool has_object_in_group(std::uint32_t first);
    std::optional<std::uint32_t> device_of(std::uint32_t channel);

    void find_objects_from(std::uint32_t first, std::uint32_t most_missed);
    /// The driver does not list names, so each is tried.
    void find_objects();

    /// Those of the GPU, by the device that they are in.
    std::map<std::uint32_t, std::uint32_t> subdevices_of(const Card &card);
    std::optional<ClientChannel>
    channel_of(std::uint32_t channel, const std::map<std::uint32_t, std::uint32_t> &subdevices);
    std::optional<rm::MemoryInfo> instance_of(std::uint32_t channel, std::uint32_t subdevice);
    std::optional<std::uint64_t> timeslice_of(std::uint32_t tsg);

    Kernel &kernel_;
    const int descriptor_;
    const std::uint32_t client_;
    Count &count_;
    QueryBudget &budget_;
    bool over_ = false;                              ///< the client has gone
    std::map<std::uint32_t, std::uint32_t> objects_; ///< name to class
    std::set<std::uint32_t> channels_;
    std::map<std::uint32_t, std::uint32_t> parents_;
    std::map<std::uint32_t, std::optional<std::uint64_t>> timeslices_;
};

} // namespace nvdebug::driver
