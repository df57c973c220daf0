// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads which channels a client of the RM has that another process made.
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

/// Counts of processes and objects that were left out, by reason.
struct Count {
    std::uint32_t hidden = 0, denied = 0, ended = 0, refused = 0;
};

/// A channel as its client names it.
struct ClientChannel {
    std::size_t process, control;              ///< indices of the process, and of its descriptor
    std::uint32_t client;                      ///< the RM's name for the client
    std::uint32_t subdevice, tsg, channel;     ///< the client's names; tsg 0: the channel is in no
                                               ///< TSG
    std::optional<std::uint64_t> timeslice_us; ///< of the TSG
    std::optional<rm::MemoryInfo> instance;    ///< empty: only root may know it
};

/// A client of another process, queried through a duplicate of that process's descriptor. The
/// requests only read.
class ForeignClient {
  public:
    /// @param count, budget are charged with each query, and must outlive this object
    ForeignClient(Kernel &kernel, int descriptor, std::uint32_t client, Count &count,
                  QueryBudget &budget)
        : kernel_(kernel), descriptor_(descriptor), client_(client), count_(count),
          budget_(budget) {}

    /// Returns whether the client was made through this descriptor.
    [[nodiscard]] bool is_of_descriptor();
    /// Returns the client's channels on a GPU. The caller fills in their process and control.
    [[nodiscard]] std::vector<ClientChannel> channels(const Card &card);

  private:
    template <typename Params>
    Answer put(std::uint32_t object, Params &params);
    /// Makes a query and returns whether the driver answered. After the client has ended, nothing
    /// more is queried, because the driver would log it.
    template <typename Params>
    bool ask(std::uint32_t object, Params &params);

    std::optional<std::uint64_t> info(std::uint32_t object, std::uint32_t what);
    std::optional<std::uint32_t> class_of(std::uint32_t object);
    std::uint32_t parent_of(std::uint32_t object);

    bool find_object(std::uint32_t object);

    /// Finds channels_ by rm::ChannelList, a thousand names in a query, and the devices and
    /// subdevices that the channels are in. Returns false if channels may be missing, because the
    /// driver does not answer this query or the names are not CUDA's.
    bool find_channels_in_groups();
    /// Finds the objects one after the other from @p first on. Returns whether @p enough became
    /// true.
    bool walk_until(std::uint32_t first, const std::function<bool()> &enough);
    [[nodiscard]] std::optional<std::uint32_t> any_device() const;
    /// Returns whether one of the names from @p first on is a channel's; empty: no answer.
    std::optional<bool> ask_group(std::uint32_t device, std::uint32_t first);
    bool has_object_in_group(std::uint32_t first);
    std::optional<std::uint32_t> device_of(std::uint32_t channel);

    void find_objects_from(std::uint32_t first, std::uint32_t most_missed);
    /// Tries one name after the other, because the driver does not list names.
    void find_objects();

    /// Returns the subdevices of the GPU, by the device that contains them.
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
    bool over_ = false;                              ///< the client has ended
    std::map<std::uint32_t, std::uint32_t> objects_; ///< name to class
    std::set<std::uint32_t> channels_;
    std::map<std::uint32_t, std::uint32_t> parents_;
    std::map<std::uint32_t, std::optional<std::uint64_t>> timeslices_;
};

} // namespace nvdebug::driver
