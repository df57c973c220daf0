// SPDX-License-Identifier: MIT OR GPL-2.0
// The system calls that the driver source makes. Tests replace them with a stand-in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nvdebug::driver {

/// Each function works as the system call of its name, but returns an error as -errno. Several
/// threads may call them at once.
class Kernel {
  public:
    virtual ~Kernel() = default;

    /// Opens for reading and writing, because the driver takes no requests otherwise. Closed on
    /// exec.
    virtual int open(const std::string &path) = 0;
    /// Returns 0 if this user may open the file in that way. Opens nothing, so that no device wakes.
    virtual int access(const std::string &path) = 0;
    virtual void close(int descriptor) = 0;
    virtual int ioctl(int descriptor, unsigned long request, void *argument) = 0;
    /// Maps for reading only. Returns nullptr on failure.
    virtual const void *map(int descriptor, std::size_t bytes) = 0;
    virtual void unmap(const void *address, std::size_t bytes) = 0;

    /// Returns the text of a small file; empty if it cannot be read.
    virtual std::string read(const std::string &path) = 0;
    /// Adds the names in a folder to @p names.
    virtual int list(const std::string &path, std::vector<std::string> &names) = 0;
    /// Returns the number of the character device at @p path, and follows links; empty: not a
    /// device. For a descriptor (/proc/PID/fd/N), only a file with a name of NVIDIA's is examined:
    /// any other file may be on a file system that does not answer.
    virtual std::optional<std::uint64_t> device(const std::string &path) = 0;

    /// Returns whether the effective user is root in this user namespace.
    virtual bool is_root() = 0;
    /// Returns the number of this process.
    virtual std::uint32_t self() = 0;
    /// Returns whether this process sees the same process numbers as the driver, which uses the
    /// host's.
    virtual bool counts_as_host() = 0;
    /// Returns a descriptor of a process (pidfd_open()). It becomes readable when the process has
    /// ended, and never refers to a later process with the same number.
    virtual int process(std::uint32_t pid) = 0;
    /// Returns such a descriptor of one thread, readable once the thread has ended. -EINVAL: Linux
    /// is older than 6.9.
    virtual int thread(std::uint32_t /*tid*/) { return -EINVAL; }
    /// Duplicates a descriptor of another process or thread into this process (pidfd_getfd()). Both
    /// then refer to the same open file.
    virtual int take(int process, int descriptor) = 0;
    /// Forks without the handlers of the C library. The end of the child sends no signal.
    virtual int fork() = 0;

    /// Returns the time, for deadlines and pauses.
    virtual std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }
};

/// Returns the kernel that runs this process.
std::shared_ptr<Kernel> running_kernel();

} // namespace nvdebug::driver
