// SPDX-License-Identifier: MIT OR GPL-2.0
#include "transport/vfio_user_device.hpp"

#include "base/error.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

namespace nvmodel {
namespace {

using namespace vfio_user;
using Bytes = std::span<const std::byte>;

/// Refuses a command.
struct Refused {
    std::uint32_t error;
};

[[noreturn]] void refuse(int error) {
    throw Refused{static_cast<std::uint32_t>(error)};
}

/// Returns the fixed part of a body, which may be followed by more.
template <typename Message>
Message head(Bytes body) {
    Message message{};
    if (body.size() < sizeof(message))
        refuse(EINVAL);
    std::memcpy(&message, body.data(), sizeof(message));
    return message;
}

/// Returns a body that has the size of the message, and nothing more.
template <typename Message>
Message whole(Bytes body) {
    if (body.size() != sizeof(Message))
        refuse(EINVAL);
    return head<Message>(body);
}

/// Returns a request for information, if its reply has enough room.
template <typename Info>
Info request(Bytes body) {
    const Info info = head<Info>(body);
    if (info.argsz < sizeof(info))
        refuse(EINVAL);
    return info;
}

template <typename Message>
std::vector<std::byte> bytes_of(const Message &message) {
    const auto bytes = std::as_bytes(std::span(&message, 1));
    return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> with(std::vector<std::byte> bytes, Bytes more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return bytes;
}

/// Returns the capabilities of both sides, at most the client's values. The client's own limits
/// have no effect here: the server sends neither descriptors nor commands.
std::vector<std::byte> negotiate(Bytes body) {
    const Version wanted = head<Version>(body);
    if (wanted.major != major_version)
        throw ProtocolError("vfio-user version " + std::to_string(wanted.major) + "." +
                            std::to_string(wanted.minor) + "; this is " +
                            std::to_string(major_version) + "." + std::to_string(minor_version));
    const std::string text =
        "{\"capabilities\":{\"max_data_xfer_size\":" + std::to_string(max_data) +
        ",\"max_dma_maps\":" + std::to_string(max_dma_maps) +
        ",\"max_msg_fds\":" + std::to_string(max_fds) + "}}";
    return with(bytes_of(Version{major_version, minor_version}),
                std::as_bytes(std::span(text.c_str(), text.size() + 1)));
}

std::vector<std::byte> device_info(Bytes body) {
    static_cast<void>(request<DeviceInfo>(body));
    return bytes_of(
        DeviceInfo{sizeof(DeviceInfo), device_reset | device_pci, region_count, irq_count});
}

/// Returns the number of interrupts: only INTx has one.
std::uint32_t irqs_of(std::uint32_t index) {
    return index == intx ? 1 : 0;
}

std::vector<std::byte> irq_info(Bytes body) {
    const auto asked = request<IrqInfo>(body);
    if (asked.index >= irq_count)
        refuse(EINVAL);
    const std::uint32_t flags =
        asked.index == intx ? irq_eventfd | irq_maskable | irq_automasked : 0;
    return bytes_of(IrqInfo{sizeof(IrqInfo), flags, asked.index, irqs_of(asked.index)});
}

/// Checks a setting and then forgets it: the model raises no interrupts.
void set_irqs(Bytes body, std::size_t fds) {
    const auto set = head<IrqSet>(body);
    const std::uint32_t data = set.flags & irq_set_data;
    const std::size_t more = data == irq_set_bool ? set.count : 0;
    if (set.index >= irq_count || set.start > irqs_of(set.index) ||
        set.count > irqs_of(set.index) - set.start || fds > set.count ||
        body.size() != sizeof(set) + more)
        refuse(EINVAL);
    if (data != irq_set_none && data != irq_set_bool && data != irq_set_eventfd)
        refuse(EINVAL);
    const std::uint32_t action = set.flags & irq_set_action;
    if (action == 0 || (action & (action - 1)) != 0)
        refuse(EINVAL);
}

} // namespace

VfioUserDevice::VfioUserDevice(PciFunction &function) : function_(function) {
    function_.attach(&guest_);
}

VfioUserDevice::~VfioUserDevice() {
    function_.attach(nullptr);
}

std::size_t VfioUserDevice::body_size(const Header &header) {
    if ((header.flags & flag_type) != 0)
        throw ProtocolError("message of type " + std::to_string(header.flags & flag_type) +
                            " where a command was due");
    if (header.size < sizeof(header) || header.size - sizeof(header) > max_body)
        throw ProtocolError("command " + std::to_string(header.command) + " with " +
                            std::to_string(header.size) + " bytes");
    return header.size - sizeof(header);
}

std::vector<std::byte> VfioUserDevice::answer(const Header &header, Bytes body,
                                              std::vector<UniqueFd> fds) {
    const auto command = static_cast<Command>(header.command);
    if (!negotiated_ && command != Command::version)
        throw ProtocolError("command " + std::to_string(header.command) +
                            " before a version is agreed on");
    Header to{header.id, header.command, 0, flag_reply, 0};
    Reply reply;
    try {
        reply = perform(command, body, std::move(fds));
    } catch (const Refused &refused) {
        to.flags |= flag_error;
        to.error = refused.error;
    }
    if ((header.flags & flag_no_reply) != 0)
        return {};
    to.size = static_cast<std::uint32_t>(sizeof(to) + reply.size());
    return with(bytes_of(to), reply);
}

VfioUserDevice::Reply VfioUserDevice::perform(Command command, Body body,
                                              std::vector<UniqueFd> fds) {
    switch (command) {
    case Command::version: {
        if (negotiated_)
            refuse(EINVAL);
        Reply reply = negotiate(body);
        negotiated_ = true;
        return reply;
    }
    case Command::dma_map:
        dma_map(body, std::move(fds));
        return {};
    case Command::dma_unmap:
        return dma_unmap(body);
    case Command::get_info:
        return device_info(body);
    case Command::get_region_info:
        return region_info(body);
    case Command::get_irq_info:
        return irq_info(body);
    case Command::set_irqs:
        set_irqs(body, fds.size());
        return {};
    case Command::region_read:
        return region_read(body);
    case Command::region_write:
        return region_write(body);
    case Command::reset:
        if (!body.empty())
            refuse(EINVAL);
        function_.reset();
        return {};
    default:
        refuse(EOPNOTSUPP);
    }
}

/// Maps a region. Only the client reaches a region without a descriptor, and the model does not
/// need it.
void VfioUserDevice::dma_map(Body body, std::vector<UniqueFd> fds) {
    const auto map = whole<DmaMap>(body);
    if (fds.size() > 1 || (map.flags & dma_readable) == 0 ||
        (map.flags & ~(dma_readable | dma_writable)) != 0)
        refuse(EINVAL);
    if (guest_.overlaps(map.address, map.size))
        refuse(EEXIST);
    if (guest_.regions() >= max_dma_maps)
        refuse(ENOSPC);
    try {
        guest_.add({map.address, map.size, map.offset,
                    fds.empty() ? UniqueFd() : std::move(fds.front()),
                    (map.flags & dma_writable) != 0});
    } catch (const ProtocolError &) {
        refuse(EINVAL);
    }
}

VfioUserDevice::Reply VfioUserDevice::dma_unmap(Body body) {
    const auto unmap = whole<DmaUnmap>(body);
    if (unmap.flags != 0)
        refuse(EINVAL);
    if (!guest_.remove(unmap.address, unmap.size))
        refuse(ENOENT);
    return bytes_of(unmap);
}

std::uint64_t VfioUserDevice::region_size(std::uint32_t region) const {
    if (region == config_region)
        return PciConfig::space;
    const auto bar = function_.config().bar_at(region);
    return bar ? function_.config().bar_size(*bar) : 0;
}

VfioUserDevice::Reply VfioUserDevice::region_info(Body body) const {
    const auto asked = request<RegionInfo>(body);
    if (asked.index >= region_count)
        refuse(EINVAL);
    const std::uint64_t size = region_size(asked.index);
    return bytes_of(RegionInfo{sizeof(RegionInfo),
                               size != 0 ? region_readable | region_writable : 0, asked.index, 0,
                               size, 0});
}

/// Checks the size of an access. Configuration space takes pieces of any length, BARs the accesses
/// of a guest.
void VfioUserDevice::check(const RegionAccess &access) const {
    const std::uint64_t size = access.region < region_count ? region_size(access.region) : 0;
    if (access.count == 0 || access.count > max_data || access.offset > size ||
        access.count > size - access.offset)
        refuse(EINVAL);
    const bool power_of_two = (access.count & (access.count - 1)) == 0;
    if (access.region != config_region && (access.count > 8 || !power_of_two))
        refuse(EINVAL);
}

VfioUserDevice::Reply VfioUserDevice::region_read(Body body) {
    const auto access = whole<RegionAccess>(body);
    check(access);
    Reply data(access.count);
    if (const auto bar = function_.config().bar_at(access.region)) {
        const std::uint64_t value = function_.config().decodes_memory()
                                        ? function_.bar_read(*bar, access.offset, access.count)
                                        : ~std::uint64_t{0};
        std::memcpy(data.data(), &value, data.size());
    } else {
        for (std::uint32_t i = 0; i < access.count; ++i)
            data[i] = static_cast<std::byte>(
                function_.config_read(static_cast<std::uint32_t>(access.offset) + i, 1));
    }
    return with(bytes_of(access), data);
}

VfioUserDevice::Reply VfioUserDevice::region_write(Body body) {
    const auto access = head<RegionAccess>(body);
    check(access);
    const Body data = body.subspan(sizeof(access));
    if (data.size() != access.count)
        refuse(EINVAL);
    if (const auto bar = function_.config().bar_at(access.region)) {
        std::uint64_t value = 0;
        std::memcpy(&value, data.data(), data.size());
        if (function_.config().decodes_memory())
            function_.bar_write(*bar, access.offset, value, access.count);
    } else {
        for (std::uint32_t i = 0; i < access.count; ++i)
            function_.config_write(static_cast<std::uint32_t>(access.offset) + i,
                                   std::to_integer<std::uint8_t>(data[i]), 1);
    }
    return bytes_of(access);
}

} // namespace nvmodel
