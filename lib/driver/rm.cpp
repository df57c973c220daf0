// SPDX-License-Identifier: MIT OR GPL-2.0
#include "rm.hpp"

#include "rights.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace nvdebug::driver {
namespace {

constexpr const char *control_path = "/dev/nvidiactl";

// The RM's names of this program's objects: any numbers that are unique within its client.
constexpr std::uint32_t device_handle = 0x6e760001, subdevice_handle = 0x6e760002,
                        memory_handle = 0x6e760003;

/// Returns the error of a GPU's device file, or of the control file.
Error cannot_open_device(Kernel &kernel, const std::string &path, int number) {
    const bool is_gpu = path != control_path;
    if (is_gpu && (number == ENODEV || number == ENXIO || number == EIO))
        return {ErrorCode::gone, number, path,
                "the GPU of " + path + " has gone, or could not be set up (" +
                    ::strerrordesc_np(number) +
                    "); the kernel's log says more ('dmesg | grep -i xid')"};
    if (is_gpu && number == ENOENT)
        return {ErrorCode::denied, number, path,
                "there is no " + path +
                    ", though NVIDIA's driver lists the GPU: this container or unit has no access "
                    "to it, and has to be started with that device; outside of containers, "
                    "'nvidia-smi' makes the file"};
    switch (number) {
    case ENOENT:
    case ENXIO:
    case ENODEV:
        return {ErrorCode::not_found, number, path,
                "there is no " + path +
                    ": NVIDIA's driver is not loaded, or it has not made its device files; "
                    "'nvidia-smi' makes them"};
    case EACCES:
    case EPERM:
        return {ErrorCode::denied, number, path,
                "you may not open " + path + ": " + ::strerrordesc_np(number) + "; " +
                    advice_on_device(kernel, number)};
    default:
        return {code_of_errno(number), number, path,
                "NVIDIA's driver does not let " + path +
                    " be opened: " + ::strerrordesc_np(number) + "; the kernel's log may say why"};
    }
}

/// Returns the error of a request that the driver did not take. Only an errno that stands for an
/// unknown number or size of a request points to an unknown version.
Error not_taken(Kernel &kernel, const std::string &what, int number) {
    const std::string why =
        ::strerrordesc_np(number) ? ::strerrordesc_np(number) : "error " + std::to_string(number);
    switch (number) {
    case ENODEV:
    case ENXIO:
    case EIO:
        return {ErrorCode::gone, number, control_path,
                "the GPU, or NVIDIA's driver, has gone: the request to " + what + " ended with '" +
                    why + "'; the kernel's log says more ('dmesg | grep -i xid')"};
    case EINVAL:
    case ENOTTY:
    case ENOSYS:
    case EOPNOTSUPP:
        return {ErrorCode::unsupported, number, control_path,
                "NVIDIA's driver does not take the request to " + what + " (" + why +
                    "): it is older or newer than those this program knows, 525 to 595"};
    case EACCES:
    case EPERM:
        return {ErrorCode::denied, number, control_path,
                "you may not have NVIDIA's driver " + what + "; " +
                    advice_on_right(kernel, "CAP_SYS_ADMIN")};
    default:
        return {code_of_errno(number), number, control_path,
                "NVIDIA's driver did not carry out the request to " + what + " (" + why +
                    "); the kernel's log may say why, and it may work later"};
    }
}

std::string address_of(const rm::Card &card) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", card.domain, card.bus, card.slot,
                  card.function);
    return text.data();
}

} // namespace

std::string hex(std::uint64_t value) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
    return text.data();
}

std::string device_of(const Card &card) {
    return "/dev/nvidia" + std::to_string(card.minor);
}

Result<int> open_device(Kernel &kernel, const Card &card) {
    const std::string path = device_of(card);
    const int descriptor = kernel.open(path);
    if (descriptor < 0)
        return tl::unexpected(cannot_open_device(kernel, path, -descriptor));
    return descriptor;
}

std::optional<Error> withheld(Kernel &kernel, const Card &card) {
    const std::string path = device_of(card);
    const int number = -kernel.access(path);
    if (number == ENOENT || number == EPERM || number == EACCES)
        return cannot_open_device(kernel, path, number);
    return std::nullopt;
}

