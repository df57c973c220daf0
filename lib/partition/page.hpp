// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The shared page: making it, finding it, and reading and writing what holds for GPUs.
#pragma once

#include <optional>
#include <string_view>
#include <sys/types.h>

#include "state.hpp"

namespace nvtaskset {

/// What a page is opened for.
enum class Access {
    look,   ///< mapped read-only; the process is no part of the task
    change, ///< of another process' task; the process is no part of it
    join,   ///< the process is part of the task, and keeps the page open
};

/// A mapped page. Errors are errno, as nothing else can go wrong.
class Page {
  public:
    /// A new one, without partitions. nullopt: errno.
    [[nodiscard]] static std::optional<Page> make();
    /// One that no other process finds, where none can be made otherwise. nullopt: errno.
    [[nodiscard]] static std::optional<Page> make_unshared();
    /// That of @p descriptor, which is left alone. nullopt: it is none, or of another version.
    [[nodiscard]] static std::optional<Page> open(int descriptor, Access access);
    /// What process @p pid has as descriptor @p number. What is no page is not opened, whatever it
    /// is called: a process may give any file or device the name of one.
    [[nodiscard]] static std::optional<Page> of_process(pid_t pid, int number, Access access);
    Page(Page &&other) noexcept;
    Page &operator=(Page &&other) noexcept;
    ~Page();

    const State &state() const { return *state_; }
    /// nullptr: it was opened to look.
    State *writable() const { return access_ == Access::look ? nullptr : state_; }
    ino_t inode() const { return inode_; }
    /// Of a page that was made or joined; never 0 to 2; stays open when the page ends, and is
    /// closed on exec.
    int descriptor() const { return descriptor_; }

    /// The GPU's slot; nullptr: it has none.
    const Slot *find(const Uuid &uuid) const;
    /// The same, after one was taken for it if there was none; nullptr: all are taken, or it was
    /// opened to look.
    Slot *take(const Uuid &uuid) const;
    /// False: there is no slot. Not for two at once.
    bool set(const Partition &partition) const;
    /// All of the GPU is free for the task again. False: there is no slot.
    bool clear(const Uuid &uuid) const;

    /// The GPU's gate; nullptr: it has no slot.
    const Gate *find_gate(const Uuid &uuid) const;
    /// The same of what Gate's leases show.
    const Work *find_work(const Uuid &uuid) const;
    /// The task's user limits launches in flight; 0: no more. False: there is no slot.
    bool limit(const Uuid &uuid, std::uint32_t in_flight) const;
    /// A limit or a demand that holds until a time (gate.hpp) and is renewed before that; 0: no
    /// more. False: there is no slot.
    bool lease_limit(const Uuid &uuid, std::uint32_t in_flight, std::uint64_t until_us) const;

    /// TPCs for a while (MaskLease), renewed before @p until_us. False: there is no slot.
    bool lease_mask(const Partition &partition, std::uint64_t until_us) const;
    /// Ends that. False: there is no slot.
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

/// What holds for the slot's GPU. nullopt: it changes without end, which no nvtaskset does.
[[nodiscard]] std::optional<Setting> read_setting(const Slot &slot);
/// The partition. nullopt: there is none.
[[nodiscard]] std::optional<Partition> read_partition(const Slot &slot);
/// What a lease leaves at a time; nullopt: there is none, or it changes without end.
struct LeasedMask {
    std::uint64_t until_us;
    std::uint32_t sequence; ///< another one: it has changed
    std::uint32_t largest_gpc;
    Bits disabled;
};
[[nodiscard]] std::optional<LeasedMask> read_mask(const MaskLease &lease, std::uint64_t now_us);
/// Is there a partition on any GPU?
bool has_partition(const State &state);

/// The descriptor's file under a high number, closed on exec: where neither a closed standard
/// stream nor a script's own number is. @p descriptor is closed.
/// @return @p descriptor itself if there is no other number; -1: errno
int lift(int descriptor);

/// How an nvtaskset opens the pages of tasks that it looks at: for a page it means nothing else.
extern const int only_looks;

} // namespace nvtaskset
