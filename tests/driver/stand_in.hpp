// SPDX-License-Identifier: MIT OR GPL-2.0
// A stand-in for NVIDIA's driver: it takes the same ioctls, and may refuse, err or talk nonsense.
// It keeps account of what is open and mapped, and of what no reader should ask.
#pragma once

#include "driver/kernel.hpp"
#include "driver/rm_abi.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace driver_test {

namespace rm = nvdebug::driver::rm;

class StandIn final : public nvdebug::driver::Kernel {
  public:
    StandIn();

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
    };
    using Objects = std::map<std::uint32_t, Object>; // by name
    struct Process {
        std::string command = "task", cgroup = "0::/task\n";
        std::uint64_t started = 1;
        std::set<std::uint32_t> clients = {}; // of its descriptor of /dev/nvidiactl
        bool hidden = false, denied = false, uses_gpu = true;
    };
    std::map<std::uint32_t, Process> processes; ///< but for the one that reads
    std::map<std::uint32_t, Objects> others;    ///< objects of their clients
    /// A process with a client that has one TSG of these instance blocks; returns its client.
    std::uint32_t add_process(std::uint32_t pid, const std::vector<std::uint64_t> &instances);
    /// Called before each question to a client of another process.
    std::function<void()> before_question;
    /// Called before a descriptor is taken.
    std::function<void()> before_take;

    // --- what it does wrong ---
    std::map<std::string, int> cannot_open; ///< path to errno
    bool cannot_map = false;                ///< mmap() fails
    /// Of the ioctls, from 1, the one that fails with this errno.
    std::uint64_t fail = 0;
    int fail_with = 0;
    /// The one whose status is this.
    std::uint64_t deny = 0;
    std::uint32_t deny_with = 0;
    /// What is done to each answer before the caller has it.
    std::function<void(unsigned number, void *answer, std::size_t bytes)> garble;

    // --- what was asked of it ---
    std::uint64_t ioctls = 0, register_calls = 0, registers_read = 0, mappings = 0;
    std::uint64_t questions = 0; ///< to clients of other processes
    std::size_t most_at_once = 0;
    std::vector<std::string> wrongs; ///< what a reader must not ask
    std::size_t open_files() const { return open_.size(); }
    std::size_t mapped() const { return mapped_.size(); }
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
    std::uint32_t self() override { return 1; }
    int take(std::uint32_t pid, int descriptor) override;

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
    Process *process_of(const std::string &path, std::string &rest);
    std::uint32_t read_registers(const rm::RegisterOps &request);
    std::uint32_t prepare(rm::Map &map);
    void wrong(std::string what) { wrongs.push_back(std::move(what)); }

    int next_ = 3;
    std::uint32_t next_client_ = rm::first_client + 1;
    std::map<int, std::string> open_;
    std::map<int, std::uint32_t> taken_;             // pid, by the descriptor here
    std::map<int, std::set<std::uint32_t>> objects_; // by the client's descriptor
    std::map<std::uint64_t, Prepared> prepared_;     // by the driver's name for it
    std::map<int, Prepared> ready_;                  // by the descriptor it is for
    std::map<const void *, std::vector<std::uint32_t>> mapped_;
    std::uint64_t next_linear_ = 0x7f0000000000;
};

} // namespace driver_test
