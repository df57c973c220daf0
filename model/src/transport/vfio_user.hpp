// SPDX-License-Identifier: MIT OR GPL-2.0
// Adapter: vfio-user, the server's side on a Unix socket.
#pragma once

#include "transport/message_reader.hpp"
#include "transport/message_socket.hpp"
#include "transport/transport.hpp"
#include "transport/unix_listener.hpp"
#include "transport/vfio_user_device.hpp"

#include <filesystem>
#include <optional>

namespace nvmodel {

class VfioUser final : public Transport {
  public:
    /// Listens at a path for the only client. Throws ConfigError.
    VfioUser(PciFunction &function, std::filesystem::path path);

    [[nodiscard]] int fd() const override {
        return connection_ ? connection_->socket.fd() : listener_.fd();
    }
    bool serve() override;

  private:
    struct Connection {
        explicit Connection(UniqueFd fd) : socket(std::move(fd), vfio_user::max_fds) {}

        MessageSocket socket;
        MessageReader<vfio_user::Header> reader{socket};
    };

    VfioUserDevice device_;
    UnixListener listener_;
    std::optional<Connection> connection_;
};

} // namespace nvmodel
