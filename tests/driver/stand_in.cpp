// SPDX-License-Identifier: MIT OR GPL-2.0
#include "stand_in.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace driver_test {

namespace {

constexpr std::uint32_t client = 0xc1d00001;

template <typename T>
T *at(std::uint64_t pointer) {
    return reinterpret_cast<T *>(static_cast<std::uintptr_t>(pointer));
}

} // namespace

void StandIn::add_card(std::uint32_t minor, std::uint8_t bus) {
    rm::Card card{};
    card.valid = 1;
    card.bus = bus;
    card.gpu_id = std::uint32_t{bus} << 8;
    card.minor = minor;
    cards.push_back(card);
}

int StandIn::open(const std::string &path) {
    if (const auto refused = cannot_open.find(path); refused != cannot_open.end())
        return -refused->second;
    open_.emplace(next_, path);
    return next_++;
}

void StandIn::close(int descriptor) {
    if (!open_.erase(descriptor))
        wrong("close() of what is not open");
    ready_.erase(descriptor);
    objects_.erase(descriptor);
}

int StandIn::ioctl(int descriptor, unsigned long request, void *argument) {
    ioctls++;
    const unsigned number = _IOC_NR(request);
    const std::size_t bytes = _IOC_SIZE(request);
    const auto file = open_.find(descriptor);
    if (file == open_.end() || file->second != "/dev/nvidiactl")
        wrong("an ioctl of something else than /dev/nvidiactl");
    if (_IOC_TYPE(request) != 'F')
        wrong("an ioctl of another driver");
    if (ioctls == fail)
        return -fail_with;
    const int error = answer(descriptor, number, argument, bytes);
    if (!error && garble)
        garble(number, argument, bytes);
    return error;
}

int StandIn::answer(int descriptor, unsigned number, void *argument, std::size_t bytes) {
    const bool denied = ioctls == deny;
    switch (number) {
    case rm::esc_version: {
        auto &asked = *static_cast<rm::Version *>(argument);
        if (bytes != sizeof(asked) || asked.command != rm::Version::query)
            return -EINVAL;
        std::strncpy(asked.text, version.c_str(), sizeof(asked.text));
        asked.reply = 1;
        return 0;
    }
    case rm::esc_card_info:
        if (bytes % sizeof(rm::Card) || bytes / sizeof(rm::Card) < cards.size())
            return -EINVAL;
        std::memcpy(argument, cards.data(), cards.size() * sizeof(rm::Card));
        return 0;
    case rm::esc_alloc:
        return alloc(descriptor, argument, bytes);
    case rm::esc_control: {
        auto &asked = *static_cast<rm::Control *>(argument);
        if (bytes != sizeof(asked))
            return -EINVAL;
        asked.status = denied ? deny_with : control(asked);
        return 0;
    }
    case rm::esc_map: {
        auto &asked = *static_cast<rm::Map *>(argument);
        if (bytes != sizeof(asked))
            return -EINVAL;
        asked.status = denied ? deny_with : prepare(asked);
        return 0;
    }
    case rm::esc_unmap: {
        auto &asked = *static_cast<rm::Unmap *>(argument);
        if (bytes != sizeof(asked))
            return -EINVAL;
        if (!prepared_.erase(asked.address))
            wrong("unmapping of what is not mapped");
        asked.status = 0;
        return 0;
    }
    default:
        wrong("ioctl " + std::to_string(number));
        return -EINVAL;
    }
}

int StandIn::alloc(int descriptor, void *argument, std::size_t bytes) {
    const bool denied = ioctls == deny;
    if (layout == Layout::current && bytes == sizeof(rm::Alloc)) {
        auto &asked = *static_cast<rm::Alloc *>(argument);
        if (asked.object_class == rm::class_client)
            asked.object = client;
        asked.status = denied ? deny_with
                              : make(descriptor, asked.parent, asked.object, asked.object_class,
                                     at<void>(asked.params));
        return 0;
    }
    if (layout == Layout::until_530 && bytes == sizeof(rm::OldAlloc)) {
        auto &asked = *static_cast<rm::OldAlloc *>(argument);
        if (asked.object_class == rm::class_client)
            asked.object = client;
        asked.status = denied ? deny_with
                              : make(descriptor, asked.parent, asked.object, asked.object_class,
                                     at<void>(asked.params));
        return 0;
    }
    return -EINVAL;
}

