// SPDX-License-Identifier: MIT OR GPL-2.0
// The system calls that the driver source makes. A test puts a stand-in in their place.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nvdebug::driver {

/// As the system calls of these names, but for errors: they are returned as -errno. Several threads
/// may call them at once.
class Kernel {
  public:
    virtual ~Kernel() = default;

    /// For reading and writing (the driver takes no requests otherwise), closed on exec.
    virtual int open(const std::string &path) = 0;
    virtual void close(int descriptor) = 0;
    virtual int ioctl(int descriptor, unsigned long request, void *argument) = 0;
    /// For reading only. nullptr: it failed.
    virtual const void *map(int descriptor, std::size_t bytes) = 0;
    virtual void unmap(const void *address, std::size_t bytes) = 0;

    /// The text of a small file; empty if it cannot be read.
    virtual std::string read(const std::string &path) = 0;
    /// Adds the names in a folder to @p names.
    virtual int list(const std::string &path, std::vector<std::string> &names) = 0;
    /// The number of the character device that the file is, links followed; empty: it is none. Of a
    /// descriptor (/proc/PID/fd/N) only a file of NVIDIA's is looked at: others may be on a file
    /// system that does not answer.
    virtual std::optional<std::uint64_t> device(const std::string &path) = 0;

    /// Is the effective user root, of this user namespace?
    virtual bool is_root() = 0;
    /// Which process this is.
    virtual std::uint32_t self() = 0;
    /// Are numbers of processes those that the driver uses (the host's), in /proc and in calls?
    virtual bool counts_as_host() = 0;
    /// A descriptor of a process (pidfd_open()): ready to be read once it has ended, and never of
    /// another that gets its number.
    virtual int process(std::uint32_t pid) = 0;
    /// The same of one thread, ready to be read once the thread has ended. -EINVAL: Linux is older
    /// than 6.9.
    virtual int thread(std::uint32_t /*tid*/) { return -EINVAL; }
    /// A descriptor of such a process or thread, as one of this: the same open file
    /// (pidfd_getfd()).
    virtual int take(int process, int descriptor) = 0;
    /// Without the C library's own work; the end of the child sends no signal.
    virtual int fork() = 0;

    /// The time, for what has a bound or is tried again.
    virtual std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }
};

/// The running one.
std::shared_ptr<Kernel> running_kernel();

} // namespace nvdebug::driver
