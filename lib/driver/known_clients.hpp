// SPDX-License-Identifier: MIT OR GPL-2.0
// Remembers which clients the RM has, and through which descriptor each was made, as far as known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace nvdebug::driver {

/// A descriptor of a process. The start of the process is included, because Linux reuses numbers.
struct Descriptor {
    std::uint32_t pid;
    std::uint64_t started;
    int number;
    auto operator<=>(const Descriptor &) const = default;
};

/// Clients with an owner, and ownerless clients. Each ownerless client has a number, which grows in
/// the order in which the clients were found.
///
/// A process without the GPU may have been sent the descriptor of a process that has the GPU. So
/// one client of each of its descriptors counts as ownerless, too, and other descriptors are asked
/// about that client. If it was made through the same open file, so were all clients of the
/// descriptor.
class KnownClients {
  public:
    /// The ownerless clients that a descriptor was asked about: all numbers from `oldest` to
    /// `newest`. New clients are asked about first, because a new process has made one of them.
    struct Asked {
        std::uint64_t oldest, newest;
        void note(std::uint64_t number) { (number > newest ? newest : oldest) = number; }
    };

    /// Begins a look. @p seen has all present descriptors, and @p with_gpu the ones whose process
    /// has the GPU. Clients of other descriptors become ownerless, because they may stay open in a
    /// child, or in a process that was sent the descriptor.
    void begin_look(const std::set<Descriptor> &seen, std::set<Descriptor> with_gpu);

    /// Returns the known owner of a client; nullptr: none.
    const Descriptor *owner_of(std::uint32_t client) const;
    /// Returns whether this look asks the owner of the client whether the client is still its own.
    /// Owners without the GPU are not asked.
    bool is_checked(std::uint32_t client) const;
    /// Returns the known clients of a descriptor; nullptr: none.
    const std::set<std::uint32_t> *clients_of(const Descriptor &at) const;
    void own(std::uint32_t client, const Descriptor &at);
    /// Called when the client turns out to have another owner, or none.
    void disown(std::uint32_t client);
    /// Called when the descriptor's number belongs to another file now.
    void disown_all(const Descriptor &at);
    /// Called when the client has ended.
    void remove(std::uint32_t client);

    /// @param client a living client that was just found
    void add_unowned(std::uint32_t client);
    bool is_unowned(std::uint32_t client) const { return numbers_.contains(client); }
    std::uint32_t unowned(std::uint64_t number) const { return unowned_.at(number); }
    /// Returns the number of the client that a descriptor is to be asked about next.
    std::optional<std::uint64_t> next_unowned(const Asked &asked) const;

    // A descriptor is asked about fewer clients while its process does not have the GPU. So its
    // progress is recorded separately for both states.
    /// Returns nullptr if the descriptor was not asked so far.
    const Asked *find_asked(const Descriptor &at) const;
    Asked &asked(const Descriptor &at);
    void mark_all_asked(const Descriptor &at) { asked(at) = {0, found_}; }

  private:
    bool has_gpu(const Descriptor &at) const { return with_gpu_.contains(at); }
    void take_from_owner(std::uint32_t client);
    void remove_unowned(std::uint32_t client);

    std::set<Descriptor> with_gpu_;
    std::map<std::uint32_t, Descriptor> owners_;          // by client
    std::map<Descriptor, std::set<std::uint32_t>> owned_; // by descriptor
    std::map<std::uint64_t, std::uint32_t> unowned_;      // by number
    std::map<std::uint32_t, std::uint64_t> numbers_;      // by client
    std::uint64_t found_ = 0;                             // the number of the last client found
    std::map<std::pair<bool, Descriptor>, Asked> asked_;  // by whether the process has the GPU, and
                                                          // by descriptor
};

} // namespace nvdebug::driver
