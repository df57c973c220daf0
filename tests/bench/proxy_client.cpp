// SPDX-License-Identifier: MIT OR GPL-2.0
#include "client.hpp"

#include "transport/proxy.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace nvmodel::bench {
namespace {

constexpr std::uint32_t bar0 = 0xe0000000;
constexpr std::uint32_t command_register = 0x04;
constexpr std::uint32_t bar0_register = 0x10;
constexpr std::uint32_t memory_space = 2;

struct BarRead {
    proxy::Header header;
    proxy::BarAccess access;
};

std::array<UniqueFd, 2> socket_pair() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) < 0)
        throw std::system_error(errno, std::generic_category(), "socketpair");
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

class ProxyClient final : public Client {
  public:
    ProxyClient(Gpu &gpu, std::array<UniqueFd, 2> ends)
        : server_(std::make_unique<Proxy>(gpu, std::move(ends[1]))), socket_(std::move(ends[0])) {}

    std::uint32_t read(std::uint32_t offset) override {
        send(socket_, BarRead{{static_cast<std::int32_t>(proxy::Command::bar_read), 0,
                               sizeof(proxy::BarAccess)},
                              {bar0 + offset, 0, 4, 1, {}}});
        return static_cast<std::uint32_t>(receive<proxy::Reply>(socket_).value);
    }

  private:
    Server server_; // ends when the socket is closed; the socket is destroyed first
    UniqueFd socket_;
};

} // namespace

std::unique_ptr<Client> proxy_client(Gpu &gpu) {
    gpu.config_write(bar0_register, bar0, 4);
    gpu.config_write(command_register, memory_space, 2);
    return std::make_unique<ProxyClient>(gpu, socket_pair());
}

} // namespace nvmodel::bench
