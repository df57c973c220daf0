// SPDX-License-Identifier: MIT OR GPL-2.0
// A stand-in for NVIDIA's driver. It takes the same ioctls, and a test can make it refuse, fail or
// return garbage. It counts what is open and mapped, and notes requests that no reader should make.
#pragma once

#include "lib/driver/kernel.hpp"
#include "lib/driver/rm_abi.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>
#include <vector>

namespace driver_test {

namespace rm = nvdebug::driver::rm;

class StandIn final : public nvdebug::driver::Kernel {
  public:
    StandIn();
    ~StandIn() override;
    StandIn(const StandIn &) = delete;
    StandIn &operator=(const StandIn &) = delete;

    // --- state ---
    std::string version = "580.159.04";
    enum class Layout { current, until_530, unknown } layout = Layout::current;
    bool root = true;
    std::vector<rm::Card> cards;
    void add_card(std::uint32_t minor, std::uint8_t bus);
    std::uint64_t memory_bytes = 1 << 30;
    /// Returns a register of the GPU; nullopt: the GPU has no such register.
    std::function<std::optional<std::uint32_t>(std::uint32_t offset)> registers;
    std::function<std::uint32_t(std::uint64_t address)> memory;
    std::map<std::string, std::string> files; ///< small files that can be read

    /// An object of a client: a TSG, a channel or another one, by its class.
    struct Object {
        std::uint32_t parent, object_class;
        std::uint64_t timeslice_us = 0; // of a TSG
        rm::MemoryInfo instance = {};   // of a channel
        std::uint32_t gpu_id = 1U << 8; // of a subdevice
        std::uint32_t interleave = 0;   // of a TSG
    };
    using Objects = std::map<std::uint32_t, Object>; // by name
    struct Process {
        std::string command = "task", cgroup = "0::/task\n";
        std::uint64_t started = 1;
        std::uint32_t parent = 1;
        std::uint32_t gpu = 0; // the minor number of its GPU, if it uses_gpu
        std::string status = "Name:\ttask\nUid:\t7\t8\t9\t10\nGid:\t1\t1\t1\t1\n";
        std::set<std::uint32_t> clients = {}; // of its descriptor of /dev/nvidiactl
        bool hidden = false, denied = false, uses_gpu = true;
        std::set<std::uint32_t> other_gpus = {}; // numbers (rm::Card::minor) of more GPUs
        unsigned copies = 0;                     // of its descriptor of /dev/nvidiactl (dup())
        /// The first thread has ended, and another thread goes on (other_thread).
        bool first_thread_ended = false;
    };
    /// The number of that thread is the pid plus this.
    static constexpr std::uint32_t other_thread = 1'000'000;
    std::map<std::uint32_t, Process> processes; ///< all processes except the one that reads
    std::map<std::uint32_t, Objects> others;    ///< objects of other processes' clients
    /// Adds a process with a client that has one TSG with these instance blocks. Returns the
    /// client.
    std::uint32_t add_process(std::uint32_t pid, const std::vector<std::uint64_t> &instances);
    /// Ends a process. Its clients end when no process has a descriptor of them any more.
    void end_process(std::uint32_t pid);

    /// A change that was made through the client of a process. Changes by forked processes are
    /// recorded in order, too.
    struct Change {
        std::uint32_t client, object, command; ///< object is the channel for commands that disable
                                               ///< channels
        std::uint64_t value;                   ///< for channels, 1 means that the
                                               ///< request enables the channel
        int by;                                ///< pid of the process that made the call; 0: the
                                               ///< client's own process
        std::int64_t ns = 0;                   ///< by CLOCK_MONOTONIC, once it is kept
    };
    /// Change::command if a descriptor of process `client` was closed.
    static constexpr std::uint32_t closed = 0;
    [[nodiscard]] std::vector<Change> changes() const;
    /// Changes a TSG as the process itself would.
    void set_timeslice(std::uint32_t client, std::uint32_t tsg, std::uint64_t us) {
        keep({client, tsg, rm::SetTimeslice::command, us, 0});
    }
    /// The context switches of the first GPU that the driver records once it is asked to, and how
    /// the record fails.
    std::vector<rm::SwitchRecord> switches;
    /// The recorded switches of the other GPUs, by rm::Card::gpu_id.
    std::map<std::uint32_t, std::vector<rm::SwitchRecord>> switches_of;
    std::uint32_t put_beyond = 0; ///< added to the reported place of the last record
    std::uint64_t dropped = 0;
    bool has_switches = true;             ///< false: the driver does not record switches
    std::function<std::uint64_t()> clock; ///< the GPU's clock in ns; none: requests for it fail
    /// The clock of a GPU that goes differently, by rm::Card::gpu_id.
    std::map<std::uint32_t, std::function<std::uint64_t()>> clock_of;
    /// Makes the effect of a change on the GPU. Called once for each change, before the GPU is
    /// read.
    std::function<void(const Change &)> effect;
    /// Called before each query to a client of another process.
    std::function<void()> before_question;
    /// Called for each change, in the process that makes the call.
    std::function<void(const Change &)> noted;
    /// The processes are processes of this machine, and pidfds are real.
    bool real_processes = false;
    /// Called before each ioctl, without the lock.
    std::function<void()> before_ioctl;
    /// Called before each ioctl with its request, without the lock.
    std::function<void(unsigned number, const void *argument)> before_request;
    /// The GPUs that clients of readers have opened: rm::Card::gpu_id by client.
    std::map<std::uint32_t, std::uint32_t> gpus_of;
    /// Called before the recorded switches are returned.
    std::function<void()> before_flush;
    /// Called before a folder is listed, without the lock.
    std::function<void()> before_list;
    /// Called before a descriptor is duplicated.
    std::function<void()> before_take;

