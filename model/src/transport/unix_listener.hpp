// SPDX-License-Identifier: MIT OR GPL-2.0
// A Unix stream socket that listens at a path, and removes the path at its end.
#pragma once

#include "transport/unique_fd.hpp"

#include <filesystem>
#include <string>

namespace nvmodel {

class UnixListener {
  public:
    /// Listens at the path, and replaces a socket that a dead process has left there. Throws
    /// ConfigError, which calls the socket `what`, also if another process listens there already.
    UnixListener(const std::string &what, std::filesystem::path path);
    ~UnixListener();
    UnixListener(const UnixListener &) = delete;
    UnixListener &operator=(const UnixListener &) = delete;

    [[nodiscard]] int fd() const { return socket_.get(); }

    /// Accepts a connection without waiting, with SOCK_… flags. Returns an empty descriptor if
    /// there is none.
    [[nodiscard]] UniqueFd accept(int flags) const;

  private:
    std::filesystem::path path_;
    UniqueFd socket_;
};

} // namespace nvmodel
