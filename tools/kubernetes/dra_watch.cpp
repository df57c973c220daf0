// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dra_watch.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/nvqos_client.hpp"
#include "lib/base/printable.hpp"

namespace nvdebug::kubernetes {
namespace {

using WatchedJson = nlohmann::json;

/// nvqos sends no line that is longer.
constexpr std::size_t longest_line = 1 << 20;
constexpr std::chrono::milliseconds next_try{500}, next_read{5000};

/// Returns a connection that has sent `watch`; below 0: no nvqos answers. Does not wait: an nvqos
/// that hangs takes no more connections at some time.
int connect_to(const std::string &path) {
    const auto address = base::socket_address(path);
    const int connection =
        address ? ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    if (connection < 0)
        return connection;
    const std::string line = "watch\n";
    const auto *const at = reinterpret_cast<const sockaddr *>(&*address);
    if (::connect(connection, at, sizeof(*address)) == 0 &&
        ::send(connection, line.data(), line.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(line.size()))
        return connection;
    ::close(connection);
    return -1;
}

/// Returns the milliseconds until @p then, for poll().
int left_until(Clock::time_point then) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(then - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

} // namespace

NvqosWatch::NvqosWatch(std::string socket, Read read, Take take)
    : socket_(std::move(socket)), read_(std::move(read)),
      take_(std::move(take)), view_{fail(base::exit_status::failed, "nvqos was not asked yet")},
      ending_(::eventfd(0, EFD_CLOEXEC)), thread_([this] { follow(); }) {}

NvqosWatch::~NvqosWatch() {
    ::eventfd_write(ending_, 1);
    thread_.join();
    ::close(ending_);
}

bool NvqosWatch::waits(std::chrono::milliseconds time) {
    pollfd ends{ending_, POLLIN, 0};
    return ::poll(&ends, 1, static_cast<int>(time.count())) <= 0;
}

void NvqosWatch::note(std::uint32_t gpu, const std::string &name, std::optional<bool> kept) {
    if (!kept) {
        view_.kept.erase({gpu, name});
        return;
    }
    view_.kept[{gpu, name}] = *kept;
    if (!*kept)
        view_.last_not_kept[gpu] = Clock::now();
}

void NvqosWatch::read_status() {
    const auto answer = base::ask_nvqos(socket_, "status");
    view_.kept.clear();
    if (!answer)
        return;
    try {
        const auto status = WatchedJson::parse(*answer);
        for (const WatchedJson &epoch : status.at("epochs"))
            for (const WatchedJson &tenant : epoch.at("tenants"))
                note(epoch.at("gpu"), tenant.at("name"),
                     tenant.at("kept").is_null() ? std::nullopt
                                                 : std::optional(tenant.at("kept").get<bool>()));
    } catch (const WatchedJson::exception &error) {
        log(fmt::format("the answer of nvqos to 'status' is not understood: {}", error.what()));
    }
}

bool NvqosWatch::take_line(const std::string &line) {
    try {
        const auto change = WatchedJson::parse(line);
        if (change.at("change") == "kept") {
            const WatchedJson &kept = change.at("kept");
            note(change.at("gpu"), change.at("name"),
                 kept.is_null() ? std::nullopt : std::optional(kept.get<bool>()));
            return false;
        }
        // The goal of a tenant that has ended is not judged any more.
        const std::string name = change.value("name", "");
        std::erase_if(view_.kept, [&](const auto &one) { return one.first.second == name; });
    } catch (const WatchedJson::exception &) {
        // A line of another version may be about anything, so all is read anew.
    }
    return true;
}

void NvqosWatch::read() {
    view_.state = read_();
    for (const auto &[key, is_kept] : view_.kept)
        if (!is_kept)
            view_.last_not_kept[key.first] = Clock::now();
    take_(view_);
}

void NvqosWatch::follow_connection(int connection) {
    bool is_answered = false;
    std::string text;
    why_ended_ = "nvqos has closed the connection of 'watch'";
    auto due = Clock::now() + next_read;
    for (;;) {
        std::array<pollfd, 2> awaited{pollfd{connection, POLLIN, 0}, pollfd{ending_, POLLIN, 0}};
        if (::poll(awaited.data(), awaited.size(), left_until(due)) < 0 && errno != EINTR)
            return;
        if (awaited[1].revents)
            return;
        bool reads_again = false;
        if (awaited[0].revents) {
            std::array<char, 16384> part{};
            const ssize_t got = ::recv(connection, part.data(), part.size(), 0);
            if (got <= 0)
                return;
            text.append(part.data(), static_cast<std::size_t>(got));
            for (std::size_t end = 0; (end = text.find('\n')) != text.npos;) {
                const std::string line = text.substr(0, end);
                text.erase(0, end + 1);
                if (is_answered) {
                    reads_again = take_line(line) || reads_again;
                    continue;
                }
                if (line != "ok") {
                    why_ended_ = fmt::format("nvqos does not let itself be watched: {}",
                                             base::printable(line));
                    return;
                }
                is_answered = reads_again = true;
                read_status();
            }
            if (text.size() > longest_line)
                return;
        }
        const bool is_due = Clock::now() >= due;
        if (is_due && !is_answered)
            return;
        if (reads_again || is_due) {
            read();
            due = Clock::now() + next_read;
        } else if (awaited[0].revents) {
            take_(view_);
        }
    }
}

void NvqosWatch::follow() {
    bool was_there = true;
    do {
        const int connection = connect_to(socket_);
        if (connection >= 0) {
            was_there = true;
            follow_connection(connection);
            ::close(connection);
        }
        if (!std::exchange(was_there, false))
            continue;
        view_.kept.clear();
        // The sentence of a request that fails is the same as everywhere.
        const auto answer = base::ask_nvqos(socket_, "list");
        view_.state =
            fail(base::exit_status::failed, answer ? why_ended_ : answer.error().sentence);
        take_(view_);
    } while (waits(next_try));
}

} // namespace nvdebug::kubernetes