// --- the client ---

Answer ask_rm(Kernel &kernel, int descriptor, std::uint32_t client, std::uint32_t object,
              std::uint32_t command, void *params, std::size_t bytes) {
    rm::Control control{client,
                        object,
                        command,
                        0,
                        reinterpret_cast<std::uintptr_t>(params),
                        static_cast<std::uint32_t>(bytes),
                        0};
    const int error =
        kernel.ioctl(descriptor, rm::request(rm::esc_control, sizeof(control)), &control);
    return {control.status, error};
}

Client::Client(std::shared_ptr<Kernel> kernel, int descriptor)
    : kernel_(std::move(kernel)), descriptor_(descriptor) {}

Client::~Client() {
    kernel_->close(descriptor_);
}

int Client::ioctl(unsigned number, void *argument, std::size_t bytes) {
    return -kernel_->ioctl(descriptor_, rm::request(number, bytes), argument);
}

Result<std::shared_ptr<Client>> Client::open(std::shared_ptr<Kernel> kernel) {
    const int descriptor = kernel->open(control_path);
    if (descriptor < 0)
        return tl::unexpected(cannot_open_device(*kernel, control_path, -descriptor));
    const std::shared_ptr<Client> client(new Client(std::move(kernel), descriptor));
    return client->read_version().and_then([&] { return client->make_client(); }).map([&] {
        return client;
    });
}

Result<void> Client::read_version() {
    rm::Version version{};
    version.command = rm::Version::query;
    if (const int error = ioctl(rm::esc_version, &version, sizeof(version)))
        return tl::unexpected(not_taken(*kernel_, "say its version", error));
    version_.assign(version.text, ::strnlen(version.text, sizeof(version.text)));
    if (version_.empty() || version_.find_first_not_of("0123456789.") != version_.npos)
        return tl::unexpected(Error{ErrorCode::unsupported, 0, control_path,
                                    "NVIDIA's driver says no version that makes sense"});
    return {};
}

Result<void> Client::make_client() {
    rm::Alloc alloc{};
    alloc.object_class = rm::class_client;
    int error = ioctl(rm::esc_alloc, &alloc, sizeof(alloc));
    std::uint32_t status = alloc.status;
    client_ = alloc.object;
    if (error == EINVAL) {
        // Up to 530 the request is shorter. The driver distinguishes the two by size.
        rm::OldAlloc old{};
        old.object_class = rm::class_client;
        error = ioctl(rm::esc_alloc, &old, sizeof(old));
        status = old.status;
        client_ = old.object;
        old_alloc_ = true;
    }
    if (error)
        return tl::unexpected(not_taken(*kernel_, "open a client", error));
    if (status || !client_)
        return tl::unexpected(
            Error{ErrorCode::unsupported, 0, control_path,
                  "NVIDIA's driver " + version_ + " refuses a client with status " + hex(status)});
    return {};
}

Result<std::uint32_t> Client::alloc(std::uint32_t parent, std::uint32_t object, std::uint32_t which,
                                    void *params, std::size_t bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(params);
    rm::Alloc now{client_, parent, object, which, at, 0, static_cast<std::uint32_t>(bytes), 0, 0};
    rm::OldAlloc old{client_, parent, object, which, at, 0, 0, 0};
    const int error = old_alloc_ ? ioctl(rm::esc_alloc, &old, sizeof(old))
                                 : ioctl(rm::esc_alloc, &now, sizeof(now));
    if (error)
        return tl::unexpected(not_taken(*kernel_, "make an object of class " + hex(which), error));
    return old_alloc_ ? old.status : now.status;
}

Result<std::uint32_t> Client::control(std::uint32_t object, std::uint32_t command, void *params,
                                      std::size_t bytes) {
    const Answer answer = ask_rm(*kernel_, descriptor_, client_, object, command, params, bytes);
    if (answer.error)
        return tl::unexpected(
            not_taken(*kernel_, "answer question " + hex(command), -answer.error));
    return answer.status;
}

