// SPDX-License-Identifier: MIT OR GPL-2.0
// A stand-in for NVIDIA's driver: it takes the same ioctls, and may refuse, err or talk nonsense.
// It keeps account of what is open and mapped, and of what no reader should ask.
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

    // --- what it is ---
    std::string version = "580.159.04";
    enum class Layout { current, until_530, unknown } layout = Layout::current;
    bool root = true;
    std::vector<rm::Card> cards;
    void add_card(std::uint32_t minor, std::uint8_t bus);
    std::uint64_t memory_bytes = 1 << 30;
    /// Of the GPU; none: it has no such register.
    std::function<std::optional<std::uint32_t>(std::uint32_t offset)> registers;
    std::function<std::uint32_t(std::uint64_t address)> memory;
    std::map<std::string, std::string> files; ///< small ones that can be read

    /// An object of a client: `tsg`, `channel` and so on by its class.
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
        std::string status = "Name:\ttask\nUid:\t7\t8\t9\t10\nGid:\t1\t1\t1\t1\n";
        std::set<std::uint32_t> clients = {}; // of its descriptor of /dev/nvidiactl
        bool hidden = false, denied = false, uses_gpu = true;
        unsigned copies = 0; // of its descriptor of /dev/nvidiactl (dup())
        /// Its first thread has ended, and another one goes on (other_thread).
        bool first_thread_ended = false;
    };
    /// Added to a pid, that thread's number.
    static constexpr std::uint32_t other_thread = 1'000'000;
    std::map<std::uint32_t, Process> processes; ///< but for the one that reads
    std::map<std::uint32_t, Objects> others;    ///< objects of their clients
    /// A process with a client that has one TSG of these instance blocks; returns its client.
    std::uint32_t add_process(std::uint32_t pid, const std::vector<std::uint64_t> &instances);
    /// It ends: its clients go once no process has a descriptor of its any more.
    void end_process(std::uint32_t pid);

    /// What a process' client was made to take, in the order of it; of a forked process, too.
    struct Change {
        std::uint32_t client, object, command; ///< of channels that are disabled: the channel
        std::uint64_t value;                   ///< of channels: 1 is enabled
        int by;                                ///< which process asked
    };
    /// Of Change::command: a descriptor of process `client` was closed.
    static constexpr std::uint32_t closed = 0;
    [[nodiscard]] std::vector<Change> changes() const;
    /// What a process does to its own TSG: by 0.
    void set_timeslice(std::uint32_t client, std::uint32_t tsg, std::uint64_t us) {
        keep({client, tsg, rm::SetTimeslice::command, us, 0});
    }
    /// Context switches that the driver records, from when it is asked to; and how it goes wrong.
    std::vector<rm::SwitchRecord> switches;
    std::uint32_t put_beyond = 0; ///< added to the place that it reports
    std::uint64_t dropped = 0;
    bool has_switches = true;             ///< else it does not record them
    std::function<std::uint64_t()> clock; ///< of the GPU, in ns; none: requests for it fail
    /// What becomes of a change on the GPU: called once for each, before the GPU is looked at.
    std::function<void(const Change &)> effect;
    /// Called before each question to a client of another process.
    std::function<void()> before_question;
    /// Called for each change, in the process that asked for it.
    std::function<void(const Change &)> noted;
    /// Its processes are those of this machine: pidfds are real.
    bool real_processes = false;
    /// Called before each ioctl, without the lock.
    std::function<void()> before_ioctl;
    /// The same, with the request.
    std::function<void(unsigned number, const void *argument)> before_request;
    /// The GPUs that clients of readers have asked for: rm::Card::gpu_id by client. What is
    /// recorded of switches is of the first one.
    std::map<std::uint32_t, std::uint32_t> gpus_of;
    /// Called before it hands out what it recorded of switches.
    std::function<void()> before_flush;
    /// Called before a folder is listed, without the lock.
    std::function<void()> before_list;
    /// Called before a descriptor is taken.
    std::function<void()> before_take;

    // --- what it does wrong ---
    std::map<std::string, int> cannot_open;         ///< path to errno
    std::size_t descriptors_most = ~std::size_t{0}; ///< that are taken at once; then EMFILE
    std::size_t most_taken = 0;                     ///< there were at once
    /// Other programs make clients and end: so many names are used up.
    void use_up_names(std::uint32_t names);
    bool cannot_map = false; ///< mmap() fails
    /// Of the ioctls, from 1, the one that fails with this errno.
    std::uint64_t fail = 0;
    int fail_with = 0;
    /// The request that gets this status.
    std::uint64_t deny = 0;
    std::uint32_t deny_with = 0;
    bool lists_channels = true;   ///< else it does not answer rm::ChannelList
    bool tells_interleave = true; ///< not with 580.159.04
    /// Changes are answered as if they had been made.
    bool takes_without_effect = false;
    /// Of the changes, from 1, the one that is refused with this status.
    std::uint64_t refuse_change = 0;
    std::uint32_t refuse_with = rm::not_supported;
    /// Of the changes that all processes ask for from now on, the @p nth and those behind it, @p
    /// times together, are refused with this status: by default NV_ERR_TIMEOUT, as where the GPU's
    /// firmware answers late. @p all_the_same: they are made, nevertheless.
    void refuse_from(std::uint64_t nth, std::uint64_t times = 1, std::uint32_t status = 0x65,
                     bool all_the_same = false);
    /// How many were refused since, and how many were asked for.
    [[nodiscard]] std::uint64_t refused() const;
    [[nodiscard]] std::uint64_t asked_by_all() const;
    /// Called for each change in the process that asks for it: is it refused with that status?
    std::function<std::uint32_t(const rm::Control &)> refuses;
    /// What is done to each answer before the caller has it.
    std::function<void(unsigned number, void *answer, std::size_t bytes)> garble;

    // --- what was asked of it ---
    std::uint64_t ioctls = 0, register_calls = 0, registers_read = 0, mappings = 0;
    /// By forked processes, each of which counts its own above.
    [[nodiscard]] std::uint64_t ioctls_of_others() const;
    std::uint64_t questions = 0; ///< to clients of other processes
    std::uint64_t asked_to_change = 0;
    std::size_t most_at_once = 0;
    std::vector<std::string> wrongs; ///< what a reader must not ask
    std::size_t open_files() const { return open_.size(); }
    std::size_t mapped() const { return mapped_.size() + event_mapped_.size(); }
    std::size_t driver_mappings() const { return prepared_.size(); }
    /// Those of clients that ended without.
    void forget_mappings() { prepared_.clear(); }

    int open(const std::string &path) override;
    void close(int descriptor) override;
    int ioctl(int descriptor, unsigned long request, void *argument) override;
    const void *map(int descriptor, std::size_t bytes) override;
    void unmap(const void *address, std::size_t bytes) override;
    std::string read(const std::string &path) override;
    int list(const std::string &path, std::vector<std::string> &names) override;
    std::optional<std::uint64_t> device(const std::string &path) override;
    bool is_root() override { return root; }
    std::uint32_t self() override { return 1; }
    /// While it lives other threads wait with their calls.
    [[nodiscard]] std::unique_lock<std::recursive_mutex> stop() { return std::unique_lock(lock_); }
    bool has_thread_descriptors = true; ///< else Linux is older than 6.9
    bool host_numbers = true;           ///< else this process is in a PID namespace of its own
    bool counts_as_host() override { return host_numbers; }
    /// It stands still unless a test moves it, so that no look is cut by the machine's clock.
    std::chrono::steady_clock::time_point time = {};
    std::chrono::steady_clock::time_point now() override { return time; }
    int process(std::uint32_t pid) override;
    int thread(std::uint32_t tid) override;
    int take(int process, int descriptor) override;
    /// While no other thread is in a call: that call would never end in the child.
    int fork() override;
    /// Returns the processes of that name that were forked with this stand-in, and live.
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
    /// @param rest of the path; `fd` also for the folder of a thread
    Process *process_of(const std::string &path, std::string &rest);
    std::uint32_t read_registers(const rm::RegisterOps &request);
    std::uint32_t prepare(rm::Map &map);
    void wrong(std::string what) { wrongs.push_back(std::move(what)); }

    /// Of what is called; what calls back may call.
    std::recursive_mutex lock_;

    struct Shared; // with processes that are forked
    struct Life {
        int read, write; // a pipe: once it is closed for writing, the process has ended
    };

    // No number of a descriptor that is one.
    int next_ = 100'000;
    Shared *shared_;
    const int self_;                      // its process, in which it was made
    std::uint32_t effects_ = 0;           // changes that have taken effect
    std::map<std::uint32_t, Life> lives_; // by pid
    std::map<int, std::uint32_t> held_;   // pid, by the descriptor of the process
    std::set<int> held_threads_;          // of these, those of a thread
    std::map<std::uint32_t, std::set<std::uint32_t>> dying_; // clients, by pid
    std::uint32_t next_client_ = rm::first_client + 1;       // counted up, from the start again
    std::uint32_t new_client();
    std::map<int, std::string> open_;
    std::map<int, std::uint32_t> taken_;             // pid, by the descriptor here
    std::map<int, std::set<std::uint32_t>> objects_; // by the client's descriptor
    std::map<std::uint64_t, Prepared> prepared_;     // by the driver's name for it
    std::map<int, Prepared> ready_;                  // by the descriptor it is for
    struct Mapped {
        std::uint64_t begin;
        std::vector<std::uint32_t> words;
    };
    std::map<const void *, Mapped> mapped_;
    using Named = std::pair<std::uint32_t, std::uint32_t>; // the client, and its name
    std::map<Named, std::uint64_t> event_memory_;          // bytes
    std::map<int, Named> event_maps_;                      // by the descriptor it is for
    std::map<Named, std::vector<std::uint64_t> *> event_words_;
    std::map<std::uint32_t, Named> events_; // header and records, by client
    std::map<const void *, std::unique_ptr<std::vector<std::uint64_t>>> event_mapped_;
    void fill(Mapped &mapped) const;
    std::uint64_t next_linear_ = 0x7f0000000000;
};

} // namespace driver_test
