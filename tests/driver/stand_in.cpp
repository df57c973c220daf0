// SPDX-License-Identifier: MIT OR GPL-2.0
#include "stand_in.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace driver_test {

namespace {

// Of a process, what its descriptors are.
constexpr int gpu_descriptor = 7, control_descriptor = 8, other_descriptor = 9;
constexpr std::uint64_t control_device = 195 << 8 | 255;

template <typename T>
T *at(std::uint64_t pointer) {
    return reinterpret_cast<T *>(static_cast<std::uintptr_t>(pointer));
}

/// Refused if it is not the struct that is known.
template <typename T, typename Answer>
int sized(void *argument, std::size_t bytes, Answer answer) {
    if (bytes != sizeof(T))
        return -EINVAL;
    answer(*static_cast<T *>(argument));
    return 0;
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
    taken_.erase(descriptor);
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
    case rm::esc_version:
        return sized<rm::Version>(argument, bytes, [&](rm::Version &asked) {
            if (asked.command != rm::Version::query)
                wrong("another question about the version");
            std::strncpy(asked.text, version.c_str(), sizeof(asked.text));
            asked.reply = 1;
        });
    case rm::esc_card_info:
        if (bytes % sizeof(rm::Card) || bytes / sizeof(rm::Card) < cards.size())
            return -EINVAL;
        std::memcpy(argument, cards.data(), cards.size() * sizeof(rm::Card));
        return 0;
    case rm::esc_alloc:
        return alloc(descriptor, argument, bytes);
    case rm::esc_control:
        return sized<rm::Control>(argument, bytes, [&](rm::Control &asked) {
            asked.status = denied ? deny_with : control(descriptor, asked);
        });
    case rm::esc_map:
        return sized<rm::Map>(argument, bytes, [&](rm::Map &asked) {
            asked.status = denied ? deny_with : prepare(asked);
        });
    case rm::esc_unmap:
        return sized<rm::Unmap>(argument, bytes, [&](rm::Unmap &asked) {
            if (!prepared_.erase(asked.address))
                wrong("unmapping of what is not mapped");
            asked.status = 0;
        });
    default:
        wrong("ioctl " + std::to_string(number));
        return -EINVAL;
    }
}

int StandIn::alloc(int descriptor, void *argument, std::size_t bytes) {
    const auto answer = [&](auto &asked) {
        if (asked.object_class == rm::class_client)
            asked.object = next_client_++;
        asked.status = ioctls == deny ? deny_with
                                      : make(descriptor, asked.parent, asked.object,
                                             asked.object_class, at<void>(asked.params));
    };
    switch (layout) {
    case Layout::current:
        return sized<rm::Alloc>(argument, bytes, answer);
    case Layout::until_530:
        return sized<rm::OldAlloc>(argument, bytes, answer);
    default:
        return -EINVAL;
    }
}

