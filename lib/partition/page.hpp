// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Functions that make, find, read and write the page of a task (state.hpp).
#pragma once

#include <optional>
#include <string_view>
#include <sys/types.h>

#include "state.hpp"

namespace nvtaskset {

/// The purpose for which a page is opened.
enum class Access {
    look,   ///< to read it; the page is mapped read-only, and the process is no part of the task
    change, ///< to change another process' task; the process is no part of the task
    join,   ///< the process is part of the task, and keeps the page open
};

/// A mapped page. make() and make_unshared() set errno if they fail.
class Page {
  public:
    /// Makes a page without partitions.
    [[nodiscard]] static std::optional<Page> make();
    /// Makes a page that no other process can find, for when make() fails.
    [[nodiscard]] static std::optional<Page> make_unshared();
    /// Maps the page of a descriptor, which stays open. Returns nullopt if the descriptor has no
    /// page, or a page of another version.
    [[nodiscard]] static std::optional<Page> open(int descriptor, Access access);
    /// Maps the page that process @p pid has as descriptor @p number. It opens nothing but a page,
    /// because a process may give any file or device the name of a page.
    [[nodiscard]] static std::optional<Page> of_process(pid_t pid, int number, Access access);
    Page(Page &&other) noexcept;
    Page &operator=(Page &&other) noexcept;
    ~Page();

    const State &state() const { return *state_; }
    /// Returns the state, or nullptr if the page was opened to look.
    State *writable() const { return access_ == Access::look ? nullptr : state_; }
    ino_t inode() const { return inode_; }
    /// Returns the descriptor of a page that was made or joined. It is never 0 to 2, is closed on
    /// exec, and stays open after this object is destroyed.
    int descriptor() const { return descriptor_; }

    /// Returns the GPU's slot, or nullptr if it has none.
    const Slot *find(const Uuid &uuid) const;
    /// Returns the GPU's slot, and takes one if it has none. Returns nullptr if all slots are
    /// taken, or if the page was opened to look.
    Slot *take(const Uuid &uuid) const;
    /// Sets the partition of a GPU. Returns false if there is no slot. Two threads or processes
    /// must not do this at the same time.
    bool set(const Partition &partition) const;
    /// Lets the task use the whole GPU again. Returns false if there is no slot.
    bool clear(const Uuid &uuid) const;

    /// Returns the GPU's gate, or nullptr if the GPU has no slot.
    const Gate *find_gate(const Uuid &uuid) const;
    /// Returns the requests on the GPU, or nullptr if the GPU has no slot.
    const Work *find_work(const Uuid &uuid) const;
    /// Sets the user's limit of launches in flight, where 0 is no limit. Returns false if there is
    /// no slot.
    bool limit(const Uuid &uuid, std::uint32_t in_flight) const;
    /// Leases a limit or a demand until a time (gate.hpp), before which the caller renews it. 0
    /// ends the lease. Returns false if there is no slot.
    bool lease_limit(const Uuid &uuid, std::uint32_t in_flight, std::uint64_t until_us) const;

    /// Leases TPCs to the task (MaskLease) until @p until_us, before which the caller renews the
    /// lease. Returns false if there is no slot.
    bool lease_mask(const Partition &partition, std::uint64_t until_us) const;
    /// Ends the lease of TPCs. Returns false if there is no slot.
    bool end_mask(const Uuid &uuid) const;

  private:
    Page(State *state, Access access, ino_t inode)
        : state_(state), access_(access), inode_(inode) {}
    static Page adopt(void *memory, ino_t inode);
    bool write(const Uuid &uuid, const Setting &setting) const;
    Gate *take_gate(const Uuid &uuid) const;

    State *state_;
    Access access_;
    ino_t inode_;
    int descriptor_ = -1;
};

/// Returns the setting of the slot's GPU, or nullopt if it changes all the time, which no nvtaskset
/// does.
[[nodiscard]] std::optional<Setting> read_setting(const Slot &slot);
/// Returns the partition of the slot's GPU, or nullopt if there is none.
[[nodiscard]] std::optional<Partition> read_partition(const Slot &slot);
/// The TPCs that a lease leaves to a task.
struct LeasedMask {
    std::uint64_t until_us;
    std::uint32_t sequence; ///< differs after each change
    std::uint32_t largest_gpc;
    Bits disabled;
};
/// Returns the lease that holds at a time, or nullopt if there is none, or if it changes all the
/// time.
[[nodiscard]] std::optional<LeasedMask> read_mask(const MaskLease &lease, std::uint64_t now_us);
/// Returns true if there is a partition on any GPU.
bool has_partition(const State &state);

/// Moves a descriptor to a high number, which is closed on exec. High numbers collide neither with
/// closed standard streams nor with the numbers that scripts use.
/// @return the new number, or @p descriptor if there is no other, or -1 with errno
int lift(int descriptor);

/// The flag with which nvtaskset opens pages to look at them. It has no other effect on a page.
extern const int only_looks;

} // namespace nvtaskset
