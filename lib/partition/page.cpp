// SPDX-License-Identifier: MIT OR GPL-2.0
#include "page.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "gate.hpp"
#include "parse.hpp"

namespace nvtaskset {

const int only_looks = O_NONBLOCK;

namespace {

/// The limit of tries to read. A writer takes some nanoseconds, but a malicious page may change
/// forever.
constexpr int reads_max = 300;

struct File {
    dev_t major, minor;
    ino_t inode;
    uid_t owner;
    mode_t mode;
    std::uint64_t bytes;
};

/// Returns the facts of an open file without asking its file system, which might never answer.
std::optional<File> file_of(int descriptor) {
    struct statx found {};
    if (statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &found) < 0)
        return std::nullopt;
    return File{found.stx_dev_major, found.stx_dev_minor, found.stx_ino,
                found.stx_uid,       found.stx_mode,      found.stx_size};
}

/// Returns the facts of a regular file with the size of a page, if it is on the kernel's file
/// system for memfds, where no path leads.
std::optional<File> memfd_of(int descriptor) {
    const auto file = file_of(descriptor);
    if (!file || !S_ISREG(file->mode) || file->bytes != State::bytes)
        return std::nullopt;
    const int own = memfd_create(state_name, MFD_CLOEXEC);
    if (own < 0)
        return std::nullopt;
    const auto other = file_of(own);
    close(own);
    return other && other->major == file->major && other->minor == file->minor ? file
                                                                               : std::nullopt;
}

/// Reads the real, effective, saved and file system's user of a process. Returns false if they are
/// unknown.
bool users_of(pid_t pid, uid_t (&users)[4]) {
    char path[32], text[2048];
    std::snprintf(path, sizeof(path), "/proc/%d/status", pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const ssize_t bytes = read(file, text, sizeof(text));
    close(file);
    const std::string_view status(text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    constexpr std::string_view key = "\nUid:";
    std::size_t at = status.find(key);
    if (at == status.npos)
        return false;
    at += key.size();
    for (uid_t &user : users) {
        at = status.find_first_not_of('\t', at);
        if (at == status.npos)
            return false;
        const auto [end, error] =
            std::from_chars(status.data() + at, status.data() + status.size(), user);
        if (error != std::errc())
            return false;
        at = static_cast<std::size_t>(end - status.data());
    }
    return true;
}

/// Returns true if a page in the process may have this owner. A page belongs to the user that
/// started the task. The processes of the task may have changed their users.
bool is_expected_owner(uid_t owner, pid_t pid) {
    uid_t users[4];
    if (owner == 0 || owner == geteuid())
        return true;
    return users_of(pid, users) && (std::ranges::find(users, owner) != std::end(users) ||
                                    std::ranges::find(users, 0U) != std::end(users));
}

} // namespace

int lift(int descriptor) {
    constexpr int numbers[] = {900, 200, 3};
    for (const int lowest : numbers)
        if (descriptor < lowest)
            if (const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest); high >= 0) {
                close(descriptor);
                return high;
            }
    if (descriptor > STDERR_FILENO)
        return descriptor;
    const int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

namespace {

/// Calls ftruncate(). If that exceeds the limit of file sizes (ulimit -f), it fails with EFBIG, and
/// does not let the signal SIGXFSZ end the program.
int set_size(int descriptor, off_t bytes) {
    sigset_t limit, before, pending;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&pending);
    sigprocmask(SIG_BLOCK, &limit,
                &before); // pthread_sigmask() would need C library 2.32
    const int result = ftruncate(descriptor, bytes);
    const int error = errno;
    const timespec none{};
    if (result < 0 && error == EFBIG && !sigismember(&pending, SIGXFSZ))
        sigtimedwait(&limit, nullptr, &none);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return result;
}

} // namespace

Page Page::adopt(void *memory, ino_t inode) {
    auto *const state = static_cast<State *>(memory);
    state->version = State::current_version;
    state->magic = State::magic_number;
    return Page(state, Access::join, inode);
}

std::optional<Page> Page::make_unshared() {
    void *const memory =
        mmap(nullptr, State::bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? std::nullopt : std::optional(adopt(memory, 0));
}

std::optional<Page> Page::make() {
    int descriptor = memfd_create(state_name, MFD_ALLOW_SEALING | MFD_CLOEXEC);
    if (descriptor < 0)
        return std::nullopt;
    // With seals, no process can shrink the file below memory that others have mapped.
    if (set_size(descriptor, State::bytes) == 0 &&
        fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
        void *const memory =
            mmap(nullptr, State::bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        const auto file = file_of(descriptor);
        if (memory != MAP_FAILED && file) {
            Page page = adopt(memory, file->inode);
            page.descriptor_ = lift(descriptor);
            return page.descriptor_ < 0 ? std::nullopt : std::optional(std::move(page));
        }
    }
    const int error = errno;
    close(descriptor);
    errno = error;
    return std::nullopt;
}

std::optional<Page> Page::open(int descriptor, Access access) {
    const auto file = memfd_of(descriptor);
    if (!file)
        return std::nullopt;
    // A page without seals could shrink while it is mapped, and nvtaskset makes none.
    const int seals = fcntl(descriptor, F_GET_SEALS), needed = F_SEAL_SHRINK | F_SEAL_GROW;
    if (seals < 0 || (seals & needed) != needed)
        return std::nullopt;
    const int protection = access == Access::look ? PROT_READ : PROT_READ | PROT_WRITE;
    void *const memory = mmap(nullptr, State::bytes, protection, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED)
        return std::nullopt;
    Page page(static_cast<State *>(memory), access, file->inode);
    if (page.state().magic != State::magic_number || page.state().version != State::current_version)
        return std::nullopt;
    return page;
}

std::optional<Page> Page::of_process(pid_t pid, int number, Access access) {
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
    const int found = ::open(path, O_PATH | O_CLOEXEC);
    if (found < 0)
        return std::nullopt;
    int opened = -1;
    if (const auto file = memfd_of(found); file && is_expected_owner(file->owner, pid)) {
        std::snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
        opened = ::open(path, (access == Access::look ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOCTTY |
                                  only_looks);
    }
    close(found);
    if (opened < 0)
        return std::nullopt;
    auto page = open(opened, access);
    if (!page || access != Access::join) {
        close(opened);
        return page;
    }
    // From now on, other processes find the task by this descriptor.
    opened = lift(opened);
    if (opened < 0 || fcntl(opened, F_SETFL, 0) < 0)
        return std::nullopt;
    page->descriptor_ = opened;
    return page;
}

Page::Page(Page &&other) noexcept
    : state_(std::exchange(other.state_, nullptr)), access_(other.access_), inode_(other.inode_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

Page &Page::operator=(Page &&other) noexcept {
    std::swap(state_, other.state_);
    std::swap(access_, other.access_);
    std::swap(inode_, other.inode_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

Page::~Page() {
    if (state_)
        munmap(state_, State::bytes);
}

const Slot *Page::find(const Uuid &uuid) const {
    for (const Slot &slot : state_->slots)
        if (slot.owner.load() == Slot::taken && slot.uuid == uuid)
            return &slot;
    return nullptr;
}

Slot *Page::take(const Uuid &uuid) const {
    State *const state = writable();
    if (!state)
        return nullptr;
    for (Slot &slot : state->slots) {
        std::uint32_t owner = slot.owner.load();
        // Another process may be taking the slot for the same GPU, so wait for it. If that process
        // was killed, the slot is skipped after the last try.
        for (int read = 0; owner == Slot::being_taken && read < reads_max; read++) {
            sched_yield();
            owner = slot.owner.load();
        }
        if (owner == Slot::taken && slot.uuid == uuid)
            return &slot;
        if (owner != Slot::free)
            continue;
        if (!slot.owner.compare_exchange_strong(owner, Slot::being_taken))
            return take(uuid);
        slot.uuid = uuid;
        slot.owner.store(Slot::taken);
        state->generation++;
        return &slot;
    }
    return nullptr;
}

bool Page::write(const Uuid &uuid, const Setting &setting) const {
    Slot *const slot = take(uuid);
    if (!slot)
        return false;
    const std::uint32_t now = slot->sequence.load();
    // The write below is ordered after the previous store of the sequence, so that a reader of the
    // setting which is overwritten finds that the sequence has changed.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    slot->settings[(now + 1) % 2] = setting;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    slot->sequence.store(now + 1);
    writable()->generation++;
    return true;
}

bool Page::set(const Partition &partition) const {
    return write(partition.uuid, {Use::partition, partition});
}

bool Page::clear(const Uuid &uuid) const {
    return write(uuid, {Use::whole, {}});
}

const Gate *Page::find_gate(const Uuid &uuid) const {
    const Slot *const slot = find(uuid);
    return slot ? &state_->gates[slot - state_->slots] : nullptr;
}

const Work *Page::find_work(const Uuid &uuid) const {
    const Slot *const slot = find(uuid);
    return slot ? &state_->work[slot - state_->slots] : nullptr;
}

Gate *Page::take_gate(const Uuid &uuid) const {
    Slot *const slot = take(uuid);
    return slot ? &state_->gates[slot - state_->slots] : nullptr;
}

bool Page::limit(const Uuid &uuid, std::uint32_t in_flight) const {
    Gate *const gate = take_gate(uuid);
    if (!gate)
        return false;
    gate->limit = in_flight;
    state_->has_limits = 1;
    return true;
}

bool Page::lease_limit(const Uuid &uuid, std::uint32_t in_flight, std::uint64_t until_us) const {
    Gate *const gate = take_gate(uuid);
    if (!gate)
        return false;
    gate->lease = in_flight ? lease_word(in_flight, until_us) : 0;
    state_->has_limits = 1;
    return true;
}

std::optional<Setting> read_setting(const Slot &slot) {
    for (int read = 0; read < reads_max; read++) {
        const std::uint32_t before = slot.sequence.load();
        const Setting setting = slot.settings[before % 2];
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (slot.sequence.load() == before)
            return setting;
    }
    return std::nullopt;
}

bool Page::lease_mask(const Partition &partition, std::uint64_t until_us) const {
    const Slot *const slot = take(partition.uuid);
    if (!slot)
        return false;
    MaskLease &lease = writable()->masks[slot - state_->slots];
    if (lease.disabled != partition.disabled || lease.largest_gpc != partition.largest_gpc ||
        lease.sequence % 2) {
        // The number is already odd if a writer was killed while it wrote.
        const std::uint32_t writing = lease.sequence | 1;
        lease.sequence = writing;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        lease.disabled = partition.disabled;
        lease.largest_gpc = partition.largest_gpc;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        lease.sequence = writing + 1;
    }
    lease.until_us = until_us;
    return true;
}

bool Page::end_mask(const Uuid &uuid) const {
    const Slot *const slot = find(uuid);
    if (slot && writable())
        writable()->masks[slot - state_->slots].until_us = 0;
    return slot && writable();
}

std::optional<LeasedMask> read_mask(const MaskLease &lease, std::uint64_t now_us) {
    for (int read = 0; read < reads_max; read++) {
        const std::uint64_t until_us = lease.until_us;
        if (now_us >= until_us || until_us - now_us > lease_max_us)
            return std::nullopt;
        const std::uint32_t sequence = lease.sequence;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        const LeasedMask found{until_us, sequence, lease.largest_gpc, lease.disabled};
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (sequence % 2 == 0 && lease.sequence == sequence)
            return found;
        sched_yield();
    }
    return std::nullopt;
}

std::optional<Partition> read_partition(const Slot &slot) {
    const auto setting = read_setting(slot);
    return setting && setting->use == Use::partition ? std::optional(setting->partition)
                                                     : std::nullopt;
}

bool has_partition(const State &state) {
    return std::ranges::any_of(state.slots, [](const Slot &slot) {
        return slot.owner.load() == Slot::taken && read_partition(slot);
    });
}

} // namespace nvtaskset
