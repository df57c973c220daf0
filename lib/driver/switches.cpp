// SPDX-License-Identifier: MIT OR GPL-2.0
#include "switches.hpp"
#include "processes.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>

namespace nvdebug::driver {
namespace {

// The RM's names of this program's objects: any numbers that are unique within its client.
constexpr std::uint32_t switches_device = 0x6e760001, switches_subdevice = 0x6e760002,
                        header_handle = 0x6e760004, records_handle = 0x6e760005,
                        events_handle = 0x6e760006;
constexpr std::uint32_t count = 1 << 16;
constexpr std::size_t header_bytes = 4096, records_bytes = count * sizeof(rm::SwitchRecord);

Error refused(const std::string &what, std::uint32_t status) {
    if (status == rm::gpu_is_lost)
        return {ErrorCode::gone, ENODEV, "", "the GPU has fallen off the bus, its driver says"};
    if (status == rm::timeout)
        return {ErrorCode::timeout, ETIMEDOUT, "",
                "NVIDIA's driver does not " + what + " now: it did not answer in time; try again"};
    return {ErrorCode::unsupported, EOPNOTSUPP, "",
            "NVIDIA's driver does not " + what + ": status " + hex(status) +
                " (nvstatuscodes.h); a virtual GPU, MIG or its age may be why"};
}

} // namespace

Result<void> Switches::control(std::uint32_t object, std::uint32_t command, void *params,
                               std::size_t bytes) {
    const auto status = client_->control(object, command, params, bytes);
    if (!status)
        return tl::unexpected(status.error());
    if (*status)
        return tl::unexpected(refused("record context switches", *status));
    return {};
}

Result<const void *> Switches::make_memory(std::uint32_t handle, std::size_t bytes) {
    std::uint32_t refusal = 0;
    for (const std::size_t size : {sizeof(rm::MemoryParams), rm::MemoryParams::old_bytes}) {
        rm::MemoryParams memory{};
        memory.owner = client_->handle();
        memory.attributes = rm::MemoryParams::cached;
        memory.more_attributes = rm::MemoryParams::user_read_only;
        memory.bytes = bytes;
        const auto status =
            client_->alloc(client_->handle(), handle, rm::class_event_memory, &memory, size);
        if (!status)
            return tl::unexpected(status.error());
        refusal = *status;
        if (!refusal)
            break;
    }
    if (refusal)
        return tl::unexpected(refused("give memory for context switches", refusal));
    const int descriptor = kernel_->open("/dev/nvidiactl");
    if (descriptor < 0)
        return tl::unexpected(refused("let /dev/nvidiactl be opened again", 0));
    rm::Map map{};
    map.client = map.device = client_->handle();
    map.memory = handle;
    map.length = bytes;
    map.flags = rm::Map::read_only;
    map.descriptor = descriptor;
    const int error = client_->ioctl(rm::esc_map, &map, sizeof(map));
    const void *const mapped = error || map.status ? nullptr : kernel_->map(descriptor, bytes);
    kernel_->close(descriptor);
    if (!mapped)
        return tl::unexpected(refused("map its record of context switches", map.status));
    return mapped;
}

Result<void> Switches::make_objects(const Card &card) {
    gpu_ = kernel_->device(device_of(card));
    const auto opened = open_device(*kernel_, card);
    if (!opened)
        return tl::unexpected(opened.error());
    node_ = *opened;
    const std::uint32_t client = client_->handle();
    rm::IdInfo id{};
    id.gpu_id = card.gpu_id;
    if (auto asked = control(client, rm::IdInfo::command, &id, sizeof(id)); !asked)
        return asked;
    const auto make = [&](std::uint32_t parent, std::uint32_t object, std::uint32_t which,
                          void *params, std::size_t bytes) -> Result<void> {
        const auto status = client_->alloc(parent, object, which, params, bytes);
        if (!status)
            return tl::unexpected(status.error());
        if (*status)
            return tl::unexpected(refused("record context switches", *status));
        return {};
    };
    rm::DeviceParams device{};
    device.device = id.device;
    rm::SubdeviceParams subdevice{id.subdevice};
    if (auto made = make(client, switches_device, rm::class_device, &device, sizeof(device)); !made)
        return made;
    if (auto made = make(switches_device, switches_subdevice, rm::class_subdevice, &subdevice,
                         sizeof(subdevice));
        !made)
        return made;
    const auto header = make_memory(header_handle, header_bytes);
    if (!header)
        return tl::unexpected(header.error());
    header_ = static_cast<const rm::EventHeader *>(*header);
    const auto records = make_memory(records_handle, records_bytes);
    if (!records)
        return tl::unexpected(records.error());
    records_ = static_cast<const rm::SwitchRecord *>(*records);
    rm::EventParams events{};
    events.record_bytes = sizeof(rm::SwitchRecord);
    events.record_count = count;
    events.records_free = 1;
    events.subdevice = switches_subdevice;
    events.header = header_handle;
    events.records = records_handle;
    return make(client, events_handle, rm::class_events, &events, sizeof(events));
}

Result<void> Switches::bind() {
    std::uint32_t refusal = 0;
    // Only root may record the switches of other users.
    for (const bool all_users : {true, false}) {
        rm::BindSwitches request{
            events_handle, rm::BindSwitches::fecs_bytes, rm::BindSwitches::simple, 0, all_users, 0};
        const auto status = client_->control(switches_subdevice, rm::BindSwitches::command,
                                             &request, sizeof(request));
        if (!status)
            return tl::unexpected(status.error());
        refusal = *status;
        if (refusal != rm::insufficient_permissions)
            break;
    }
    if (refusal)
        return tl::unexpected(refused("record context switches", refusal));
    rm::EnableEvents enable{1, rm::EnableEvents::keep_oldest};
    return control(events_handle, rm::EnableEvents::command, &enable, sizeof(enable));
}

Result<std::unique_ptr<Switches>> Switches::start(const std::shared_ptr<Kernel> &kernel,
                                                  const Card &card) {
    auto client = Client::open(kernel);
    if (!client)
        return tl::unexpected(std::move(client).error());
    std::unique_ptr<Switches> switches(new Switches(kernel, std::move(*client)));
    if (auto made = switches->make_objects(card).and_then([&] { return switches->bind(); }); !made)
        return tl::unexpected(std::move(made).error());
    return switches;
}

Switches::~Switches() {
    if (header_)
        kernel_->unmap(header_, header_bytes);
    if (records_)
        kernel_->unmap(records_, records_bytes);
    if (node_ >= 0)
        kernel_->close(node_);
}

Result<std::uint64_t> Switches::read(std::vector<ContextSwitch> &switches) {
    if (auto flushed = control(events_handle, rm::flush_events, nullptr, 0); !flushed)
        return tl::unexpected(std::move(flushed).error());
    const std::uint32_t put = __atomic_load_n(&header_->put, __ATOMIC_ACQUIRE);
    if (put >= count)
        return tl::unexpected(Error{ErrorCode::malformed, 0, "",
                                    "NVIDIA's driver says that its record of context switches "
                                    "goes on beyond its end"});
    const std::uint32_t before = get_;
    for (; get_ != put; get_ = (get_ + 1) % count) {
        const rm::SwitchRecord &record = records_[get_];
        if (record.tag == rm::SwitchRecord::starts || record.tag == rm::SwitchRecord::ends)
            switches.push_back(
                {record.ns, record.tag == rm::SwitchRecord::starts, record.context, record.pid});
    }
    rm::TakeEvents take{get_, 0};
    if (get_ != before)
        if (auto taken = control(events_handle, rm::TakeEvents::command, &take, sizeof(take));
            !taken)
            return tl::unexpected(std::move(taken).error());
    return __atomic_load_n(&header_->dropped, __ATOMIC_RELAXED);
}

Result<std::uint64_t> Switches::now_ns() {
    rm::Time time{};
    if (auto told = control(switches_subdevice, rm::Time::command, &time, sizeof(time)); !told)
        return tl::unexpected(std::move(told).error());
    return time.ns;
}

nvdebug::Process Switches::process(std::uint32_t pid) {
    const auto told = [](std::string text) {
        return text.empty() ? std::nullopt : std::optional(std::move(text));
    };
    const nvdebug::Process unknown{pid, {}, {}};
    const auto started = this->started(pid);
    if (!started || !gpu_ || !has_open(*kernel_, pid, *gpu_))
        return unknown;
    const nvdebug::Process known{
        pid,     told(command_of(*kernel_, pid)), told(cgroup_of(*kernel_, pid)), {},
        started, launcher_of(*kernel_, pid)};
    // The process may have ended, and another may have its number now.
    return start_of(*kernel_, pid) == started ? known : unknown;
}

std::optional<std::uint64_t> Switches::started(std::uint32_t pid) {
    return sees_processes() ? start_of(*kernel_, pid) : std::nullopt;
}

bool Switches::sees_processes() {
    return kernel_->counts_as_host();
}

Result<std::string> record_switches(const std::shared_ptr<Kernel> &kernel, const Card &card,
                                    std::uint64_t ms, const std::function<std::string()> &clock) {
    auto switches = Switches::start(kernel, card);
    if (!switches)
        return tl::unexpected(std::move(switches).error());
    const std::string begin = clock();
    timespec left{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000 * 1'000'000)};
    while (::nanosleep(&left, &left) && errno == EINTR)
        continue;
    const std::string end = clock();
    std::vector<ContextSwitch> all;
    const auto dropped = (*switches)->read(all);
    if (!dropped)
        return tl::unexpected(dropped.error());
    std::string text = "dropped: " + std::to_string(*dropped) + "\nbegin_ns: " + begin +
                       "\nend_ns: " + end + "\n\n# ns starts context pid\n";
    for (const ContextSwitch &one : all)
        text += std::to_string(one.ns) + (one.starts ? " 1 " : " 0 ") + hex(one.context) + " " +
                std::to_string(one.pid) + "\n";
    return text;
}

} // namespace nvdebug::driver
