// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The socket at which engines mark that they are busy or idle, and the thread that reads it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "lib/base/marks.hpp"
#include "tools/nvqos/keep/engine_marks.hpp"

namespace nvqos {

/// Reads marks in a thread of its own, so that no flood of them delays a GPU's thread or a request.
class MarkListener {
  public:
    /// The pause after as many marks as one call takes. More come only if a process floods the socket,
    /// and are lost when its queue is full.
    static constexpr std::chrono::milliseconds rest{10};

    /// @param path of the socket, to which every user may write
    /// @param changed is called in the thread when a process becomes busy or idle
    MarkListener(const std::string &path, std::shared_ptr<EngineMarks> marks,
                 std::function<void()> changed);
    /// Ends the thread, and removes the socket.
    ~MarkListener();
    MarkListener(const MarkListener &) = delete;
    MarkListener &operator=(const MarkListener &) = delete;

    /// Returns whether marks can be taken; else the path cannot be bound, or there is no descriptor left.
    bool is_open() const { return socket_.descriptor() >= 0 && end_ >= 0; }

  private:
    void listen();

    nvdebug::base::MarkSocket socket_;
    const std::shared_ptr<EngineMarks> marks_;
    const std::function<void()> changed_;
    const int end_; ///< an eventfd
    std::thread thread_;
};

} // namespace nvqos