Result<std::vector<Card>> Client::cards() {
    std::array<rm::Card, rm::cards_max> all{};
    if (const int error = ioctl(rm::esc_card_info, all.data(), sizeof(all)))
        return tl::unexpected(not_taken(*kernel_, "list its GPUs", error));
    std::vector<Card> cards;
    for (const rm::Card &card : all)
        if (card.valid)
            cards.push_back({address_of(card), card.gpu_id, card.minor});
    std::ranges::sort(cards, {}, &Card::pci_address);
    return cards;
}

// --- a GPU ---

Gpu::~Gpu() {
    client_->kernel_->close(descriptor_);
}

Error Gpu::refused(const std::string &what, std::uint32_t status) const {
    const std::string who = "NVIDIA's driver " + client_->version() + " does not let " + what +
                            " of the GPU at " + card_.pci_address;
    switch (status) {
    case rm::insufficient_permissions:
        return {ErrorCode::denied, EPERM, "",
                "NVIDIA's driver lets root alone (CAP_SYS_ADMIN) read registers and memory; " +
                    advice_on_right(*client_->kernel_, "CAP_SYS_ADMIN")};
    case rm::gpu_is_lost:
        return {ErrorCode::gone, ENODEV, "",
                "the GPU at " + card_.pci_address + " has fallen off the bus, its driver says"};
    case rm::timeout:
        return {ErrorCode::timeout, ETIMEDOUT, "",
                who + " now: it did not answer in time; try again"};
    default:
        return {ErrorCode::unsupported, EOPNOTSUPP, "",
                who + ": status " + hex(status) + " (nvstatuscodes.h); " +
                    "a virtual GPU or a mode such as MIG may be why"};
    }
}

Result<std::unique_ptr<Gpu>> Gpu::open(std::shared_ptr<Client> client, const Card &card) {
    const auto descriptor = open_device(*client->kernel_, card);
    if (!descriptor)
        return tl::unexpected(descriptor.error());
    std::unique_ptr<Gpu> gpu(new Gpu(std::move(client), card, *descriptor));
    if (auto made = gpu->make_objects(); !made)
        return tl::unexpected(std::move(made).error());
    return gpu;
}

Result<void> Gpu::make_objects() {
    rm::IdInfo id{};
    id.gpu_id = card_.gpu_id;
    auto status = client_->control(client_->client_, rm::IdInfo::command, &id, sizeof(id));
    if (!status)
        return tl::unexpected(status.error());
    if (*status)
        return tl::unexpected(refused("the number be asked", *status));
    rm::DeviceParams device{};
    device.device = id.device;
    status =
        client_->alloc(client_->client_, device_handle, rm::class_device, &device, sizeof(device));
    if (!status)
        return tl::unexpected(status.error());
    if (*status)
        return tl::unexpected(refused("a device be opened", *status));
    rm::SubdeviceParams subdevice{id.subdevice};
    status = client_->alloc(device_handle, subdevice_handle, rm::class_subdevice, &subdevice,
                            sizeof(subdevice));
    if (!status)
        return tl::unexpected(status.error());
    if (*status)
        return tl::unexpected(refused("a subdevice be opened", *status));
    // Memory comes first, since the driver logs each register that it refuses.
    if (auto made = make_memory(); !made)
        return made;
    // A driver that refuses registers answers the request, and refuses each register in it.
    const std::uint32_t first = 0;
    std::uint32_t value = 0;
    const auto answered = read_some({&first, 1}, {&value, 1});
    if (!answered)
        return tl::unexpected(answered.error());
    if (!*answered)
        return tl::unexpected(Error{ErrorCode::denied, EPERM, "",
                                    "NVIDIA's driver does not let you read registers of the GPU "
                                    "at " +
                                        card_.pci_address + "; " +
                                        advice_on_right(*client_->kernel_, "CAP_SYS_ADMIN")});
    return {};
}

Result<void> Gpu::read(std::span<const std::uint32_t> offsets, std::span<std::uint32_t> values) {
    while (!offsets.empty()) {
        const std::size_t n = std::min(offsets.size(), rm::RegisterOps::most);
        if (auto done = read_some(offsets.first(n), values.first(n)); !done)
            return tl::unexpected(std::move(done).error());
        offsets = offsets.subspan(n);
        values = values.subspan(n);
    }
    return {};
}

