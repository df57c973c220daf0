// SPDX-License-Identifier: MIT OR GPL-2.0
#include "mark_listener.hpp"

#include <array>
#include <ctime>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/base/thread_name.hpp"

namespace nvqos {

MarkListener::MarkListener(const std::string &path, std::shared_ptr<EngineMarks> marks,
                           std::function<void()> changed)
    : socket_(path), marks_(std::move(marks)), changed_(std::move(changed)),
      end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (is_open())
        thread_ = std::thread([this] { listen(); });
}

MarkListener::~MarkListener() {
    if (end_ < 0)
        return;
    static_cast<void>(::eventfd_write(end_, 1));
    if (thread_.joinable())
        thread_.join();
    ::close(end_);
}

void MarkListener::listen() {
    nvdebug::base::name_thread("nvqos-marks");
    std::array<pollfd, 2> awaited{{{end_, POLLIN, 0}, {socket_.descriptor(), POLLIN, 0}}};
    for (bool is_flooded = false;;) {
        // While marks crowd in, only the end is awaited for a moment.
        const auto longest = is_flooded ? static_cast<int>(rest.count()) : -1;
        static_cast<void>(::poll(awaited.data(), is_flooded ? 1 : awaited.size(), longest));
        if (awaited[0].revents)
            return;
        const auto received = socket_.take();
        is_flooded = received.size() >= nvdebug::base::MarkSocket::most_at_once;
        bool is_news = false;
        for (const auto &mark : received)
            is_news = marks_->take(mark.pid, mark.text,
                                   static_cast<qos::Ns>(nvdebug::base::monotonic_ns())) ||
                      is_news;
        if (is_news)
            changed_();
    }
}

} // namespace nvqos
