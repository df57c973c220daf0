// SPDX-License-Identifier: MIT OR GPL-2.0
#include "stand_in.hpp"
#include "stand_in_parts.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace driver_test {

namespace {

/// Calls @p answer, or refuses a struct of another size.
template <typename T, typename Answer>
int sized(void *argument, std::size_t bytes, Answer answer) {
    if (bytes != sizeof(T))
        return -EINVAL;
    answer(*static_cast<T *>(argument));
    return 0;
}

} // namespace

StandIn::StandIn()
    : files{{"/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n"},
            {"/sys/bus/pci/devices/0000:01:00.0/device", "0x2330\n"},
            {"/sys/bus/pci/devices/0000:01:00.0/subsystem_vendor", "0x10de\n"},
            {"/sys/bus/pci/devices/0000:01:00.0/subsystem_device", "0x16c1\n"},
            {"/sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n"},
            // A row has the start, the end and the flags of a resource. BAR0, BAR1 (in row 2) and
            // BAR3 (in row 4) are 64-bit memory.
            {"/sys/bus/pci/devices/0000:01:00.0/resource",
             "0x0000102002000000 0x0000102002ffffff 0x000000000014220c\n"
             "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
             "0x0000100000000000 0x0000101fffffffff 0x000000000014220c\n"
             "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
             "0x0000102000000000 0x0000102001ffffff 0x000000000014220c\n"
             "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"}},
      self_(::getpid()) {
    shared_ = static_cast<Shared *>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    add_card(0, 1);
}

StandIn::~StandIn() {
    for (const auto &[pid, life] : lives_) {
        ::close(life.read);
        if (life.write >= 0)
            ::close(life.write);
    }
    ::munmap(shared_, sizeof(Shared));
}

void StandIn::add_card(std::uint32_t minor, std::uint8_t bus) {
    rm::Card card{};
    card.valid = 1;
    card.bus = bus;
    card.gpu_id = std::uint32_t{bus} << 8;
    card.minor = minor;
    cards.push_back(card);
}

int StandIn::open(const std::string &path) {
    const std::scoped_lock calling(lock_);
    if (const auto refused = cannot_open.find(path); refused != cannot_open.end())
        return -refused->second;
    open_.emplace(next_, path);
    return next_++;
}

/// The driver refuses a GPU that has gone only when its file is opened.
int StandIn::access(const std::string &path) {
    const std::scoped_lock calling(lock_);
    const auto refused = cannot_open.find(path);
    if (refused == cannot_open.end())
        return 0;
    const int error = refused->second;
    return error == ENOENT || error == EPERM || error == EACCES ? -error : 0;
}

void StandIn::close(int descriptor) {
    const std::scoped_lock calling(lock_);
    if (!open_.erase(descriptor))
        wrong("close() of what is not open");
    ready_.erase(descriptor);
    event_maps_.erase(descriptor);
    objects_.erase(descriptor);
    held_threads_.erase(descriptor);
    if (held_.erase(descriptor))
        ::close(descriptor);
    const auto taken = taken_.find(descriptor);
    if (taken == taken_.end())
        return;
    const std::uint32_t pid = taken->second;
    taken_.erase(taken);
    keep({pid, 0, closed, 0, ::getpid()});
    if (std::ranges::none_of(taken_, [&](const auto &other) { return other.second == pid; }))
        for (const std::uint32_t client : dying_[pid])
            others.erase(client);
}