    // --- failures ---
    std::map<std::string, int> cannot_open;         ///< path to errno
    std::size_t descriptors_most = ~std::size_t{0}; ///< descriptors that can be taken at once; more
                                                    ///< get EMFILE
    std::size_t most_taken = 0;                     ///< the most that were taken at once
    /// Other programs make and end this many clients, which uses up names.
    void use_up_names(std::uint32_t names);
    bool cannot_map = false; ///< mmap() fails
    /// The number of the ioctl, from 1, that fails with this errno.
    std::uint64_t fail = 0;
    int fail_with = 0;
    /// The number of the ioctl, from 1, that gets this status.
    std::uint64_t deny = 0;
    std::uint32_t deny_with = 0;
    bool lists_channels = true;   ///< false: rm::ChannelList is not answered
    bool tells_interleave = true; ///< 580.159.04 does not return the level
    /// The stand-in answers changes as if it had made them, and makes none.
    bool takes_without_effect = false;
    /// The number of the change, from 1, that is refused with this status.
    std::uint64_t refuse_change = 0;
    std::uint32_t refuse_with = rm::not_supported;
    /// Refuses @p times changes from the @p nth change on, counted over all processes from now on.
    /// The default status is NV_ERR_TIMEOUT, which the driver returns if the GPU's firmware answers
    /// late. With @p all_the_same, a refused change is made anyway.
    void refuse_from(std::uint64_t nth, std::uint64_t times = 1, std::uint32_t status = 0x65,
                     bool all_the_same = false);
    /// Returns how many changes were refused since refuse_from().
    [[nodiscard]] std::uint64_t refused() const;
    /// Returns how many changes all processes have asked for since then.
    [[nodiscard]] std::uint64_t asked_by_all() const;
    /// Returns the status with which a change is refused; 0: it is made. Called in the process that
    /// makes the call.
    std::function<std::uint32_t(const rm::Control &)> refuses;
    /// Changes each answer before the caller has it.
    std::function<void(unsigned number, void *answer, std::size_t bytes)> garble;

    // --- account ---
    std::uint64_t ioctls = 0, register_calls = 0, registers_read = 0, mappings = 0;
    /// Returns the ioctls of forked processes, which the counters above leave out.
    [[nodiscard]] std::uint64_t ioctls_of_others() const;
    std::uint64_t questions = 0; ///< queries to clients of other processes
    std::uint64_t asked_to_change = 0;
    std::size_t most_at_once = 0;
    std::vector<std::string> wrongs; ///< requests that no reader should make
    std::size_t open_files() const { return open_.size(); }
    std::size_t mapped() const { return mapped_.size() + event_mapped_.size(); }
    std::size_t driver_mappings() const { return prepared_.size(); }
    /// Forgets the mappings of clients that ended without unmapping.
    void forget_mappings() { prepared_.clear(); }

