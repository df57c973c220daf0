// SPDX-License-Identifier: MIT OR GPL-2.0
// Adapter: QEMU's multi-process proxy.
#pragma once

#include "device/pci_function.hpp"
#include "transport/mapped_memory.hpp"
#include "transport/message_reader.hpp"
#include "transport/message_socket.hpp"
#include "transport/proxy_protocol.hpp"
#include "transport/transport.hpp"
#include "transport/unique_fd.hpp"

#include <cstdint>
#include <vector>

namespace nvmodel {

class Proxy final : public Transport {
  public:
    /// Serves a function on one end of a stream socket pair. Its system memory is the guest's.
    Proxy(PciFunction &function, UniqueFd socket);
    ~Proxy() override;
    Proxy(const Proxy &) = delete;
    Proxy &operator=(const Proxy &) = delete;

    [[nodiscard]] int fd() const override { return socket_.fd(); }
    bool serve() override;

  private:
    bool handle(std::vector<UniqueFd> fds);
    void sync_sysmem(std::vector<UniqueFd> fds);
    [[nodiscard]] std::uint64_t access_config(bool write);
    [[nodiscard]] std::uint64_t access_bar(bool write);
    bool reply(std::uint64_t value);
    template <typename Message>
    [[nodiscard]] Message body() const;

    PciFunction &function_;
    MessageSocket socket_;
    MessageReader<proxy::Header> reader_{socket_};
    MappedMemory guest_;
};

} // namespace nvmodel