std::uint32_t StandIn::make(int descriptor, std::uint32_t parent, std::uint32_t object,
                            std::uint32_t which, void *params) {
    if (taken_.contains(descriptor))
        wrong("an object made for another process");
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

std::uint32_t StandIn::control(int descriptor, const rm::Control &asked) {
    if (const auto taken = taken_.find(descriptor); taken != taken_.end()) {
        const auto process = processes.find(taken->second);
        if (!others.contains(asked.client))
            wrong("a question to a client that is not there, which the driver logs");
        if (process == processes.end() || !process->second.clients.contains(asked.client))
            return rm::invalid_client;
        questions++;
        if (before_question)
            before_question();
        return question(asked);
    }
    if (asked.command == rm::AccessRights::command &&
        asked.params_size == sizeof(rm::AccessRights)) {
        const auto &about = *at<rm::AccessRights>(asked.params);
        return others.contains(about.client) ? rm::ok : rm::invalid_client;
    }
    if (asked.command == rm::IdInfo::command && asked.params_size == sizeof(rm::IdInfo)) {
        at<rm::IdInfo>(asked.params)->device = 0;
        return 0;
    }
    if (asked.command == rm::RegisterOps::command && asked.params_size == sizeof(rm::RegisterOps))
        return read_registers(*at<rm::RegisterOps>(asked.params));
    wrong("control " + std::to_string(asked.command));
    return rm::not_supported;
}

std::uint32_t StandIn::question(const rm::Control &asked) {
    const auto client = others.find(asked.client);
    if (client == others.end())
        return rm::invalid_client;
    const auto named = [&](std::uint32_t name) -> const Object * {
        const auto found = client->second.find(name);
        return found == client->second.end() ? nullptr : &found->second;
    };
    const Object *const object = named(asked.object);
    if (!object)
        return rm::object_not_found;
    if (asked.command == rm::HandleInfo::command && asked.params_size == sizeof(rm::HandleInfo)) {
        auto &info = *at<rm::HandleInfo>(asked.params);
        const Object *const about = named(info.object);
        if (!about)
            return rm::object_not_found;
        info.answer = info.what == rm::HandleInfo::parent ? about->parent : about->object_class;
        return rm::ok;
    }
    if (asked.command == rm::GpuId::command && object->object_class == rm::class_subdevice) {
        at<rm::GpuId>(asked.params)->gpu_id = object->gpu_id;
        return rm::ok;
    }
    if (asked.command == rm::Timeslice::command && object->object_class == rm::class_tsg) {
        at<rm::Timeslice>(asked.params)->us = object->timeslice_us;
        return rm::ok;
    }
    if (asked.command == rm::ChannelMemory::command &&
        asked.params_size == sizeof(rm::ChannelMemory) &&
        object->object_class == rm::class_subdevice) {
        auto &memory = *at<rm::ChannelMemory>(asked.params);
        if (!root)
            return rm::insufficient_permissions;
        const Object *const channel = named(memory.channel);
        if (!channel)
            return rm::object_not_found;
        memory.instance = channel->instance;
        return rm::ok;
    }
    wrong("question " + std::to_string(asked.command) + " to another process' client");
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

StandIn::Process *StandIn::process_of(const std::string &path, std::string &rest) {
    std::uint32_t pid = 0;
    int end = 0;
    if (std::sscanf(path.c_str(), "/proc/%u/%n", &pid, &end) != 1 || !end)
        return nullptr;
    rest = path.substr(static_cast<std::size_t>(end));
    const auto process = processes.find(pid);
    return process == processes.end() ? nullptr : &process->second;
}

std::string StandIn::read(const std::string &path) {
    std::string name;
    if (const Process *const process = process_of(path, name)) {
        if (name == "comm")
            return process->command + "\n";
        if (name == "cgroup")
            return process->cgroup;
        if (name == "stat")
            // The name is no word, and 22 is the field.
            return "5 (a) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " +
                   std::to_string(process->started) + " 0 0\n";
        return "";
    }
    const auto file = files.find(path);
    return file == files.end() ? "" : file->second;
}

int StandIn::list(const std::string &path, std::vector<std::string> &names) {
    if (path == "/proc") {
        names.insert(names.end(), {"1", "version", "sys"});
        for (const auto &[pid, process] : processes)
            names.push_back(std::to_string(pid));
        return 0;
    }
    std::string name;
    const Process *const process = process_of(path, name);
    if (!process || name != "fd")
        return -ENOENT;
    if (process->hidden)
        return -EACCES;
    for (const int descriptor : {gpu_descriptor, control_descriptor, other_descriptor})
        names.push_back(std::to_string(descriptor));
    return 0;
}

std::optional<std::uint64_t> StandIn::device(const std::string &path) {
    constexpr std::uint64_t gpu_device = 195 << 8;
    std::string name;
    unsigned number = 0;
    if (path == "/dev/nvidiactl")
        return control_device;
    if (std::sscanf(path.c_str(), "/dev/nvidia%u", &number) == 1)
        return gpu_device | number;
    if (std::sscanf(path.c_str(), "/proc/self/fd/%u", &number) == 1)
        return taken_.contains(static_cast<int>(number)) ? std::optional(control_device)
                                                         : std::nullopt;
    const Process *const process = process_of(path, name);
    if (process && process->uses_gpu && name == "fd/" + std::to_string(gpu_descriptor))
        return gpu_device;
    if (process && name == "fd/" + std::to_string(control_descriptor))
        return control_device;
    return std::nullopt;
}

int StandIn::take(std::uint32_t pid, int descriptor) {
    if (before_take)
        before_take();
    const auto process = processes.find(pid);
    if (process == processes.end())
        return -ESRCH;
    if (process->second.denied)
        return -EPERM;
    if (descriptor != control_descriptor)
        wrong("a descriptor taken that is not of /dev/nvidiactl");
    open_.emplace(next_, "/dev/nvidiactl");
    taken_.emplace(next_, pid);
    return next_++;
}

std::uint32_t StandIn::add_process(std::uint32_t pid, const std::vector<std::uint64_t> &instances) {
    const std::uint32_t client = next_client_++, device = rm::first_object_of_cuda + 2,
                        subdevice = device + 1, tsg = device + 0x10;
    Objects &objects = others[client];
    objects[client] = {0, 0x41};
    objects[device] = {client, rm::class_device};
    objects[subdevice] = {device, rm::class_subdevice};
    objects[tsg] = {device, rm::class_tsg, 2048};
    std::uint32_t channel = tsg;
    for (const std::uint64_t instance : instances)
        objects[channel += 4] = {tsg, 0xc86f, 0, {rm::MemoryInfo::video, instance, 4096}};
    processes[pid].clients.insert(client);
    return client;
}

} // namespace driver_test
