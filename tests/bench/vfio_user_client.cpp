// SPDX-License-Identifier: MIT OR GPL-2.0
#include "client.hpp"

#include "transport/vfio_user.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

namespace nvmodel::bench {
namespace {

using namespace vfio_user;

constexpr std::uint32_t pci_command = 0x04;
constexpr std::uint32_t pci_memory_space = 2;

struct VersionRequest {
    Header header;
    Version version;
};

struct ReadRequest {
    Header header;
    RegionAccess access;
};

constexpr std::size_t before_value = sizeof(Header) + sizeof(RegionAccess);

template <typename Request>
Header header_of(Command command) {
    return {0, static_cast<std::uint16_t>(command), sizeof(Request), 0, 0};
}

UniqueFd connected(const std::filesystem::path &path) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un at{.sun_family = AF_UNIX, .sun_path = {}};
    std::strncpy(at.sun_path, path.c_str(), sizeof(at.sun_path) - 1);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr *>(&at), sizeof(at)) < 0)
        throw std::system_error(errno, std::generic_category(), path.string());
    return fd;
}

class VfioUserClient final : public Client {
  public:
    VfioUserClient(Gpu &gpu, const std::filesystem::path &path)
        : server_(std::make_unique<VfioUser>(gpu, path)), socket_(connected(path)) {
        send(socket_, VersionRequest{header_of<VersionRequest>(Command::version),
                                     {major_version, minor_version}});
        const auto header = receive<Header>(socket_);
        std::vector<std::byte> capabilities(header.size - sizeof(header));
        receive_all(socket_, capabilities);
    }

    std::uint32_t read(std::uint32_t offset) override {
        send(socket_, ReadRequest{header_of<ReadRequest>(Command::region_read),
                                  {offset, 0, sizeof(offset)}});
        std::array<std::byte, before_value + sizeof(std::uint32_t)> reply{};
        receive_all(socket_, reply);
        std::uint32_t value = 0;
        std::memcpy(&value, reply.data() + before_value, sizeof(value));
        return value;
    }

  private:
    Server server_; // ends when the socket is closed; the socket is destroyed first
    UniqueFd socket_;
};

} // namespace

std::unique_ptr<Client> vfio_user_client(Gpu &gpu) {
    gpu.config_write(pci_command, pci_memory_space, 2);
    const auto path = std::filesystem::temp_directory_path() /
                      ("nvdebug-bench-" + std::to_string(::getpid()) + ".sock");
    return std::make_unique<VfioUserClient>(gpu, path);
}

} // namespace nvmodel::bench
