// SPDX-License-Identifier: MIT OR GPL-2.0
// Messages of QEMU's multi-process proxy ("x-pci-proxy-dev"), as QEMU 7.2 sends them on x86-64.
// Facts: QEMU include/hw/remote/mpqemu-link.h, hw/remote/proxy.c. Host byte order; a header, then
// `size` bytes; file descriptors come with the header as SCM_RIGHTS.
#pragma once

#include <cstdint>

namespace nvmodel::proxy {

enum class Command : std::int32_t {
    sync_sysmem = 0, // guest memory map; no reply
    ret = 1,         // reply, 8 bytes
    config_write = 2,
    config_read = 3,
    bar_write = 4,
    bar_read = 5,
    set_irqfd = 6, // two descriptors; no reply
    device_reset = 7,
};

inline constexpr unsigned max_fds = 8;

struct Header {
    std::int32_t command;
    std::uint32_t padding;
    std::uint64_t size;
};
static_assert(sizeof(Header) == 16);

struct SyncSysmem {
    std::uint64_t address[max_fds]; // guest-physical
    std::uint64_t size[max_fds];
    std::uint64_t offset[max_fds]; // in the descriptor's file
};
static_assert(sizeof(SyncSysmem) == 192);

struct ConfigAccess {
    std::uint32_t address;
    std::uint32_t value;
    std::int32_t length; // 1, 2 or 4
};
static_assert(sizeof(ConfigAccess) == 12);

struct BarAccess {
    std::uint64_t address; // absolute, on the guest's bus
    std::uint64_t value;
    std::uint32_t size;  // 1, 2, 4 or 8
    std::uint8_t memory; // 0: I/O ports
    std::uint8_t padding[3];
};
static_assert(sizeof(BarAccess) == 24);

struct Reply {
    Header header;
    std::uint64_t value;
};
static_assert(sizeof(Reply) == 24);

} // namespace nvmodel::proxy
