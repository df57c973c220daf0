// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file The part of Vulkan 1.0 that the instruments use, looked up at run time. Layouts and
 * numbers are of Khronos' specification. */
#ifndef NVDEBUG_LAB_VULKAN_HPP
#define NVDEBUG_LAB_VULKAN_HPP

#include <cstddef>
#include <cstdint>

namespace lab::vulkan {

using Handle = void *;

/** VkStructureType */
enum Type : std::uint32_t {
    instance_create = 1,
    queue_create = 2,
    device_create = 3,
    submit = 4,
    memory_allocate = 5,
    buffer_create = 12,
    pool_create = 39,
    command_allocate = 40,
    command_begin = 42,
};

struct Head {
    std::uint32_t type;
    const void *next = nullptr;
};

struct InstanceCreate {
    Head head{instance_create};
    std::uint32_t flags = 0;
    const void *application = nullptr;
    std::uint32_t layers = 0;
    const char *const *layer_names = nullptr;
    std::uint32_t extensions = 0;
    const char *const *extension_names = nullptr;
};

struct QueueCreate {
    Head head{queue_create};
    std::uint32_t flags = 0, family = 0, count = 1;
    const float *priorities = nullptr;
};

struct DeviceCreate {
    Head head{device_create};
    std::uint32_t flags = 0, queues = 1;
    const QueueCreate *queue = nullptr;
    std::uint32_t layers = 0;
    const char *const *layer_names = nullptr;
    std::uint32_t extensions = 0;
    const char *const *extension_names = nullptr;
    const void *features = nullptr;
};

struct BufferCreate {
    Head head{buffer_create};
    std::uint32_t flags = 0;
    std::uint64_t bytes = 0;
    std::uint32_t usage = 0, sharing = 0, families = 0;
    const std::uint32_t *family = nullptr;
};

struct Requirements {
    std::uint64_t bytes, alignment;
    std::uint32_t types;
};

struct MemoryProperties {
    std::uint32_t types;
    struct {
        std::uint32_t flags, heap;
    } type[32];
    std::uint32_t heaps;
    struct {
        std::uint64_t bytes;
        std::uint32_t flags;
    } heap[16];
};

struct MemoryAllocate {
    Head head{memory_allocate};
    std::uint64_t bytes = 0;
    std::uint32_t type = 0;
};

struct PoolCreate {
    Head head{pool_create};
    std::uint32_t flags = 0, family = 0;
};

struct CommandAllocate {
    Head head{command_allocate};
    std::uint64_t pool = 0;
    std::uint32_t level = 0, count = 1;
};

struct CommandBegin {
    Head head{command_begin};
    std::uint32_t flags = 0;
    const void *inherited = nullptr;
};

struct BufferCopy {
    std::uint64_t from, to, bytes;
};

struct Submit {
    Head head{submit};
    std::uint32_t waits = 0;
    const std::uint64_t *wait = nullptr;
    const std::uint32_t *stages = nullptr;
    std::uint32_t commands = 1;
    const Handle *command = nullptr;
    std::uint32_t signals = 0;
    const std::uint64_t *signal = nullptr;
};

constexpr std::uint32_t usage_from = 1, usage_to = 2; // VkBufferUsageFlagBits
constexpr std::uint32_t on_gpu = 1, host_visible = 2; // VkMemoryPropertyFlagBits

} // namespace lab::vulkan

#endif