Result<std::size_t> Gpu::read_some(std::span<const std::uint32_t> offsets,
                                   std::span<std::uint32_t> values) {
    std::array<rm::RegisterOp, rm::RegisterOps::most> ops{};
    for (std::size_t i = 0; i < offsets.size(); i++) {
        ops[i].offset = offsets[i];
        ops[i].status = 0xff; // marks a missing answer
    }
    rm::RegisterOps request{};
    request.non_transactional = 1;
    request.count = static_cast<std::uint32_t>(offsets.size());
    request.ops = reinterpret_cast<std::uintptr_t>(ops.data());
    const auto status =
        client_->control(subdevice_handle, rm::RegisterOps::command, &request, sizeof(request));
    cost_.register_calls++;
    cost_.registers += offsets.size();
    if (!status)
        return tl::unexpected(status.error());
    std::size_t answered = 0;
    for (std::size_t i = 0; i < offsets.size(); i++) {
        answered += ops[i].status == 0;
        values[i] = ops[i].status == 0 ? ops[i].value : ~std::uint32_t{0};
    }
    if (*status && !answered)
        return tl::unexpected(refused("registers be read", *status));
    return answered;
}

Result<void> Gpu::make_memory() {
    rm::PhysicalMemoryParams memory{};
    const auto status = client_->alloc(device_handle, memory_handle, rm::class_physical_memory,
                                       &memory, sizeof(memory));
    if (!status)
        return tl::unexpected(status.error());
    if (*status == rm::insufficient_permissions)
        return tl::unexpected(refused("memory be read", *status));
    // Registers can be read even if memory cannot.
    if (*status)
        no_memory_ = refused("memory be read", *status);
    memory_bytes_ = memory.bytes;
    return {};
}

Result<std::unique_ptr<Window>> Gpu::map(std::uint64_t begin, std::size_t bytes) {
    if (no_memory_)
        return tl::unexpected(*no_memory_);
    if (!bytes || begin > memory_bytes_ || bytes > memory_bytes_ - begin)
        return tl::unexpected(Error{ErrorCode::io, EFAULT, "", "there is no such video memory"});
    Kernel &kernel = *client_->kernel_;
    // A descriptor can have one mapping, which outlives the descriptor.
    const auto descriptor = open_device(kernel, card_);
    if (!descriptor)
        return tl::unexpected(descriptor.error());
    std::unique_ptr<Window> window(new Window(client_, device_handle, begin, bytes));
    rm::Map map{};
    map.client = client_->client_;
    map.device = device_handle;
    map.memory = memory_handle;
    map.offset = begin;
    map.length = bytes;
    map.flags = rm::Map::read_only;
    map.descriptor = *descriptor;
    const int error = client_->ioctl(rm::esc_map, &map, sizeof(map));
    cost_.mappings++;
    if (!error && !map.status) {
        window->linear_ = map.address;
        window->mapped_ = kernel.map(*descriptor, bytes);
    }
    kernel.close(*descriptor);
    if (error)
        return tl::unexpected(not_taken(kernel, "map memory", error));
    if (map.status)
        return tl::unexpected(refused("memory be mapped", map.status));
    if (!window->mapped_)
        return tl::unexpected(Error{ErrorCode::io, EIO, "",
                                    "video memory of the GPU at " + card_.pci_address +
                                        " cannot be mapped, though its driver allows it"});
    return window;
}

// --- a window ---

Window::~Window() {
    if (mapped_)
        client_->kernel_->unmap(mapped_, bytes_);
    if (!linear_)
        return;
    rm::Unmap unmap{};
    unmap.client = client_->client_;
    unmap.device = device_;
    unmap.memory = memory_handle;
    unmap.address = linear_;
    // If this fails, the driver unmaps it when the client ends.
    client_->ioctl(rm::esc_unmap, &unmap, sizeof(unmap));
}

void Window::copy(std::uint64_t address, std::span<std::uint32_t> words) const {
    // Each access crosses the bus. memcpy makes each one as wide as possible.
    std::memcpy(words.data(), static_cast<const char *>(mapped_) + (address - begin_),
                words.size_bytes());
}

} // namespace nvdebug::driver
