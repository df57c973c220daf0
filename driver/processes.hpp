// SPDX-License-Identifier: MIT OR GPL-2.0
// Processes that have a GPU open, and what they made on it: asked of NVIDIA's driver through their
// own descriptors.
#ifndef NVDEBUG_DRIVER_PROCESSES_HPP
#define NVDEBUG_DRIVER_PROCESSES_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel.hpp"
#include "nvdebug/error.hpp"
#include "rm.hpp"

namespace nvdebug::driver {

/** A descriptor of this process; a number below 0: there is none. */
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
    int number() const { return number_; }

  private:
    std::shared_ptr<Kernel> kernel_;
    int number_ = -1;
};

/** What was passed over. */
struct Count {
    std::uint32_t hidden = 0, denied = 0, ended = 0, refused = 0;
};

struct Process {
    std::uint32_t pid;
    std::uint64_t started; ///< in ticks since the machine was
    std::optional<std::uint32_t> uid; ///< the effective one, as this process sees it
    std::string command, cgroup;
    Taken held; ///< the process (Kernel::process())
    struct Control {
        int there; ///< its number of it
        Taken here;
    };
    std::vector<Control> controls; ///< its descriptors of /dev/nvidiactl
    bool denied = false;           ///< at least one of them may not be taken
};

struct OwnedChannel {
    std::size_t process, control;              ///< which of the processes, and of its descriptors
    std::uint32_t client;                      ///< the RM's name
    std::uint32_t subdevice, tsg, channel;     ///< the client's names; tsg 0: it is in none
    std::optional<std::uint64_t> timeslice_us; ///< of the TSG
    std::optional<rm::MemoryInfo> instance;    ///< empty: only root may know it
};

/**
 * While this lives it holds descriptors of the processes: the driver keeps what belongs to one that
 * ends until then.
 */
struct Owned {
    Count count;
    std::vector<std::uint32_t> hidden;  ///< pids of Count::hidden
    std::vector<Process> processes;     ///< the oldest first
    std::vector<OwnedChannel> channels; ///< by process
};

/**
 * Looks at the processes that have the GPU's file open, takes their descriptors of /dev/nvidiactl,
 * and asks the RM through them which channels they made. Only questions. What ends or is refused
 * meanwhile is counted.
 */
Result<Owned> find_owned(const std::shared_ptr<Kernel> &kernel, const Card &card);

/** When a process was started, in ticks since the machine was (proc_pid_stat(5)); empty: it has
 * ended. */
std::optional<std::uint64_t> start_of(Kernel &kernel, std::uint32_t pid);

/** The longest path of /proc/PID/cgroup: with version 1 of cgroups there is one for each
 * controller. */
std::string cgroup_of(Kernel &kernel, std::uint32_t pid);
/** /proc/PID/comm, without its line break. */
std::string command_of(Kernel &kernel, std::uint32_t pid);

} // namespace nvdebug::driver

#endif
