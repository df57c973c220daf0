// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <unistd.h>

#include <utility>

namespace nvmodel {

/// A file descriptor that is closed with its owner.
class UniqueFd {
  public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    UniqueFd &operator=(UniqueFd &&other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~UniqueFd() {
        if (fd_ >= 0)
            ::close(fd_);
    }

    [[nodiscard]] int get() const { return fd_; }

  private:
    int fd_ = -1;
};

} // namespace nvmodel
