// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Wakes a thread that waits for descriptors.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

namespace nvqos {

/// Wakes the thread that waits for signals and requests. It outlives the session if the driver does
/// not answer a GPU's thread, which then still has it.
class Bell {
  public:
    Bell() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    Bell(const Bell &) = delete;
    Bell &operator=(const Bell &) = delete;
    ~Bell() { ::close(descriptor_); }
    void ring() const { static_cast<void>(::eventfd_write(descriptor_, 1)); }
    void answer() const {
        eventfd_t rings = 0;
        static_cast<void>(::eventfd_read(descriptor_, &rings));
    }
    int descriptor() const { return descriptor_; }

  private:
    const int descriptor_;
};

} // namespace nvqos
