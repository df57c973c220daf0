// SPDX-License-Identifier: MIT OR GPL-2.0
// What NVIDIA's kernel driver takes and gives: ioctls of /dev/nvidiactl. Only what is used here.
//
// Facts from NVIDIA's open-gpu-kernel-modules ("OGKM"), compared in each series from 525.53 to
// 595.45.04. The structs that differ: Alloc (525 and 530 have no params_size), and the
// parameters of memory by physical address (525 has a page size of 32 bits).
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/ioctl.h>

namespace nvdebug::driver::rm {

/// A request for a struct of this size: kernel-open/common/inc/nv-ioctl-numbers.h, NV_IOCTL_MAGIC.
constexpr unsigned long request(unsigned number, std::size_t bytes) {
    return _IOC(_IOC_READ | _IOC_WRITE, 'F', number, bytes);
}

// src/nvidia/arch/nvalloc/unix/include/nv_escape.h
constexpr unsigned esc_control = 0x2a, esc_alloc = 0x2b, esc_map = 0x4e, esc_unmap = 0x4f;
// kernel-open/common/inc/nv-ioctl-numbers.h
constexpr unsigned esc_card_info = 200, esc_version = 210;

/// Which driver: nv_ioctl_rm_api_version_t of nv-ioctl.h.
struct Version {
    static constexpr std::uint32_t query = '2';
    std::uint32_t command, reply;
    char text[64];
};
static_assert(sizeof(Version) == 72);

/// A GPU of the driver's: nv_ioctl_card_info_t of nv-ioctl.h.
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

/// The same, until 530.
struct OldAlloc {
    std::uint32_t client, parent, object, object_class;
    std::uint64_t params, rights;
    std::uint32_t flags, status;
};
static_assert(sizeof(OldAlloc) == 40);

/// Asks an object: NVOS54_PARAMETERS of nvos.h.
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
    std::uint64_t offset, length, address; // address: the driver's name for it
    std::uint32_t status, flags;
    std::int32_t descriptor;
};
static_assert(sizeof(Map) == 56 && offsetof(Map, descriptor) == 48);

/// NVOS34_PARAMETERS of nvos.h.
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

/// Of a client, NV0000_CTRL_CMD_GPU_GET_ID_INFO_V2: ctrl/ctrl0000/ctrl0000gpu.h.
struct IdInfo {
    static constexpr std::uint32_t command = 0x205;
    std::uint32_t gpu_id, flags, device, subdevice, sli, board, instance;
    std::int32_t numa;
};
static_assert(sizeof(IdInfo) == 32);

/// One register: NV2080_CTRL_GPU_REG_OP of ctrl/ctrl2080/ctrl2080gpu.h. All zero: a 32-bit read of
/// a register of the whole GPU, the only operation made here.
struct RegisterOp {
    std::uint8_t operation, type, status, quad;
    std::uint32_t group_mask, subgroup_mask, offset, value_high, value, clear_high, clear;
};
static_assert(sizeof(RegisterOp) == 32);

/// Of a subdevice, NV2080_CTRL_CMD_GPU_EXEC_REG_OPS: ctrl2080gpu.h.
struct RegisterOps {
    static constexpr std::uint32_t command = 0x20800122;
    static constexpr std::size_t most = 100; // measured with 580.159.04: 100 work
    std::uint32_t target_client, target_channel, non_transactional, reserved[2], count;
    std::uint64_t ops;
    std::uint32_t route_flags; // NV0080_CTRL_GR_ROUTE_INFO of ctrl/ctrl0080/ctrl0080gr.h
    std::uint64_t route;
};
static_assert(sizeof(RegisterOps) == 48);

// Names that the RM and CUDA give. Clients: RS_CLIENT_HANDLE_BASE of
// src/nvidia/inc/libraries/resserv/resserv.h, counted up and beginning again. Objects with a name
// that the RM chose: RS_UNIQUE_HANDLE_BASE of rs_client.h. CUDA's: measured, counted up within a
// client.
constexpr std::uint32_t first_client = 0xc1d00000, first_object_of_rm = 0xcaf00000,
                        first_object_of_cuda = 0x5c000000;

/// Of a client, NV0000_CTRL_CMD_CLIENT_GET_HANDLE_INFO: ctrl/ctrl0000/ctrl0000client.h.
struct HandleInfo {
    static constexpr std::uint32_t command = 0xd02, parent = 1, object_class = 2;
    std::uint32_t object, what;
    std::uint64_t answer; ///< of a handle the lower half
};
static_assert(sizeof(HandleInfo) == 16);

/// Of a client, NV0000_CTRL_CMD_CLIENT_GET_ACCESS_RIGHTS: what it may do with an object of
/// any client. ctrl0000client.h.
struct AccessRights {
    static constexpr std::uint32_t command = 0xd03;
    std::uint32_t object, client, rights;
};
static_assert(sizeof(AccessRights) == 12);

/// Of a device, NV0080_CTRL_CMD_FIFO_GET_CHANNELLIST: ctrl/ctrl0080/ctrl0080fifo.h. Which of these
/// names of the client are channels, of whichever device. Any user may ask, and nothing is logged
/// (deviceCtrlCmdFifoGetChannelList_IMPL of kernel_fifo_ctrl.c, from 525.53 to 595.45.04); since
/// 535 without the GPUs' lock.
struct ChannelList {
    static constexpr std::uint32_t command = 0x80170d, no_channel = 0xffffffff;
    /// The RM has no bound but that of what it copies (1 MiB).
    static constexpr std::size_t most = 0x400;
    std::uint32_t count;
    std::uint64_t names, ids; ///< of arrays of 32 bits
};
static_assert(sizeof(ChannelList) == 24 && offsetof(ChannelList, names) == 8);

