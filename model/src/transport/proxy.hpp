// SPDX-License-Identifier: MIT OR GPL-2.0
// Adapter: QEMU's multi-process proxy.
#pragma once

#include "device/gpu.hpp"
#include "transport/mapped_memory.hpp"
#include "transport/proxy_protocol.hpp"
#include "transport/unique_fd.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace nvmodel {

class Proxy {
  public:
    /// Serves a GPU on one end of a stream socket pair. The GPU's system memory is the guest's.
    Proxy(Gpu &gpu, UniqueFd socket);
    ~Proxy();
    Proxy(const Proxy &) = delete;
    Proxy &operator=(const Proxy &) = delete;

    [[nodiscard]] int fd() const { return socket_.get(); }

    /// Takes and answers what has arrived, without waiting for more, and not without end: call
    /// again while the socket is readable. False once QEMU has gone.
    /// Throws ProtocolError.
    bool serve();

  private:
    enum class Received { all, some, end };

    Received receive(std::span<std::byte> to, std::size_t &have);
    [[nodiscard]] std::size_t expected_size() const;
    bool handle();
    void sync_sysmem();
    [[nodiscard]] std::uint64_t access_config(bool write);
    [[nodiscard]] std::uint64_t access_bar(bool write);
    bool reply(std::uint64_t value);
    template <typename Message>
    [[nodiscard]] Message body() const;

    Gpu &gpu_;
    UniqueFd socket_;
    MappedMemory guest_;
    proxy::Header header_{};
    std::size_t have_header_ = 0;
    std::array<std::byte, sizeof(proxy::SyncSysmem)> body_{};
    std::size_t have_body_ = 0;
    std::vector<UniqueFd> fds_; // of the message being received
    std::chrono::steady_clock::time_point awake_until_;
};

} // namespace nvmodel