std::uint32_t StandIn::make(int descriptor, std::uint32_t parent, std::uint32_t object,
                            std::uint32_t which, void *params) {
    auto &objects = objects_[descriptor];
    if (which != rm::class_client && !objects.contains(parent))
        return 0x57; // NV_ERR_OBJECT_NOT_FOUND
    if (!objects.insert(object).second)
        return 0x19; // NV_ERR_INSERT_DUPLICATE_NAME
    switch (which) {
    case rm::class_client:
    case rm::class_device:
    case rm::class_subdevice:
        return 0;
    case rm::class_physical_memory:
        if (!root)
            return rm::insufficient_permissions;
        static_cast<rm::PhysicalMemoryParams *>(params)->bytes = memory_bytes;
        return 0;
    default:
        wrong("an object of class " + std::to_string(which));
        return 0x22; // NV_ERR_INVALID_CLASS
    }
}

std::uint32_t StandIn::control(const rm::Control &asked) {
    if (asked.command == rm::IdInfo::command && asked.params_size == sizeof(rm::IdInfo)) {
        at<rm::IdInfo>(asked.params)->device = 0;
        return 0;
    }
    if (asked.command == rm::RegisterOps::command && asked.params_size == sizeof(rm::RegisterOps))
        return read_registers(*at<rm::RegisterOps>(asked.params));
    wrong("control " + std::to_string(asked.command));
    return rm::not_supported;
}

std::uint32_t StandIn::read_registers(const rm::RegisterOps &request) {
    register_calls++;
    registers_read += request.count;
    most_at_once = std::max<std::size_t>(most_at_once, request.count);
    if (!request.count || request.count > rm::RegisterOps::most)
        return rm::invalid_argument;
    auto *const ops = at<rm::RegisterOp>(request.ops);
    for (std::uint32_t i = 0; i < request.count; i++) {
        if (ops[i].operation || ops[i].type)
            wrong("a register operation that is no plain read");
        if (ops[i].offset % 4)
            return rm::invalid_argument;
        const auto value = root && registers ? registers(ops[i].offset) : std::nullopt;
        ops[i].status = value ? 0 : 4;
        if (value)
            ops[i].value = *value;
    }
    return 0;
}

std::uint32_t StandIn::prepare(rm::Map &map) {
    mappings++;
    if (map.flags != rm::Map::read_only)
        wrong("a mapping that can be written");
    if (map.offset > memory_bytes || map.length > memory_bytes - map.offset || map.offset % 4096 ||
        map.length % 4096)
        return rm::invalid_argument;
    if (!open_.contains(map.descriptor) || ready_.contains(map.descriptor))
        wrong("a mapping for a descriptor that cannot have it");
    map.address = next_linear_ += 0x100000;
    prepared_[map.address] = {map.offset, map.length};
    ready_[map.descriptor] = {map.offset, map.length};
    return 0;
}

const void *StandIn::map(int descriptor, std::size_t bytes) {
    const auto ready = ready_.find(descriptor);
    if (ready == ready_.end() || ready->second.bytes != bytes) {
        wrong("mmap() of what was not prepared");
        return nullptr;
    }
    if (cannot_map)
        return nullptr;
    std::vector<std::uint32_t> words(bytes / sizeof(std::uint32_t));
    for (std::size_t i = 0; memory && i < words.size(); i++)
        words[i] = memory(ready->second.begin + i * sizeof(std::uint32_t));
    const void *const address = words.data();
    mapped_.emplace(address, std::move(words));
    return address;
}

void StandIn::unmap(const void *address, std::size_t) {
    if (!mapped_.erase(address))
        wrong("munmap() of what is not mapped");
}

StandIn::StandIn()
    : files{{"/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n"},
            {"/sys/bus/pci/devices/0000:01:00.0/device", "0x2330\n"},
            {"/sys/bus/pci/devices/0000:01:00.0/subsystem_vendor", "0x10de\n"},
            {"/sys/bus/pci/devices/0000:01:00.0/subsystem_device", "0x16c1\n"},
            {"/sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n"},
            {"/sys/bus/pci/devices/0000:01:00.0/resource",
             "0x0000102002000000 0x0000102002ffffff 0x000000000014220c\n"
             "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
             "0x0000100000000000 0x0000101fffffffff 0x000000000014220c\n"
             "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
             "0x0000102000000000 0x0000102001ffffff 0x000000000014220c\n"
             "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"}} {
    add_card(0, 1);
}

std::string StandIn::read(const std::string &path) {
    const auto file = files.find(path);
    return file == files.end() ? "" : file->second;
}

} // namespace driver_test
