// SPDX-License-Identifier: MIT OR GPL-2.0
// The requests of NVIDIA's kernel driver, ioctls of /dev/nvidiactl, that this folder uses.
//
// The facts are from NVIDIA's open-gpu-kernel-modules ("OGKM"), compared in each series from 525.53
// to 595.45.04. Two structs differ: Alloc (525 and 530 have no params_size), and the parameters of
// memory by physical address (the page size of 525 has 32 bits).
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/ioctl.h>

namespace nvdebug::driver::rm {

/// Returns the ioctl number for a struct of this size: kernel-open/common/inc/nv-ioctl-numbers.h,
/// NV_IOCTL_MAGIC.
constexpr unsigned long request(unsigned number, std::size_t bytes) {
    return _IOC(_IOC_READ | _IOC_WRITE, 'F', number, bytes);
}

// src/nvidia/arch/nvalloc/unix/include/nv_escape.h
constexpr unsigned esc_control = 0x2a, esc_alloc = 0x2b, esc_map = 0x4e, esc_unmap = 0x4f;
// kernel-open/common/inc/nv-ioctl-numbers.h
constexpr unsigned esc_card_info = 200, esc_version = 210;

/// Asks for the driver's version: nv_ioctl_rm_api_version_t of nv-ioctl.h.
struct Version {
    static constexpr std::uint32_t query = '2';
    std::uint32_t command, reply;
    char text[64];
};
static_assert(sizeof(Version) == 72);

/// A GPU of the driver: nv_ioctl_card_info_t of nv-ioctl.h.
struct Card {
    std::uint8_t valid;
    std::uint32_t domain;
    std::uint8_t bus, slot, function;
    std::uint16_t vendor, device;
    std::uint32_t gpu_id;
    std::uint16_t interrupt;
    std::uint64_t registers, register_bytes; ///< BAR0
    std::uint64_t memory, memory_bytes;      ///< BAR1
    std::uint32_t minor;                     ///< /dev/nvidiaN
    std::uint8_t name[10];
};
static_assert(sizeof(Card) == 72 && offsetof(Card, gpu_id) == 16 && offsetof(Card, minor) == 56);
constexpr std::size_t cards_max = 32; // NV_MAX_DEVICES, src/common/sdk/nvidia/inc/nvlimits.h

/// Makes an object: NVOS64_PARAMETERS of src/common/sdk/nvidia/inc/nvos.h, since 535.
struct Alloc {
    std::uint32_t client, parent, object, object_class;
    std::uint64_t params, rights;
    std::uint32_t params_size, flags, status;
};
static_assert(sizeof(Alloc) == 48);

/// Makes an object, up to 530.
struct OldAlloc {
    std::uint32_t client, parent, object, object_class;
    std::uint64_t params, rights;
    std::uint32_t flags, status;
};
static_assert(sizeof(OldAlloc) == 40);

/// Sends a command to an object: NVOS54_PARAMETERS of nvos.h.
struct Control {
    std::uint32_t client, object, command, flags;
    std::uint64_t params;
    std::uint32_t params_size, status;
};
static_assert(sizeof(Control) == 32);

/// Prepares mmap() of @p descriptor: nv_ioctl_nvos33_parameters_with_fd of
/// src/nvidia/arch/nvalloc/unix/include/nv-unix-nvos-params-wrappers.h.
struct Map {
    static constexpr std::uint32_t read_only = 1; // NVOS33_FLAGS_ACCESS of nvos.h
    std::uint32_t client, device, memory;
    std::uint64_t offset, length, address; // address: the driver's name for the mapping
    std::uint32_t status, flags;
    std::int32_t descriptor;
};
static_assert(sizeof(Map) == 56 && offsetof(Map, descriptor) == 48);

/// Removes a mapping: NVOS34_PARAMETERS of nvos.h.
struct Unmap {
    std::uint32_t client, device, memory;
    std::uint64_t address;
    std::uint32_t status, flags;
};
static_assert(sizeof(Unmap) == 32);

// Classes: src/common/sdk/nvidia/inc/class/cl0000.h, cl0080.h, cl2080.h, cl00c2.h
constexpr std::uint32_t class_client = 0, class_device = 0x80, class_subdevice = 0x2080,
                        class_physical_memory = 0xc2;

/// NV0080_ALLOC_PARAMETERS.
struct DeviceParams {
    std::uint32_t device, client_share, target_client, target_device, flags;
    std::uint64_t va_bytes, va_start, va_limit;
    std::uint32_t va_mode;
};
static_assert(sizeof(DeviceParams) == 56);

/// NV2080_ALLOC_PARAMETERS.
struct SubdeviceParams {
    std::uint32_t subdevice;
};

/// NV_PHYSICAL_MEMORY_ALLOCATION_PARAMS.
struct PhysicalMemoryParams {
    std::uint64_t bytes; ///< answer: all video memory
    std::uint32_t format, old_page_bytes;
    std::uint64_t page_bytes;
};
static_assert(sizeof(PhysicalMemoryParams) == 24);

/// Asks a client for the numbers of a GPU: NV0000_CTRL_CMD_GPU_GET_ID_INFO_V2 of
/// ctrl/ctrl0000/ctrl0000gpu.h.
struct IdInfo {
    static constexpr std::uint32_t command = 0x205;
    std::uint32_t gpu_id, flags, device, subdevice, sli, board, instance;
    std::int32_t numa;
};
static_assert(sizeof(IdInfo) == 32);

/// One register: NV2080_CTRL_GPU_REG_OP of ctrl/ctrl2080/ctrl2080gpu.h. All zero means a 32-bit
/// read of a register of the whole GPU, the only operation that this program makes.
struct RegisterOp {
    std::uint8_t operation, type, status, quad;
    std::uint32_t group_mask, subgroup_mask, offset, value_high, value, clear_high, clear;
};
static_assert(sizeof(RegisterOp) == 32);

/// Reads registers through a subdevice: NV2080_CTRL_CMD_GPU_EXEC_REG_OPS of ctrl2080gpu.h.
struct RegisterOps {
    static constexpr std::uint32_t command = 0x20800122;
    static constexpr std::size_t most = 100; // measured with 580.159.04: 100 work
    std::uint32_t target_client, target_channel, non_transactional, reserved[2], count;
    std::uint64_t ops;
    std::uint32_t route_flags; // NV0080_CTRL_GR_ROUTE_INFO of ctrl/ctrl0080/ctrl0080gr.h
    std::uint64_t route;
};
static_assert(sizeof(RegisterOps) == 48);

// Names that the RM and CUDA give. Clients are counted from RS_CLIENT_HANDLE_BASE of
// src/nvidia/inc/libraries/resserv/resserv.h on, and the counter wraps. Objects that the RM names
// are counted from RS_UNIQUE_HANDLE_BASE of rs_client.h on. CUDA counts the objects within a client
// from a number that was measured.
constexpr std::uint32_t first_client = 0xc1d00000, first_object_of_rm = 0xcaf00000,
                        first_object_of_cuda = 0x5c000000;

/// Asks a client about an object: NV0000_CTRL_CMD_CLIENT_GET_HANDLE_INFO of
/// ctrl/ctrl0000/ctrl0000client.h.
struct HandleInfo {
    static constexpr std::uint32_t command = 0xd02, parent = 1, object_class = 2;
    std::uint32_t object, what;
    std::uint64_t answer; ///< a handle is in the lower half
};
static_assert(sizeof(HandleInfo) == 16);

/// Asks a client which rights it has on an object of any client:
/// NV0000_CTRL_CMD_CLIENT_GET_ACCESS_RIGHTS of ctrl0000client.h.
struct AccessRights {
    static constexpr std::uint32_t command = 0xd03;
    std::uint32_t object, client, rights;
};
static_assert(sizeof(AccessRights) == 12);

/// Asks a device which of these names of the client are channels, on whichever device:
/// NV0080_CTRL_CMD_FIFO_GET_CHANNELLIST of ctrl/ctrl0080/ctrl0080fifo.h. Any user may ask, and the
/// driver logs nothing (deviceCtrlCmdFifoGetChannelList_IMPL of kernel_fifo_ctrl.c, from 525.53 to
/// 595.45.04). Since 535 the request does not take the lock of all GPUs.
struct ChannelList {
    static constexpr std::uint32_t command = 0x80170d, no_channel = 0xffffffff;
    /// The RM bounds only the bytes that it copies (1 MiB).
    static constexpr std::size_t most = 0x400;
    std::uint32_t count;
    std::uint64_t names, ids; ///< addresses of arrays of 32-bit words
};
static_assert(sizeof(ChannelList) == 24 && offsetof(ChannelList, names) == 8);

/// Asks a subdevice for its GPU: NV2080_CTRL_CMD_GPU_GET_ID of ctrl2080gpu.h.
struct GpuId {
    static constexpr std::uint32_t command = 0x20800142;
    std::uint32_t gpu_id;
};

/// Asks a TSG for its timeslice: NVA06C_CTRL_CMD_GET_TIMESLICE of ctrl/ctrla06c.h.
struct Timeslice {
    static constexpr std::uint32_t command = 0xa06c0104;
    std::uint64_t us;
};

/// The place of a channel's memory: NV2080_CTRL_FIFO_MEM_INFO of ctrl/ctrl2080/ctrl2080fifo.h.
struct MemoryInfo {
    enum : std::uint32_t { none, video, coherent, noncoherent };
    std::uint32_t aperture;
    std::uint64_t address, bytes;
};

/// Asks a subdevice where the memory of a channel is: NV2080_CTRL_CMD_FIFO_GET_CHANNEL_MEM_INFO of
/// ctrl2080fifo.h.
struct ChannelMemory {
    static constexpr std::uint32_t command = 0x2080110c;
    std::uint32_t channel;
    MemoryInfo instance, ramfc, method_buffers[2];
    std::uint32_t method_buffer_count;
};
static_assert(sizeof(ChannelMemory) == 112 && offsetof(ChannelMemory, instance) == 8);

constexpr std::uint32_t class_tsg = 0xa06c; // class/cla06c.h

// The following requests change how a task is scheduled. Their structs are the same in each series
// from 525.53 to 595.45.04.

/// Sets the timeslice of a TSG: NVA06C_CTRL_CMD_SET_TIMESLICE of ctrla06c.h.
struct SetTimeslice {
    static constexpr std::uint32_t command = 0xa06c0103;
    std::uint64_t us;
};

/// Preempts a TSG: NVA06C_CTRL_CMD_PREEMPT of ctrla06c.h.
struct Preempt {
    static constexpr std::uint32_t command = 0xa06c0105, longest_us = 1'000'000;
    std::uint8_t wait, own_timeout;
    std::uint32_t timeout_us;
};
static_assert(sizeof(Preempt) == 8 && offsetof(Preempt, timeout_us) == 4);

/// Sets how often the runlist has a TSG: NVA06C_CTRL_CMD_SET_INTERLEAVE_LEVEL of ctrla06c.h.
/// Setting needs CAP_SYS_NICE (RS_ACCESS_NICE of g_kernel_channel_group_api_nvoc.c). Interleave
/// asks for the level (NVA06C_CTRL_CMD_GET_INTERLEAVE_LEVEL).
struct SetInterleave {
    static constexpr std::uint32_t command = 0xa06c0107;
    std::uint32_t level; ///< low, medium, high
};
struct Interleave {
    static constexpr std::uint32_t command = 0xa06c0108, highest = 2;
    std::uint32_t level;
};

/// Disables or enables channels of a subdevice's GPU: NV2080_CTRL_CMD_FIFO_DISABLE_CHANNELS of
/// ctrl2080fifo.h. Disabling also preempts the channels.
struct DisableChannels {
    static constexpr std::uint32_t command = 0x2080110b;
    static constexpr std::size_t most = 64;
    std::uint8_t disable;
    std::uint32_t count;
    std::uint8_t only_scheduling, rewind;
    std::uint64_t event;
    std::uint32_t clients[most], channels[most];
};
static_assert(sizeof(DisableChannels) == 536 && offsetof(DisableChannels, clients) == 24);

/// Sets the preemption mode of a channel or TSG through a subdevice:
/// NV2080_CTRL_CMD_GR_SET_CTXSW_PREEMPTION_MODE of ctrl2080gr.h.
struct SetPreemptionMode {
    static constexpr std::uint32_t command = 0x20801210, set_compute = 1;
    std::uint32_t flags, channel, graphics, compute; ///< channel: or a TSG; compute: wfi, cta, cilp
    std::uint32_t route_flags;                       // NV0080_CTRL_GR_ROUTE_INFO
    std::uint64_t route;
};
static_assert(sizeof(SetPreemptionMode) == 32 && offsetof(SetPreemptionMode, route) == 24);

/// Returns whether the class is KEPLER_CHANNEL_GPFIFO_A (0xa06f) or a later class of channels:
/// class/cla06f.h, …, clc86f.h, ….
constexpr bool is_channel_class(std::uint32_t object_class) {
    return (object_class & 0xff) == 0x6f && object_class >= 0xa06f && object_class <= 0xffff;
}

// The following requests record the context switches of the graphics engine.

// class/cl90cd.h; 0x90ce is memory without a device, which only the driver may write
constexpr std::uint32_t class_events = 0x90cd, class_event_memory = 0x90ce;

/// NV_MEMORY_ALLOCATION_PARAMS of nvos.h, since 550. Older drivers lack the last word and its
/// padding.
struct MemoryParams {
    static constexpr std::size_t old_bytes = 120;
    static constexpr std::uint32_t cached = 1U << 29, // NVOS32_ATTR_COHERENCY
        user_read_only = 1U << 22;                    // NVOS32_ATTR2_PROTECTION_USER
    std::uint32_t owner, type, flags, width, height, pitch, attributes, more_attributes, format,
        compression, zcull;
    std::uint64_t range_low, range_high, bytes, alignment, offset, limit, address;
    std::uint32_t tag_offset, space, internal_flags, tag, numa;
};
static_assert(sizeof(MemoryParams) == 128 && offsetof(MemoryParams, numa) == 120);

/// NV_EVENT_BUFFER_ALLOC_PARAMETERS of cl90cd.h.
struct EventParams {
    std::uint64_t header_address, records_address;
    std::uint32_t record_bytes, record_count;
    std::uint64_t more_address;
    std::uint32_t more_bytes, records_free;
    std::uint64_t notified;
    std::uint32_t more_free, subdevice, flags, header, records, more;
};
static_assert(sizeof(EventParams) == 72);

/// NV_EVENT_BUFFER_HEADER of cl90cd.h. The buffer is full when `get` equals `put` + 1.
struct EventHeader {
    std::uint32_t get, put;
    std::uint64_t count, dropped, more_dropped;
};
static_assert(sizeof(EventHeader) == 32);

/// NV_EVENT_BUFFER_RECORD_HEADER of cl90cd.h and NV_EVENT_BUFFER_FECS_RECORD_V2 of cl90cdfecs.h.
struct SwitchRecord {
    static constexpr std::uint8_t starts = 6, ends = 7;
    std::uint16_t type, subtype;
    std::uint32_t more;
    std::uint8_t tag, vm;
    std::uint16_t sequence;
    std::uint32_t context, pid;
    std::uint16_t reserved;
    std::uint8_t gpu_instance, compute_instance;
    std::uint64_t ns;
};
static_assert(sizeof(SwitchRecord) == 32 && offsetof(SwitchRecord, ns) == 24);

/// Begins the record of switches of a subdevice: NV2080_CTRL_CMD_GR_FECS_BIND_EVTBUF_FOR_UID_V2 of
/// ctrl2080gr.h.
struct BindSwitches {
    static constexpr std::uint32_t command = 0x20801238, fecs_bytes = 24, simple = 1;
    std::uint32_t events, record_bytes, detail, filter;
    std::uint8_t all_users;
    std::uint32_t reason;
};
static_assert(sizeof(BindSwitches) == 24);

/// Asks a subdevice for the GPU's clock, as any user may: NV2080_CTRL_CMD_TIMER_GET_TIME of
/// ctrl2080timer.h.
struct Time {
    static constexpr std::uint32_t command = 0x20800403;
    std::uint64_t ns;
};

// Enables the record, and takes events from it: ctrl/ctrl90cd.h.
struct EnableEvents {
    static constexpr std::uint32_t command = 0x90cd0101, keep_oldest = 1;
    std::uint8_t enable;
    std::uint32_t flags;
};
struct TakeEvents {
    static constexpr std::uint32_t command = 0x90cd0102;
    std::uint32_t get, more_get;
};
constexpr std::uint32_t flush_events = 0x90cd0104;

// The status codes are from src/common/sdk/nvidia/inc/nvstatuscodes.h.
enum Status : std::uint32_t {
    ok = 0,
    gpu_is_lost = 0x0f,
    insufficient_permissions = 0x1b,
    invalid_argument = 0x1f,
    invalid_channel = 0x21,
    invalid_client = 0x23,
    not_supported = 0x56,
    object_not_found = 0x57,
    timeout = 0x65,
};

} // namespace nvdebug::driver::rm
