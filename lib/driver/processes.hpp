// SPDX-License-Identifier: MIT OR GPL-2.0
// Processes as /proc has them, and descriptors that are taken of them.
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

/// A descriptor of this process; a number below 0: there is none.
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
    std::uint64_t started;            ///< in ticks since the machine was
    std::optional<std::uint32_t> uid; ///< the effective one, as this process sees it
    std::string command, cgroup;
    Taken held; ///< the process (Kernel::process()), while it has controls here
    struct Control {
        int there; ///< its number of it
        Taken here;
    };
    std::vector<Control> controls; ///< of its descriptors of /dev/nvidiactl those with channels
    bool denied = false;           ///< at least one of them may not be taken
};

/// `/proc/PID/`
[[nodiscard]] std::string folder_of(std::uint32_t pid);
/// The number that a name in a folder of /proc is; empty: it is none.
[[nodiscard]] std::optional<std::uint32_t> number_of(std::string_view name);

/// The effective user of a process; empty: it has ended.
[[nodiscard]] std::optional<std::uint32_t> uid_of(Kernel &kernel, std::uint32_t pid);
/// When a process was started, in ticks since the machine was (proc_pid_stat(5)); empty: it has
/// ended.
[[nodiscard]] std::optional<std::uint64_t> start_of(Kernel &kernel, std::uint32_t pid);

/// Where the descriptors of a process are listed.
struct DescriptorFolder {
    int error = 0;                            ///< -errno: they cannot be listed
    std::string path = {};                    ///< `/proc/PID/fd/`, or of a thread
    std::optional<std::uint32_t> thread = {}; ///< if the first thread has ended: one that has not
    std::vector<std::string> names = {};
};
/// Those of a process whose first thread has ended are listed for its other threads alone, of which
/// 1024 are tried.
[[nodiscard]] DescriptorFolder descriptors_of(Kernel &kernel, std::uint32_t pid);

/// Does a process have this file of a GPU (Kernel::device()) open? False also where this process
/// may not look.
[[nodiscard]] bool has_open(Kernel &kernel, std::uint32_t pid, std::uint64_t gpu);

/// Returns the path of /proc/PID/cgroup that has ids, or the longest: with version 1 of cgroups
/// there is one for each controller.
[[nodiscard]] std::string cgroup_of(Kernel &kernel, std::uint32_t pid);
/// /proc/PID/comm, without its line break.
[[nodiscard]] std::string command_of(Kernel &kernel, std::uint32_t pid);

} // namespace nvdebug::driver
