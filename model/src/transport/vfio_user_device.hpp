// SPDX-License-Identifier: MIT OR GPL-2.0
// The server's half of vfio-user: the effect and the reply of each command, without a socket.
#pragma once

#include "device/pci_function.hpp"
#include "transport/mapped_memory.hpp"
#include "transport/unique_fd.hpp"
#include "transport/vfio_user_protocol.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace nvmodel {

class VfioUserDevice {
  public:
    /// The client maps memory, which becomes the function's system memory.
    explicit VfioUserDevice(PciFunction &function);
    ~VfioUserDevice();
    VfioUserDevice(const VfioUserDevice &) = delete;
    VfioUserDevice &operator=(const VfioUserDevice &) = delete;

    /// Returns how many bytes follow a header. Throws ProtocolError for an unknown command, and for
    /// a size that no command has.
    static std::size_t body_size(const vfio_user::Header &header);

    /// Carries out the request of a message. Returns the reply as it is to be sent; empty if none
    /// is wanted. A command that makes no sense is replied to with an error. Throws ProtocolError
    /// if the client does not begin with a version that the server supports.
    std::vector<std::byte> answer(const vfio_user::Header &header, std::span<const std::byte> body,
                                  std::vector<UniqueFd> fds);

  private:
    using Body = std::span<const std::byte>;
    using Reply = std::vector<std::byte>; // without the header

    // These throw the errno of a request that they refuse.
    Reply perform(vfio_user::Command command, Body body, std::vector<UniqueFd> fds);
    void dma_map(Body body, std::vector<UniqueFd> fds);
    Reply dma_unmap(Body body);
    [[nodiscard]] Reply region_info(Body body) const;
    Reply region_read(Body body);
    Reply region_write(Body body);

    [[nodiscard]] std::uint64_t region_size(std::uint32_t region) const;
    void check(const vfio_user::RegionAccess &access) const;

    PciFunction &function_;
    MappedMemory guest_;
    bool negotiated_ = false;
};

} // namespace nvmodel
