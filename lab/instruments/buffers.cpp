// SPDX-License-Identifier: MIT OR GPL-2.0
// Copies of buffers by Vulkan, on the queue that also does graphics: its channels are on GR0's
// runlist.
#include "instruments.hpp"
#include "spans.hpp"
#include "vulkan.hpp"

#include <cstdio>
#include <dlfcn.h>
#include <unistd.h>

namespace lab {

namespace {

using namespace vulkan;

template <typename... Arguments>
int vk(const char *name, Arguments... arguments) {
    static void *const library = dlopen("libvulkan.so.1", RTLD_NOW);
    if (!library)
        fail("there is no libvulkan.so.1 (Debian: libvulkan1): " + std::string(dlerror()));
    void *const function = dlsym(library, name);
    if (!function)
        fail(std::string("libvulkan.so.1 has no ") + name);
    return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

template <typename... Arguments>
void must(const char *name, Arguments... arguments) {
    if (const int result = vk(name, arguments...))
        fail(std::string(name) + ": VkResult " + std::to_string(result));
}

/** Calls a function of Vulkan that returns nothing. */
template <typename... Arguments>
void tell(const char *name, Arguments... arguments) {
    vk(name, arguments...);
}

const void *const no_allocator = nullptr;

struct Device {
    Handle physical = nullptr, device = nullptr, queue = nullptr;
    std::uint32_t family = 0;
};

Device open(std::uint32_t family) {
    Device found{.family = family};
    const InstanceCreate instance_create_info;
    Handle instance = nullptr;
    must("vkCreateInstance", &instance_create_info, no_allocator, &instance);
    std::uint32_t count = 1;
    const int listed = vk("vkEnumeratePhysicalDevices", instance, &count, &found.physical);
    if (listed < 0 || !count)
        fail("Vulkan knows no GPU (is nvidia_icd.json in VK_DRIVER_FILES?)");
    const float priority = 1;
    const QueueCreate queue{.family = family, .priorities = &priority};
    const DeviceCreate create{.queue = &queue};
    must("vkCreateDevice", found.physical, &create, no_allocator, &found.device);
    tell("vkGetDeviceQueue", found.device, family, std::uint32_t{0}, &found.queue);
    return found;
}

/** Makes a buffer in memory of the GPU or of the host. */
std::uint64_t buffer(const Device &device, std::uint64_t bytes, bool gpu) {
    const BufferCreate create{.bytes = bytes, .usage = usage_from | usage_to};
    std::uint64_t made = 0, memory = 0;
    must("vkCreateBuffer", device.device, &create, no_allocator, &made);
    Requirements needs{};
    tell("vkGetBufferMemoryRequirements", device.device, made, &needs);
    MemoryProperties properties{};
    tell("vkGetPhysicalDeviceMemoryProperties", device.physical, &properties);
    for (std::uint32_t type = 0; type < properties.types; type++) {
        const std::uint32_t flags = properties.type[type].flags;
        if (!(needs.types >> type & 1) ||
            (gpu ? !(flags & on_gpu) : (flags & on_gpu) || !(flags & host_visible)))
            continue;
        const MemoryAllocate allocate{.bytes = needs.bytes, .type = type};
        must("vkAllocateMemory", device.device, &allocate, no_allocator, &memory);
        must("vkBindBufferMemory", device.device, made, memory, std::uint64_t{0});
        return made;
    }
    fail("Vulkan has no such memory");
}

} // namespace

void buffers(Options &options) {
    const std::uint64_t ms = options.number("ms", 500, longest_ms);
    const std::uint64_t bytes = options.number("bytes", 64 << 20, 1 << 30);
    const std::string kind = options.text("kind", "h2d");
    const auto family = static_cast<std::uint32_t>(options.number("family", 0, 15));
    options.none_left();
    if (kind != "h2d" && kind != "d2h" && kind != "d2d")
        fail("'" + kind + "' is no kind of copy: h2d, d2h or d2d");
    const Device device = open(family);
    const std::uint64_t from = buffer(device, bytes, kind[0] == 'd'),
                        to = buffer(device, bytes, kind[2] == 'd');
    const PoolCreate pool_info{.family = family};
    std::uint64_t pool = 0;
    must("vkCreateCommandPool", device.device, &pool_info, no_allocator, &pool);
    const CommandAllocate allocate{.pool = pool};
    Handle commands = nullptr;
    must("vkAllocateCommandBuffers", device.device, &allocate, &commands);
    const CommandBegin begin_info;
    must("vkBeginCommandBuffer", commands, &begin_info);
    const BufferCopy all{0, 0, bytes};
    tell("vkCmdCopyBuffer", commands, from, to, std::uint32_t{1}, &all);
    must("vkEndCommandBuffer", commands);
    const Submit submit_info{.command = &commands};
    const auto once = [&] {
        must("vkQueueSubmit", device.queue, std::uint32_t{1}, &submit_info, std::uint64_t{0});
        must("vkQueueWaitIdle", device.queue);
    };
    const Spans spans = repeat(ms, once);
    std::printf("{\"instrument\": \"buffers\", \"pid\": %d, \"bytes\": %lu, \"spans\": ", getpid(),
                bytes);
    print(spans);
    std::printf("}\n");
}

} // namespace lab