    int open(const std::string &path) override;
    int access(const std::string &path) override;
    void close(int descriptor) override;
    int ioctl(int descriptor, unsigned long request, void *argument) override;
    const void *map(int descriptor, std::size_t bytes) override;
    void unmap(const void *address, std::size_t bytes) override;
    std::string read(const std::string &path) override;
    int list(const std::string &path, std::vector<std::string> &names) override;
    std::optional<std::uint64_t> device(const std::string &path) override;
    bool is_root() override { return root; }
    std::uint32_t self() override { return 1; }
    /// Makes other threads wait with their calls while the result lives.
    [[nodiscard]] std::unique_lock<std::recursive_mutex> stop() { return std::unique_lock(lock_); }
    bool has_thread_descriptors = true; ///< false: Linux is older than 6.9
    bool host_numbers = true;           ///< false: this process is in a PID namespace of its own
    bool counts_as_host() override { return host_numbers; }
    /// The time stands still unless a test moves it, so that the machine's load cuts no look.
    std::chrono::steady_clock::time_point time = {};
    std::chrono::steady_clock::time_point now() override { return time; }
    int process(std::uint32_t pid) override;
    int thread(std::uint32_t tid) override;
    int take(int process, int descriptor) override;
    /// Forks while no other thread is in a call, because that call would never end in the child.
    int fork() override;
    /// Returns the living processes with this name that were forked with this stand-in.
    [[nodiscard]] std::set<pid_t> forked(const std::string &name) const;

  private:
    struct Prepared {
        std::uint64_t begin, bytes;
    };

    int answer(int descriptor, unsigned number, void *argument, std::size_t bytes);
    int alloc(int descriptor, void *argument, std::size_t bytes);
    std::uint32_t make(int descriptor, std::uint32_t parent, std::uint32_t object,
                       std::uint32_t which, void *params);
    std::uint32_t control(int descriptor, const rm::Control &control);
    std::uint32_t question(const rm::Control &control);
    std::uint32_t events(const rm::Control &control);
    std::uint32_t change(const rm::Control &control, const Objects &objects);
    std::uint32_t change_or_refuse(const rm::Control &control, const Objects &objects);
    std::uint32_t disable(const rm::Control &control, const Objects &objects);
    void keep(const Change &change);
    std::uint64_t latest(const rm::Control &control, std::uint32_t command,
                         std::uint64_t before) const;
    void take_effect();
    /// @param rest gets the rest of the path; `fd` also for the folder of a thread
    Process *process_of(const std::string &path, std::string &rest);
    std::uint32_t read_registers(const rm::RegisterOps &request);
    std::uint32_t prepare(rm::Map &map);
    void wrong(std::string what) { wrongs.push_back(std::move(what)); }

    /// Protects the calls. It is recursive, because callbacks may make calls.
    std::recursive_mutex lock_;

    struct Shared; // shared with forked processes
    struct Life {
        int read, write; // a pipe: its end for writing is closed when the process ends
    };

    // These numbers are above those of real descriptors.
    int next_ = 100'000;
    Shared *shared_;
    const int self_;                      // the process in which the stand-in was made
    std::uint32_t effects_ = 0;           // changes that have taken effect
    std::map<std::uint32_t, Life> lives_; // by pid
    std::map<int, std::uint32_t> held_;   // pid, by the descriptor of the process
    std::set<int> held_threads_;          // the descriptors in held_ that belong to threads
    std::map<std::uint32_t, std::set<std::uint32_t>> dying_; // clients, by pid
    std::uint32_t next_client_ = rm::first_client + 1;       // counted up, with a wrap at the end
    std::uint32_t new_client();
    std::map<int, std::string> open_;
    std::map<int, std::uint32_t> taken_;             // pid, by the descriptor here
    std::map<int, std::set<std::uint32_t>> objects_; // by the client's descriptor
    std::map<std::uint64_t, Prepared> prepared_;     // by the driver's name for the mapping
    std::map<int, Prepared> ready_;                  // by the descriptor for which it was prepared
    struct Mapped {
        std::uint64_t begin;
        std::vector<std::uint32_t> words;
    };
    std::map<const void *, Mapped> mapped_;
    using Named = std::pair<std::uint32_t, std::uint32_t>; // the client, and its name
    std::map<Named, std::uint64_t> event_memory_;          // bytes
    std::map<int, Named> event_maps_;                      // by the descriptor for which it was
                                                           // prepared
    std::map<Named, std::vector<std::uint64_t> *> event_words_;
    std::map<std::uint32_t, Named> events_; // header and records, by client
    std::map<const void *, std::unique_ptr<std::vector<std::uint64_t>>> event_mapped_;
    void fill(Mapped &mapped) const;
    std::uint64_t next_linear_ = 0x7f0000000000;
};

/// Counts how often each channel was disabled. The real driver does so, and a channel runs again
/// after as many requests that enable it (measured on an H100 with 580.159.04).
class DisableCounts {
  public:
    /// Takes a request that disables or enables a channel. Returns whether the channel is enabled
    /// now.
    bool take(const StandIn::Change &change) {
        std::uint32_t &count = counts_[{change.client, change.object}];
        if (!change.value)
            count++;
        else if (count)
            count--;
        return count == 0;
    }

  private:
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> counts_;
};

} // namespace driver_test