/// Of a subdevice, NV2080_CTRL_CMD_GPU_GET_ID: ctrl2080gpu.h.
struct GpuId {
    static constexpr std::uint32_t command = 0x20800142;
    std::uint32_t gpu_id;
};

/// Of a TSG, NVA06C_CTRL_CMD_GET_TIMESLICE: ctrl/ctrla06c.h.
struct Timeslice {
    static constexpr std::uint32_t command = 0xa06c0104;
    std::uint64_t us;
};

/// NV2080_CTRL_FIFO_MEM_INFO of ctrl/ctrl2080/ctrl2080fifo.h.
struct MemoryInfo {
    enum : std::uint32_t { none, video, coherent, noncoherent };
    std::uint32_t aperture;
    std::uint64_t address, bytes;
};

/// Of a subdevice, NV2080_CTRL_CMD_FIFO_GET_CHANNEL_MEM_INFO: ctrl2080fifo.h.
struct ChannelMemory {
    static constexpr std::uint32_t command = 0x2080110c;
    std::uint32_t channel;
    MemoryInfo instance, ramfc, method_buffers[2];
    std::uint32_t method_buffer_count;
};
static_assert(sizeof(ChannelMemory) == 112 && offsetof(ChannelMemory, instance) == 8);

constexpr std::uint32_t class_tsg = 0xa06c; // class/cla06c.h

// What changes how a task is scheduled. The structs are the same in each series from 525.53 to
// 595.45.04.

/// Of a TSG, NVA06C_CTRL_CMD_SET_TIMESLICE: ctrla06c.h.
struct SetTimeslice {
    static constexpr std::uint32_t command = 0xa06c0103;
    std::uint64_t us;
};

/// Of a TSG, NVA06C_CTRL_CMD_PREEMPT: ctrla06c.h.
struct Preempt {
    static constexpr std::uint32_t command = 0xa06c0105, longest_us = 1'000'000;
    std::uint8_t wait, own_timeout;
    std::uint32_t timeout_us;
};
static_assert(sizeof(Preempt) == 8 && offsetof(Preempt, timeout_us) == 4);

/// Of a TSG, how often its runlist has it: NVA06C_CTRL_CMD_SET_INTERLEAVE_LEVEL, and GET_:
/// ctrla06c.h. Setting takes CAP_SYS_NICE (RS_ACCESS_NICE of g_kernel_channel_group_api_nvoc.c).
struct SetInterleave {
    static constexpr std::uint32_t command = 0xa06c0107;
    std::uint32_t level; ///< low, medium, high
};
struct Interleave {
    static constexpr std::uint32_t command = 0xa06c0108, highest = 2;
    std::uint32_t level;
};

/// Of a subdevice, NV2080_CTRL_CMD_FIFO_DISABLE_CHANNELS: ctrl2080fifo.h. Those of one GPU; what is
/// disabled is preempted, too.
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

/// Of a subdevice, NV2080_CTRL_CMD_GR_SET_CTXSW_PREEMPTION_MODE: ctrl2080gr.h.
struct SetPreemptionMode {
    static constexpr std::uint32_t command = 0x20801210, set_compute = 1;
    std::uint32_t flags, channel, graphics, compute; ///< channel: or a TSG; compute: wfi, cta, cilp
    std::uint32_t route_flags;                       // NV0080_CTRL_GR_ROUTE_INFO
    std::uint64_t route;
};
static_assert(sizeof(SetPreemptionMode) == 32 && offsetof(SetPreemptionMode, route) == 24);

/// KEPLER_CHANNEL_GPFIFO_A (0xa06f) and each later one: class/cla06f.h, …, clc86f.h, ….
constexpr bool is_channel_class(std::uint32_t object_class) {
    return (object_class & 0xff) == 0x6f && object_class >= 0xa06f && object_class <= 0xffff;
}

// Context switches of the graphics engine, as the driver records them.

// class/cl90cd.h; 0x90ce is memory of no device, which only the driver may write
constexpr std::uint32_t class_events = 0x90cd, class_event_memory = 0x90ce;

/// NV_MEMORY_ALLOCATION_PARAMS of nvos.h, since 550; until then without the last word and what pads
/// it.
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

/// NV_EVENT_BUFFER_HEADER of cl90cd.h: full where get is put + 1.
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

/// Of a subdevice, NV2080_CTRL_CMD_GR_FECS_BIND_EVTBUF_FOR_UID_V2: ctrl2080gr.h.
struct BindSwitches {
    static constexpr std::uint32_t command = 0x20801238, fecs_bytes = 24, simple = 1;
    std::uint32_t events, record_bytes, detail, filter;
    std::uint8_t all_users;
    std::uint32_t reason;
};
static_assert(sizeof(BindSwitches) == 24);

/// Of a subdevice, NV2080_CTRL_CMD_TIMER_GET_TIME: ctrl2080timer.h. The GPU's clock, for any user.
struct Time {
    static constexpr std::uint32_t command = 0x20800403;
    std::uint64_t ns;
};

// Of the events: ctrl/ctrl90cd.h.
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

// Status: src/common/sdk/nvidia/inc/nvstatuscodes.h
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