int StandIn::ioctl(int descriptor, unsigned long request, void *argument) {
    if (before_ioctl)
        before_ioctl();
    if (before_request)
        before_request(_IOC_NR(request), argument);
    const std::scoped_lock calling(lock_);
    ioctls++;
    if (::getpid() != self_)
        shared_->ioctls++;
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
            asked.object = new_client();
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
    case rm::class_event_memory: {
        const auto &memory = *static_cast<rm::MemoryParams *>(params);
        if (memory.more_attributes != rm::MemoryParams::user_read_only)
            wrong("memory of events that can be written");
        event_memory_[{parent, object}] = memory.bytes;
        return 0;
    }
    case rm::class_events: {
        const auto &made = *static_cast<rm::EventParams *>(params);
        if (!event_memory_.contains({parent, made.header}) ||
            event_memory_[{parent, made.records}] <
                std::uint64_t{made.record_bytes} * made.record_count)
            return rm::invalid_argument;
        events_[parent] = {made.header, made.records};
        return 0;
    }
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
        if (!dying_[taken->second].contains(asked.client) &&
            (process == processes.end() || !process->second.clients.contains(asked.client)))
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
        auto &id = *at<rm::IdInfo>(asked.params);
        gpus_of[asked.client] = id.gpu_id;
        id.device = 0;
        return 0;
    }
    if (asked.command == rm::BindSwitches::command || asked.command >> 16 == rm::class_events)
        return events(asked);
    if (asked.command == rm::Time::command && asked.params_size == sizeof(rm::Time)) {
        const auto found = clock_of.find(gpus_of[asked.client]);
        const auto &read = found == clock_of.end() ? clock : found->second;
        at<rm::Time>(asked.params)->ns = read ? read() : 0;
        return read ? rm::ok : rm::not_supported;
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
    switch (asked.command) {
    case rm::SetTimeslice::command:
    case rm::SetInterleave::command:
    case rm::Preempt::command:
    case rm::DisableChannels::command:
    case rm::SetPreemptionMode::command:
        return change_or_refuse(asked, client->second);
    default:
        break;
    }
    if (asked.command == rm::HandleInfo::command && asked.params_size == sizeof(rm::HandleInfo)) {
        auto &info = *at<rm::HandleInfo>(asked.params);
        const Object *const about = named(info.object);
        if (!about)
            return rm::object_not_found;
        info.answer = info.what == rm::HandleInfo::parent ? about->parent : about->object_class;
        return rm::ok;
    }
    if (asked.command == rm::ChannelList::command && asked.params_size == sizeof(rm::ChannelList) &&
        object->object_class == rm::class_device) {
        if (!lists_channels)
            return rm::not_supported;
        const auto &list = *at<rm::ChannelList>(asked.params);
        if (!list.count || list.count > rm::ChannelList::most)
            wrong("a list of " + std::to_string(list.count) + " channels");
        for (std::uint32_t n = 0; n < list.count; n++) {
            const Object *const one = named(at<std::uint32_t>(list.names)[n]);
            const bool is_channel = one && rm::is_channel_class(one->object_class);
            at<std::uint32_t>(list.ids)[n] = is_channel ? n : rm::ChannelList::no_channel;
        }
        return rm::ok;
    }
    if (asked.command == rm::GpuId::command && object->object_class == rm::class_subdevice) {
        at<rm::GpuId>(asked.params)->gpu_id = object->gpu_id;
        return rm::ok;
    }
    if (asked.command == rm::Timeslice::command && object->object_class == rm::class_tsg) {
        at<rm::Timeslice>(asked.params)->us =
            latest(asked, rm::SetTimeslice::command, object->timeslice_us);
        return rm::ok;
    }
    if (asked.command == rm::Interleave::command && object->object_class == rm::class_tsg) {
        if (!tells_interleave)
            return rm::not_supported;
        at<rm::Interleave>(asked.params)->level = static_cast<std::uint32_t>(
            latest(asked, rm::SetInterleave::command, object->interleave));
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

std::uint32_t StandIn::events(const rm::Control &asked) {
    if (asked.command == rm::BindSwitches::command && !has_switches)
        return rm::not_supported;
    if (asked.command == rm::BindSwitches::command)
        return at<rm::BindSwitches>(asked.params)->all_users && !root ? rm::insufficient_permissions
                                                                      : rm::ok;
    if (asked.command == rm::EnableEvents::command || asked.command == rm::TakeEvents::command)
        return rm::ok;
    const auto [header_name, records_name] = events_[asked.client];
    if (asked.command != rm::flush_events || !event_words_.contains({asked.client, header_name})) {
        wrong("events asked for in another way");
        return rm::invalid_argument;
    }
    if (before_flush)
        before_flush();
    const std::uint32_t gpu = gpus_of[asked.client];
    const auto &recorded = gpu == cards.front().gpu_id ? switches : switches_of[gpu];
    if (gpu != cards.front().gpu_id && recorded.empty())
        return rm::ok;
    auto &header_words = *event_words_[{asked.client, header_name}],
         &record_words = *event_words_[{asked.client, records_name}];
    auto *const header = reinterpret_cast<rm::EventHeader *>(header_words.data());
    auto *const records = reinterpret_cast<rm::SwitchRecord *>(record_words.data());
    // The records are a ring, so older ones were read before.
    const std::size_t bytes = record_words.size() * sizeof(std::uint64_t);
    const std::size_t count = bytes / sizeof(rm::SwitchRecord);
    std::size_t fresh = std::min(recorded.size(), count - 1);
    if (header->put < count)
        fresh = std::min(fresh, (recorded.size() - header->put) % count);
    for (std::size_t n = recorded.size() - fresh; n < recorded.size(); n++)
        records[n % count] = recorded[n];
    header->put = static_cast<std::uint32_t>(recorded.size() % count) + put_beyond;
    header->dropped = dropped;
    return rm::ok;
}

std::uint32_t StandIn::read_registers(const rm::RegisterOps &request) {
    take_effect();
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
    if (const Named named{map.client, map.memory}; event_memory_.contains(named)) {
        if (map.offset || map.length != event_memory_[named])
            wrong("a part of the memory of events mapped");
        event_maps_[map.descriptor] = named;
        return 0;
    }
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
    const std::scoped_lock calling(lock_);
    take_effect();
    if (const auto events = event_maps_.find(descriptor); events != event_maps_.end()) {
        if (cannot_map)
            return nullptr;
        auto words = std::make_unique<std::vector<std::uint64_t>>(bytes / sizeof(std::uint64_t));
        const void *const address = words->data();
        event_words_[events->second] = words.get();
        event_mapped_.emplace(address, std::move(words));
        return address;
    }
    const auto ready = ready_.find(descriptor);
    if (ready == ready_.end() || ready->second.bytes != bytes) {
        wrong("mmap() of what was not prepared");
        return nullptr;
    }
    if (cannot_map)
        return nullptr;
    Mapped mapped{ready->second.begin, std::vector<std::uint32_t>(bytes / sizeof(std::uint32_t))};
    fill(mapped);
    const void *const address = mapped.words.data();
    mapped_.emplace(address, std::move(mapped));
    return address;
}

void StandIn::fill(Mapped &mapped) const {
    for (std::size_t i = 0; memory && i < mapped.words.size(); i++)
        mapped.words[i] = memory(mapped.begin + i * sizeof(std::uint32_t));
}

void StandIn::unmap(const void *address, std::size_t) {
    const std::scoped_lock calling(lock_);
    if (!mapped_.erase(address) && !event_mapped_.erase(address))
        wrong("munmap() of what is not mapped");
}

} // namespace driver_test
