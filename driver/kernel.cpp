// SPDX-License-Identifier: MIT OR GPL-2.0
#include "kernel.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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
};

} // namespace

std::shared_ptr<Kernel> running_kernel() {
    return std::make_shared<Running>();
}

} // namespace nvdebug::driver
