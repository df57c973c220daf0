// SPDX-License-Identifier: MIT OR GPL-2.0
#include "kernel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nvdebug::driver {
namespace {

class Running final : public Kernel {
  public:
    int open(const std::string &path) override {
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        return descriptor < 0 ? -errno : descriptor;
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
        // Of /proc/PID/fd: what lies on a file system that does not answer would hold us up.
        std::array<char, 4096> target{};
        const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
        const std::string_view linked(target.data(),
                                      static_cast<std::size_t>(std::max(length, ssize_t{0})));
        if (length > 0 && linked.find("nvidia") == linked.npos)
            return std::nullopt;
        struct stat about {};
        if (::stat(path.c_str(), &about) || !S_ISCHR(about.st_mode))
            return std::nullopt;
        return about.st_rdev;
    }

    std::uint32_t self() override { return static_cast<std::uint32_t>(::getpid()); }

    // By number: not every C library has functions for them.
    int process(std::uint32_t pid) override {
        const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
        return process < 0 ? -errno : process;
    }

    int take(int process, int descriptor) override {
        const int taken = static_cast<int>(::syscall(SYS_pidfd_getfd, process, descriptor, 0));
        return taken < 0 ? -errno : taken;
    }
};

} // namespace

std::shared_ptr<Kernel> running_kernel() {
    return std::make_shared<Running>();
}

} // namespace nvdebug::driver
