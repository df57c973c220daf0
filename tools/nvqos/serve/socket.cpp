// SPDX-License-Identifier: MIT OR GPL-2.0
#include "socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/printable.hpp"
#include "request.hpp"

namespace nvqos {
namespace {

using nvdebug::base::printable;
using qos::Ns;

tl::unexpected<Failure> cannot(const std::string &what, const std::string &path) {
    return fail(of_file(errno), fmt::format("{} cannot be {}: {}", printable(path), what,
                                            ::strerrordesc_np(errno)));
}

std::string folder_of(const std::string &path) {
    const std::size_t slash = path.rfind('/');
    return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// Returns whether nobody but the folder's owner can replace the socket.
Outcome<void> make_folder(const std::string &folder) {
    constexpr mode_t open_to_read = 0755;
    if (::mkdir(folder.c_str(), open_to_read) == 0) {
        // The umask may have removed bits.
        if (::chmod(folder.c_str(), open_to_read))
            return cannot("given its rights", folder);
    } else if (errno != EEXIST) {
        return cannot("made", folder);
    }
    struct stat about {};
    if (::stat(folder.c_str(), &about))
        return cannot("looked at", folder);
    if (!S_ISDIR(about.st_mode))
        return fail(refused, printable(folder) + " is no folder");
    if (about.st_mode & (S_IWGRP | S_IWOTH) || (about.st_uid != 0 && about.st_uid != ::geteuid()))
        return fail(refused, fmt::format("others than root may write to {}, and could put another "
                                         "socket there: choose a folder of root's",
                                         printable(folder)));
    return {};
}

bool is_of(uid_t peer, int descriptor) {
    ucred from{};
    socklen_t bytes = sizeof(from);
    return ::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &from, &bytes) == 0 &&
           from.uid == peer;
}

} // namespace

Outcome<sockaddr_un> address_of(const std::string &path) {
    return nvdebug::base::socket_address(path).map_error([](const auto &error) {
        return Failure{error.exit, error.sentence};
    });
}

Ns Socket::Client::limit() const {
    if (watches && out.empty())
        return std::numeric_limits<Ns>::max();
    return since + (in.empty() && out.empty() ? longest_idle : patience);
}

Outcome<std::unique_ptr<Socket>> Socket::open(const std::string &path, uid_t peer) {
    std::unique_ptr<Socket> socket(new Socket(path, peer));
    if (auto bound = socket->bind(); !bound)
        return tl::unexpected(std::move(bound).error());
    return socket;
}

Outcome<void> Socket::bind() {
    const auto address = address_of(path_);
    if (!address)
        return tl::unexpected(address.error());
    if (auto made = make_folder(folder_of(path_)); !made)
        return made;
    // The lock ends with the process. Its file stays, because removing it might remove the lock of
    // another process.
    const std::string lock = path_ + ".lock";
    lock_ = ::open(lock.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (lock_ < 0)
        return cannot("opened", lock);
    const auto taken = [&] {
        return fail(refused, fmt::format("another nvqos answers at {}: end it first, or choose "
                                         "another path with --socket=PATH",
                                         printable(path_)));
    };
    if (::flock(lock_, LOCK_EX | LOCK_NB))
        return errno == EWOULDBLOCK ? taken() : cannot("locked", lock);
    listening_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listening_ < 0)
        return cannot("made", path_);
    struct stat about {};
    const auto *const at = reinterpret_cast<const sockaddr *>(&*address);
    if (::lstat(path_.c_str(), &about) == 0) {
        if (!S_ISSOCK(about.st_mode))
            return fail(refused, fmt::format("{} is no socket, so that it is not replaced: remove "
                                             "it, or choose another path with --socket=PATH",
                                             printable(path_)));
        const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        const bool answers = ::connect(probe, at, sizeof(*address)) == 0 || errno == EAGAIN;
        ::close(probe);
        if (answers)
            return taken();
        if (::unlink(path_.c_str()) && errno != ENOENT)
            return cannot("replaced", path_);
    }
    const mode_t before = ::umask(S_IRWXG | S_IRWXO | S_IXUSR);
    const bool bound = ::bind(listening_, at, sizeof(*address)) == 0;
    ::umask(before);
    if (!bound || ::lstat(path_.c_str(), &about) || ::listen(listening_, SOMAXCONN))
        return cannot("listened at", path_);
    inode_ = about.st_ino;
    return {};
}

Socket::~Socket() {
    for (const Client &client : clients_)
        ::close(client.descriptor);
    struct stat about {};
    if (inode_ && ::lstat(path_.c_str(), &about) == 0 && about.st_ino == inode_)
        ::unlink(path_.c_str());
    if (listening_ >= 0)
        ::close(listening_);
    if (lock_ >= 0)
        ::close(lock_);
}

void Socket::add_to(std::vector<pollfd> &awaited, Ns now) const {
    if (now >= rests_until_)
        awaited.push_back({listening_, POLLIN, 0});
    // Of a connection that watches and has nothing to take, only the end is awaited.
    for (const Client &client : clients_)
        awaited.push_back({client.descriptor,
                           static_cast<short>(!client.out.empty() ? POLLOUT
                                              : client.watches    ? 0
                                                                  : POLLIN),
                           0});
}

Ns Socket::wait(Ns now) const {
    Ns until = now < rests_until_ ? rests_until_ : now + longest_idle;
    for (const Client &client : clients_)
        until = std::min(until, client.in.find('\n') != std::string::npos && client.out.empty()
                                    ? now
                                    : client.limit());
    return std::max<Ns>(0, until - now);
}

void Socket::let_in(Ns now) {
    for (std::size_t n = 0; n < most_clients; n++) {
        const int descriptor =
            ::accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (descriptor < 0) {
            // The client has gone already, or a signal came: another connection may be waiting.
            constexpr int none[] = {EAGAIN, EINTR, ECONNABORTED};
            if (std::ranges::find(none, errno) == std::end(none))
                rests_until_ = now + rest;
            return;
        }
        if (!is_of(peer_, descriptor)) {
            constexpr std::string_view refusal = "error requests are taken from root alone\n";
            static_cast<void>(::send(descriptor, refusal.data(), refusal.size(), MSG_NOSIGNAL));
            ::close(descriptor);
            continue;
        }
        if (clients_.size() >= most_clients) {
            const auto idle = std::ranges::min_element(clients_, {}, [](const Client &one) {
                return std::tuple(one.watches, !one.in.empty() || !one.out.empty(), one.since);
            });
            ::close(idle->descriptor);
            clients_.erase(idle);
        }
        clients_.push_back({descriptor, now});
    }
}

std::size_t Socket::watchers() const {
    return static_cast<std::size_t>(std::ranges::count_if(clients_, &Client::watches));
}

void Socket::tell(const std::string &lines, Ns now) {
    if (lines.empty())
        return;
    for (Client &client : clients_) {
        if (!client.watches)
            continue;
        if (client.out.empty())
            client.since = now;
        // Its end is how a client that is behind sees that it has missed changes.
        client.ends = client.ends || client.out.size() + lines.size() > most_waiting;
        if (!client.ends)
            client.out += lines;
    }
}

bool Socket::serve(Client &client, Ns now, const Answer &answer) const {
    if (client.watches) {
        pollfd state{client.descriptor, 0, 0};
        if (::poll(&state, 1, 0) > 0)
            return false;
    } else if (client.out.empty() && !client.ends) {
        std::array<char, Request::longest> bytes{};
        // At most one line and the beginning of another are kept.
        const ssize_t got = client.in.size() < Request::longest
                                ? ::recv(client.descriptor, bytes.data(), bytes.size(), 0)
                                : -1;
        const bool over = got == 0 || (got < 0 && client.in.size() < Request::longest &&
                                       errno != EAGAIN && errno != EINTR);
        if (got > 0) {
            if (client.in.empty())
                client.since = now;
            client.in.append(bytes.data(), static_cast<std::size_t>(got));
        }
        const std::size_t end = client.in.find('\n');
        if (end < Request::longest) {
            const std::string line = client.in.substr(0, end);
            const bool is_watch = line == "watch";
            const std::string text =
                is_watch && watchers() >= most_watchers
                    ? fmt::format("error {} connections watch already: close one", most_watchers)
                    : answer(line);
            client.out = text + "\n";
            client.in.erase(0, end + 1);
            client.since = now;
            client.watches = is_watch && text == "ok";
            if (client.watches)
                client.in.clear();
        } else if (client.in.size() >= Request::longest) {
            client.out = fmt::format("error the line is longer than {} bytes\n", Request::longest);
            client.ends = true;
        } else if (over) {
            return false;
        }
    }
    while (!client.out.empty()) {
        const ssize_t sent =
            ::send(client.descriptor, client.out.data(), client.out.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (sent < 0)
            break;
        client.out.erase(0, static_cast<std::size_t>(sent));
        if (client.watches)
            client.since = now;
    }
    return (!client.ends || !client.out.empty()) && now < client.limit();
}

void Socket::serve(Ns now, const Answer &answer) {
    if (now >= rests_until_)
        let_in(now);
    for (auto client = clients_.begin(); client != clients_.end();) {
        if (serve(*client, now, answer)) {
            ++client;
        } else {
            ::close(client->descriptor);
            client = clients_.erase(client);
        }
    }
}

} // namespace nvqos
