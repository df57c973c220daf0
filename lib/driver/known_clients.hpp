// SPDX-License-Identifier: MIT OR GPL-2.0
// Which clients of the RM there are, and which descriptor they were made through, as far as that is
// known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace nvdebug::driver {

/// Of a process, as /proc has it: another file may have the number later.
struct Descriptor {
    std::uint32_t pid;
    std::uint64_t started;
    int number;
    auto operator<=>(const Descriptor &) const = default;
};

/// Clients with an owner, and ownerless ones, which have a number each that rises from one that is
/// found to the next.
///
/// A process without the GPU may have been sent the descriptor of one that has it. So one client of
/// each of its descriptors counts as ownerless, too, and others are asked about that one: if it is
/// of the same open file, so are all.
class KnownClients {
  public:
    /// Of the ownerless clients those that a descriptor was asked about: all from one number to
    /// another. The newest ones come first, as a new process' client is among them.
    struct Asked {
        std::uint64_t oldest, newest;
        void note(std::uint64_t number) { (number > newest ? newest : oldest) = number; }
    };

    /// For a look: descriptors that there are, of these those of processes with its GPU. Clients of
    /// others become ownerless: they may stay open in a child, or in a process that was sent it.
    void begin_look(const std::set<Descriptor> &seen, std::set<Descriptor> with_gpu);

    /// nullptr: it has none that is known.
    const Descriptor *owner_of(std::uint32_t client) const;
    /// Is its owner one that is asked in this look whether it still is? Those without the GPU are
    /// not.
    bool is_checked(std::uint32_t client) const;
    /// nullptr: none is known.
    const std::set<std::uint32_t> *clients_of(const Descriptor &at) const;
    void own(std::uint32_t client, const Descriptor &at);
    /// It has another owner, or none.
    void disown(std::uint32_t client);
    /// The number of the descriptor is another file's.
    void disown_all(const Descriptor &at);
    /// It lives no more.
    void remove(std::uint32_t client);

    /// @param client that lives, and is found anew
    void add_unowned(std::uint32_t client);
    bool is_unowned(std::uint32_t client) const { return numbers_.contains(client); }
    std::uint32_t unowned(std::uint64_t number) const { return unowned_.at(number); }
    /// The number of the one that a descriptor is to be asked about next.
    std::optional<std::uint64_t> next_unowned(const Asked &asked) const;

    // A descriptor is asked about less while its process does not have the GPU, which counts for
    // itself.
    /// nullptr: it was not asked so far.
    const Asked *find_asked(const Descriptor &at) const;
    Asked &asked(const Descriptor &at);
    void mark_all_asked(const Descriptor &at) { asked(at) = {0, found_}; }

  private:
    bool has_gpu(const Descriptor &at) const { return with_gpu_.contains(at); }
    void take_from_owner(std::uint32_t client);
    void remove_unowned(std::uint32_t client);

    std::set<Descriptor> with_gpu_;
    std::map<std::uint32_t, Descriptor> owners_;          // by client
    std::map<Descriptor, std::set<std::uint32_t>> owned_; // the same by descriptor
    std::map<std::uint64_t, std::uint32_t> unowned_;      // by number
    std::map<std::uint32_t, std::uint64_t> numbers_;      // the same by client
    std::uint64_t found_ = 0;                             // the last number
    std::map<std::pair<bool, Descriptor>, Asked> asked_;  // with the GPU, or without
};

} // namespace nvdebug::driver
