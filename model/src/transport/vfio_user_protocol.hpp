// SPDX-License-Identifier: MIT OR GPL-2.0
// Messages of vfio-user, version 0.0, as far as a client sends them.
// Facts: QEMU docs/interop/vfio-user.rst; numbers of regions, interrupts and flags are those of
// Linux include/uapi/linux/vfio.h. Host byte order; file descriptors come as SCM_RIGHTS.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvmodel::vfio_user {

inline constexpr std::uint16_t major_version = 0;
inline constexpr std::uint16_t minor_version = 0;

enum class Command : std::uint16_t {
    version = 1,
    dma_map = 2,
    dma_unmap = 3,
    get_info = 4,
    get_region_info = 5,
    get_region_io_fds = 6,
    get_irq_info = 7,
    set_irqs = 8,
    region_read = 9,
    region_write = 10,
    dma_read = 11, // sent by the server, as dma_write
    dma_write = 12,
    reset = 13,
    region_write_multi = 15,
    feature = 16,
    migration_read = 17,
    migration_write = 18,
};

struct Header {
    std::uint16_t id; // echoed in the reply
    std::uint16_t command;
    std::uint32_t size; // of the message, with this header
    std::uint32_t flags;
    std::uint32_t error; // errno, in a reply with flag_error
};
static_assert(sizeof(Header) == 16);

inline constexpr std::uint32_t flag_type = 0xf; // 0: a command
inline constexpr std::uint32_t flag_reply = 0x1;
inline constexpr std::uint32_t flag_no_reply = 0x10;
inline constexpr std::uint32_t flag_error = 0x20;

/// JSON and a NUL follow.
struct Version {
    std::uint16_t major;
    std::uint16_t minor;
};
static_assert(sizeof(Version) == 4);

struct DmaMap {
    std::uint32_t argsz;
    std::uint32_t flags;
    std::uint64_t offset; // in the descriptor's file
    std::uint64_t address;
    std::uint64_t size;
};
static_assert(sizeof(DmaMap) == 32);

inline constexpr std::uint32_t dma_readable = 1U << 0;
inline constexpr std::uint32_t dma_writable = 1U << 1;

struct DmaUnmap {
    std::uint32_t argsz;
    std::uint32_t flags;
    std::uint64_t address;
    std::uint64_t size;
};
static_assert(sizeof(DmaUnmap) == 24);

struct DeviceInfo {
    std::uint32_t argsz;
    std::uint32_t flags;
    std::uint32_t regions;
    std::uint32_t irqs;
};
static_assert(sizeof(DeviceInfo) == 16);

inline constexpr std::uint32_t device_reset = 1U << 0;
inline constexpr std::uint32_t device_pci = 1U << 1;

/// Regions 0 to 5 are the PCI resources.
inline constexpr std::uint32_t bar_regions = 6;
inline constexpr std::uint32_t config_region = 7;
inline constexpr std::uint32_t region_count = 9;

struct RegionInfo {
    std::uint32_t argsz;
    std::uint32_t flags;
    std::uint32_t index;
    std::uint32_t capabilities; // offset
    std::uint64_t size;
    std::uint64_t offset; // for mmap()
};
static_assert(sizeof(RegionInfo) == 32);

inline constexpr std::uint32_t region_readable = 1U << 0;
inline constexpr std::uint32_t region_writable = 1U << 1;

inline constexpr std::uint32_t intx = 0;
inline constexpr std::uint32_t irq_count = 3;

struct IrqInfo {
    std::uint32_t argsz;
    std::uint32_t flags;
    std::uint32_t index;
    std::uint32_t count;
};
static_assert(sizeof(IrqInfo) == 16);

inline constexpr std::uint32_t irq_eventfd = 1U << 0;
inline constexpr std::uint32_t irq_maskable = 1U << 1;
inline constexpr std::uint32_t irq_automasked = 1U << 2;

/// A byte for each interrupt follows, if irq_set_bool is set.
struct IrqSet {
    std::uint32_t argsz;
    std::uint32_t flags;
    std::uint32_t index;
    std::uint32_t start;
    std::uint32_t count;
};
static_assert(sizeof(IrqSet) == 20);

inline constexpr std::uint32_t irq_set_none = 1U << 0;
inline constexpr std::uint32_t irq_set_bool = 1U << 1;
inline constexpr std::uint32_t irq_set_eventfd = 1U << 2;
inline constexpr std::uint32_t irq_set_data = 0x7;
inline constexpr std::uint32_t irq_set_action = 0x38; // mask, unmask, trigger

/// The data follows, in a write's request and in a read's reply.
struct RegionAccess {
    std::uint64_t offset;
    std::uint32_t region;
    std::uint32_t count;
};
static_assert(sizeof(RegionAccess) == 16);

// This server's capabilities.
inline constexpr std::size_t max_fds = 8;
inline constexpr std::size_t max_data = 4096;
inline constexpr std::size_t max_dma_maps = 1024;
/// The longest message: data, or the JSON of a version.
inline constexpr std::size_t max_body = sizeof(RegionAccess) + max_data;

} // namespace nvmodel::vfio_user
