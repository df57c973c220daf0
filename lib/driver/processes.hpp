// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads /proc about processes, and has the descriptors that are duplicated from them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel.hpp"

namespace nvdebug::driver {

/// A descriptor of this process, closed at its end; a number below 0: none.
class Taken {
  public:
    Taken() = default;
    Taken(std::shared_ptr<Kernel> kernel, int number)
        : kernel_(std::move(kernel)), number_(number) {}
    Taken(Taken &&other) noexcept
        : kernel_(std::move(other.kernel_)), number_(std::exchange(other.number_, -1)) {}
    Taken &operator=(Taken &&other) noexcept {
        std::swap(kernel_, other.kernel_);
        std::swap(number_, other.number_);
        return *this;
    }
    ~Taken() {
        if (number_ >= 0)
            kernel_->close(number_);
    }
    [[nodiscard]] int number() const { return number_; }

  private:
    std::shared_ptr<Kernel> kernel_;
    int number_ = -1;
};

struct Process {
    std::uint32_t pid;
    std::uint64_t started;            ///< in ticks since the machine started
    std::optional<std::uint32_t> uid; ///< the effective one, as this process sees it
    std::string command, cgroup;
    std::optional<std::uint32_t> launcher = {}; ///< launcher_of()
    Taken held; ///< the process (Kernel::process()), while it has controls here
    struct Control {
        int there; ///< the descriptor's number in that process
        Taken here;
    };
    std::vector<Control> controls; ///< its descriptors of /dev/nvidiactl through which it made
                                   ///< channels
    bool denied = false;           ///< at least one of its descriptors may not be duplicated
};

/// Returns `/proc/PID/`.
[[nodiscard]] std::string folder_of(std::uint32_t pid);
/// Returns the number that a name in a folder of /proc stands for; empty: the name is not a number.
[[nodiscard]] std::optional<std::uint32_t> number_of(std::string_view name);

/// Returns the effective user of a process; empty: the process has ended.
[[nodiscard]] std::optional<std::uint32_t> uid_of(Kernel &kernel, std::uint32_t pid);
/// Returns when a process was started, in ticks since the machine started (proc_pid_stat(5));
/// empty: the process has ended.
[[nodiscard]] std::optional<std::uint64_t> start_of(Kernel &kernel, std::uint32_t pid);

/// Returns the process that started a process, unless that is process 1 or a program that starts
/// unrelated ones: a shell, a service manager, a server of sessions.
[[nodiscard]] std::optional<std::uint32_t> launcher_of(Kernel &kernel, std::uint32_t pid);

/// The folder that lists the descriptors of a process.
struct DescriptorFolder {
    int error = 0;                            ///< -errno of listing them; 0: no error
    std::string path = {};                    ///< `/proc/PID/fd/`, or of a thread
    std::optional<std::uint32_t> thread = {}; ///< the thread whose folder it is, if the first
                                              ///< thread has ended
    std::vector<std::string> names = {};
};
/// Lists the descriptors of a process. If its first thread has ended, only the folders of the other
/// threads list them, and 1024 of these threads are tried.
[[nodiscard]] DescriptorFolder descriptors_of(Kernel &kernel, std::uint32_t pid);

/// Returns whether a process has the file of this GPU (Kernel::device()) open. Returns false also
/// if this process may not look.
[[nodiscard]] bool has_open(Kernel &kernel, std::uint32_t pid, std::uint64_t gpu);

/// Returns the path of /proc/PID/cgroup that has ids, or else the longest path: with version 1 of
/// cgroups each controller has a path.
[[nodiscard]] std::string cgroup_of(Kernel &kernel, std::uint32_t pid);
/// Returns /proc/PID/comm without its line break.
[[nodiscard]] std::string command_of(Kernel &kernel, std::uint32_t pid);

} // namespace nvdebug::driver
