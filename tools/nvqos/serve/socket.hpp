// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A socket at which other programs of root send requests. A request is a line, and so is its
/// answer.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/types.h>
#include <sys/un.h>
#include <vector>

#include "lib/base/nvqos_client.hpp"
#include "lib/qos/goal.hpp"
#include "tools/nvqos/failure.hpp"

namespace nvqos {

/// Fails if the path is empty or too long for a socket.
Outcome<sockaddr_un> address_of(const std::string &path);

/// Never waits for a client: what a client sends or takes slowly is continued when it is ready.
class Socket {
  public:
    static constexpr const char *usual_path = nvdebug::base::usual_nvqos_socket;
    /// So many connections there may be. A new one replaces the one that has been idle longest.
    static constexpr std::size_t most_clients = 64;
    /// A client has the first time to send the rest of a line and to take an answer. A connection
    /// without requests is closed after the second one.
    static constexpr qos::Ns patience = 5 * qos::second, longest_idle = 60 * qos::second;
    /// At most most_watchers connections may watch. A watching connection is closed if more than
    /// most_waiting bytes wait for it, or if it takes nothing for the time of patience.
    static constexpr std::size_t most_watchers = 16, most_waiting = 1 << 20;
    /// The pause after a connection that could not be accepted. It still waits, and would end each
    /// wait() at once.
    static constexpr qos::Ns rest = qos::second;

    /// Returns the answer to a line, both without a newline. A connection that gets `ok` to `watch`
    /// makes no more requests, and has what tell() is called with.
    using Answer = std::function<std::string(const std::string &)>;

    /// Listens at @p path, for owner only, in a folder that is made if it is not there. What an
    /// ended program left there is replaced. Fails if another program answers there, or if others
    /// may write to the folder. @param peer whose processes are answered
    static Outcome<std::unique_ptr<Socket>> open(const std::string &path, uid_t peer = 0);
    /// Removes the socket's file.
    ~Socket();
    Socket(const Socket &) = delete;
    Socket &operator=(const Socket &) = delete;

    /// Adds the descriptors that serve() waits for.
    void add_to(std::vector<pollfd> &awaited, qos::Ns now) const;
    /// Returns how long to wait for them at most.
    qos::Ns wait(qos::Ns now) const;
    /// Does what can be done at once: at most one request of each client.
    void serve(qos::Ns now, const Answer &answer);

    /// Sends the lines to all connections that watch.
    void tell(const std::string &lines, qos::Ns now);

    std::size_t clients() const { return clients_.size(); }
    std::size_t watchers() const;

  private:
    struct Client {
        int descriptor;
        qos::Ns since; ///< when its last request was read, or it connected
        std::string in = {}, out = {};
        bool ends = false;    ///< it is closed once `out` is sent
        bool watches = false; ///< it gets what tell() is called with
        qos::Ns limit() const;
    };

    Socket(std::string path, uid_t peer) : path_(std::move(path)), peer_(peer) {}
    Outcome<void> bind();
    void let_in(qos::Ns now);
    /// Returns false if the connection is over.
    bool serve(Client &client, qos::Ns now, const Answer &answer) const;

    const std::string path_;
    const uid_t peer_;
    int lock_ = -1, listening_ = -1;
    ino_t inode_ = 0;
    std::deque<Client> clients_; ///< in order of arrival
    /// No connection is accepted until then, because there were too few descriptors.
    qos::Ns rests_until_ = 0;
};

} // namespace nvqos
