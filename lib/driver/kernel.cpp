// SPDX-License-Identifier: MIT OR GPL-2.0
#include "kernel.hpp"

#include <array>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace nvdebug::driver {
namespace {

/// Returns the target of a link; empty: the path is not a link.
std::optional<std::string> link_of(const std::string &path) {
    std::array<char, 4096> target{};
    const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
    if (length <= 0)
        return std::nullopt;
    return std::string(target.data(), static_cast<std::size_t>(length));
}

/// Returns whether the path is `/dev/nvidia0`, `/dev/nvidiactl`, `/dev/nvidia-uvm` or the like.
bool is_device_name(std::string_view path) {
    constexpr std::string_view begin = "/dev/nvidia";
    constexpr std::size_t longest = 32;
    return path.starts_with(begin) && path.size() <= longest &&
           path.find('/', begin.size()) == path.npos && path.find(' ') == path.npos;
}

class Running final : public Kernel {
  public:
    int open(const std::string &path) override {
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        return descriptor < 0 ? -errno : descriptor;
    }

    int access(const std::string &path) override {
        // Linux asks the device cgroup here, too (inode_permission() of fs/namei.c).
        return ::access(path.c_str(), R_OK | W_OK) ? -errno : 0;
    }

    void close(int descriptor) override { ::close(descriptor); }

    int ioctl(int descriptor, unsigned long request, void *argument) override {
        int result;
        do
            result = ::ioctl(descriptor, request, argument);
        while (result < 0 && errno == EINTR);
        return result < 0 ? -errno : 0;
    }

    const void *map(int descriptor, std::size_t bytes) override {
        const void *const address = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
        return address == MAP_FAILED ? nullptr : address;
    }

    void unmap(const void *address, std::size_t bytes) override {
        ::munmap(const_cast<void *>(address), bytes);
    }

    std::string read(const std::string &path) override {
        std::array<char, 4096> text{};
        const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (descriptor < 0)
            return {};
        const ssize_t got = ::read(descriptor, text.data(), text.size());
        ::close(descriptor);
        return {text.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
    }

    int list(const std::string &path, std::vector<std::string> &names) override {
        DIR *const folder = ::opendir(path.c_str());
        if (!folder)
            return -errno;
        while (const dirent *const entry = ::readdir(folder))
            if (entry->d_name[0] != '.')
                names.emplace_back(entry->d_name);
        ::closedir(folder);
        return 0;
    }

    std::optional<std::uint64_t> device(const std::string &path) override {
        const auto linked = link_of(path);
        if (linked && !is_device_name(*linked))
            return std::nullopt;
        // Any user can choose such a name in a mount namespace, so this must not wait for a file
        // system.
        struct statx about {};
        if (::statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE,
                    &about) ||
            !S_ISCHR(about.stx_mode))
            return std::nullopt;
        return makedev(about.stx_rdev_major, about.stx_rdev_minor);
    }

    bool counts_as_host() override {
        constexpr std::string_view hosts = "pid:[4026531836]"; // PROC_PID_INIT_INO of proc_ns.h
        return link_of("/proc/self/ns/pid") == hosts &&
               link_of("/proc/self") == std::to_string(::getpid());
    }

    bool is_root() override { return ::geteuid() == 0; }
    std::uint32_t self() override { return static_cast<std::uint32_t>(::getpid()); }

    // These calls are made by number, because some C libraries have no functions for them.
    int process(std::uint32_t pid) override {
        const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
        return process < 0 ? -errno : process;
    }

    int thread(std::uint32_t tid) override {
        constexpr unsigned of_a_thread = O_EXCL; // PIDFD_THREAD of linux/pidfd.h
        const int thread = static_cast<int>(::syscall(SYS_pidfd_open, tid, of_a_thread));
        return thread < 0 ? -errno : thread;
    }

    int take(int process, int descriptor) override {
        const int taken = static_cast<int>(::syscall(SYS_pidfd_getfd, process, descriptor, 0));
        return taken < 0 ? -errno : taken;
    }

    int fork() override {
        const int child = static_cast<int>(::syscall(SYS_clone, 0, 0, 0, 0, 0));
        return child < 0 ? -errno : child;
    }
};

} // namespace

std::shared_ptr<Kernel> running_kernel() {
    return std::make_shared<Running>();
}

} // namespace nvdebug::driver
