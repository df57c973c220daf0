// SPDX-License-Identifier: MIT OR GPL-2.0
#include "transport/control_server.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace nvmodel {
namespace {

constexpr std::size_t max_line = 64 * 1024;
constexpr std::size_t max_clients = 64;

bool temporary(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

} // namespace

ControlServer::ControlServer(Answers &answers, std::filesystem::path path)
    : answers_(answers), listener_("control socket", std::move(path)) {}

void ControlServer::add_to(std::vector<pollfd> &waiting) const {
    waiting.push_back({listener_.fd(), POLLIN, 0});
    for (const Client &client : clients_) {
        const int events = (client.said_all ? 0 : POLLIN) | (client.out.empty() ? 0 : POLLOUT);
        waiting.push_back({client.socket.get(), static_cast<short>(events), 0});
    }
}

void ControlServer::serve(const pollfd *found) {
    const bool somebody_calls = found->revents != 0;
    for (Client &client : clients_) {
        const int events = (++found)->revents;
        if ((events & POLLOUT) != 0)
            write_to(client);
        if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && !client.said_all)
            read_from(client);
        if ((events & POLLERR) != 0 || (client.said_all && client.out.empty()))
            client.gone = true;
    }
    std::erase_if(clients_, [](const Client &client) { return client.gone; });
    if (somebody_calls)
        accept_client();
}

void ControlServer::accept_client() {
    UniqueFd socket = listener_.accept(SOCK_NONBLOCK);
    if (socket.get() >= 0 && clients_.size() < max_clients)
        clients_.push_back({std::move(socket), {}, {}});
}

void ControlServer::read_from(Client &client) {
    std::array<char, 4096> buffer{};
    const ssize_t got = ::recv(client.socket.get(), buffer.data(), buffer.size(), 0);
    if (got == 0)
        client.said_all = true;
    else if (got < 0)
        client.gone = !temporary(errno);
    if (got <= 0)
        return;
    client.in.append(buffer.data(), static_cast<std::size_t>(got));
    for (;;) {
        const auto end = client.in.find('\n');
        if (end == std::string::npos)
            break;
        client.out += answers_.answer(std::string_view(client.in).substr(0, end));
        client.out += '\n';
        client.in.erase(0, end + 1);
    }
    if (client.in.size() > max_line)
        client.gone = true;
    write_to(client);
}

void ControlServer::write_to(Client &client) {
    if (client.out.empty())
        return;
    const ssize_t sent =
        ::send(client.socket.get(), client.out.data(), client.out.size(), MSG_NOSIGNAL);
    if (sent >= 0)
        client.out.erase(0, static_cast<std::size_t>(sent));
    else if (!temporary(errno))
        client.gone = true;
}

} // namespace nvmodel
