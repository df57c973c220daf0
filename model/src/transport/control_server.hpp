// SPDX-License-Identifier: MIT OR GPL-2.0
// The control socket: lines in, lines out, for any number of clients.
#pragma once

#include "control/answers.hpp"
#include "transport/unique_fd.hpp"
#include "transport/unix_listener.hpp"

#include <poll.h>

#include <filesystem>
#include <string>
#include <vector>

namespace nvmodel {

class ControlServer {
  public:
    /// Listens at a path, and replaces a socket that a dead process has left there. Throws
    /// ConfigError, also if another process listens there already.
    ControlServer(Answers &answers, std::filesystem::path path);

    /// Adds the descriptors to wait for.
    void add_to(std::vector<pollfd> &waiting) const;

    /// Serves the events that poll() found, in the slice that add_to() added.
    void serve(const pollfd *found);

  private:
    struct Client {
        UniqueFd socket;
        std::string in;        // an incomplete line
        std::string out;       // output that is not sent yet
        bool said_all = false; // it has closed its end, but may still be listening
        bool gone = false;
    };

    void accept_client();
    void read_from(Client &client);
    static void write_to(Client &client);

    Answers &answers_;
    UnixListener listener_;
    std::vector<Client> clients_;
};

} // namespace nvmodel
