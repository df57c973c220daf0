// SPDX-License-Identifier: MIT OR GPL-2.0
#include "foreign_client.hpp"

#include <algorithm>
#include <array>

namespace nvdebug::driver {
namespace {

/// Limits of the search for objects by name: how many names in a row may be free, and how many are
/// tried in all. A process that names its objects itself rarely has objects that the RM has named.
constexpr std::uint32_t names_missed = 0x400, names_tried = 0x10000, others_missed = 0x10;

/// Returns how many names to go on. A channel comes with some objects and a context with dozens, so
/// the steps grow while no object is found.
constexpr std::uint32_t step_after(std::uint32_t missed) {
    constexpr std::uint32_t halves = 0x10, fourths = 0x40, sixteenths = 0x100;
    return missed < halves ? 1 : missed < fourths ? 2 : missed < sixteenths ? 4 : 16;
}

/// A channel is at most in a TSG, which is in a device, which is in the client.
constexpr int deepest = 4;

/// Far longer than any timeslice of a TSG.
constexpr std::uint64_t longest_timeslice_us = 1'000'000'000;

} // namespace

template <typename Params>
Answer ForeignClient::put(std::uint32_t object, Params &params) {
    return ask_rm(kernel_, descriptor_, client_, object, Params::command, &params, sizeof(params));
}

template <typename Params>
bool ForeignClient::ask(std::uint32_t object, Params &params) {
    if (over_ || !budget_.spend())
        return false;
    const Answer answer = put(object, params);
    if (answer.ok())
        return true;
    over_ = answer.error || answer.status == rm::invalid_client;
    if (over_ && !answer.error)
        count_.ended++;
    // An object that was just freed is not found, and some objects are only for root. Neither is a
    // fault.
    else if (answer.error || (answer.status != rm::object_not_found &&
                              answer.status != rm::insufficient_permissions))
        count_.refused++;
    return false;
}

bool ForeignClient::is_of_descriptor() {
    if (!budget_.spend())
        return false;
    rm::HandleInfo info{client_, rm::HandleInfo::object_class, 0};
    const Answer answer = put(client_, info);
    count_.refused += !answer.ok() && answer.status != rm::invalid_client;
    return answer.ok();
}

std::vector<ClientChannel> ForeignClient::channels(const Card &card) {
    if (!find_channels_in_groups()) {
        find_objects();
        for (const auto &[object, object_class] : objects_)
            if (rm::is_channel_class(object_class))
                channels_.insert(object);
    }
    const auto subdevices = subdevices_of(card);
    std::vector<ClientChannel> found;
    for (const std::uint32_t object : channels_)
        if (auto channel = channel_of(object, subdevices))
            found.push_back(*channel);
    return found;
}

// --- queries for groups of names ---

bool ForeignClient::walk_until(std::uint32_t first, const std::function<bool()> &enough) {
    constexpr std::uint32_t most_missed = 0x40; // a device gets its name before the objects in it
    std::uint32_t missed = 0;
    for (std::uint32_t n = 0; n < names_tried && missed < most_missed && !over_ && !budget_.spent();
         n++) {
        if (enough())
            return true;
        missed = objects_.contains(first + n) || find_object(first + n) ? 0 : missed + 1;
    }
    return enough();
}

std::optional<std::uint32_t> ForeignClient::any_device() const {
    const auto device = std::ranges::find_if(
        objects_, [](const auto &one) { return one.second == rm::class_device; });
    return device == objects_.end() ? std::nullopt : std::optional(device->first);
}

std::optional<bool> ForeignClient::ask_group(std::uint32_t device, std::uint32_t first) {
    std::array<std::uint32_t, rm::ChannelList::most> names{}, ids{};
    for (std::uint32_t n = 0; n < names.size(); n++)
        names[n] = first + n;
    ids.fill(rm::ChannelList::no_channel);
    if (over_ || !budget_.spend())
        return std::nullopt;
    rm::ChannelList list{static_cast<std::uint32_t>(names.size()),
                         reinterpret_cast<std::uintptr_t>(names.data()),
                         reinterpret_cast<std::uintptr_t>(ids.data())};
    const Answer answer = put(device, list);
    if (!answer.ok()) {
        over_ = answer.error || answer.status == rm::invalid_client;
        count_.ended += over_ && !answer.error;
        count_.refused += answer.error != 0;
        return std::nullopt;
    }
    bool any = false;
    for (std::size_t n = 0; n < ids.size(); n++)
        if (ids[n] != rm::ChannelList::no_channel) {
            channels_.insert(names[n]);
            any = true;
        }
    return any;
}

/// Returns whether the group has an object. Tries every sixteenth name, because a context comes
/// with dozens of objects.
bool ForeignClient::has_object_in_group(std::uint32_t first) {
    constexpr std::uint32_t step = 0x10;
    for (std::uint32_t n = 0; n < rm::ChannelList::most && !over_ && !budget_.spent(); n += step)
        if (objects_.contains(first + n) || find_object(first + n))
            return true;
    return false;
}

bool ForeignClient::find_channels_in_groups() {
    const auto has_device = [&] { return any_device().has_value(); };
    if (!walk_until(rm::first_object_of_cuda, has_device) &&
        !walk_until(rm::first_object_of_rm, has_device))
        return false;
    const std::uint32_t device = *any_device();
    for (const std::uint32_t base : {rm::first_object_of_cuda, rm::first_object_of_rm})
        for (std::uint32_t n = 0; n < names_tried; n += rm::ChannelList::most) {
            const auto any = ask_group(device, base + n);
            if (!any)
                return false;
            // Where CUDA has named the objects, the RM has named few.
            const bool is_rare = base == rm::first_object_of_rm && device < base;
            if (!*any && (is_rare || !has_object_in_group(base + n)))
                break;
        }
    std::set<std::uint32_t> devices;
    for (const std::uint32_t channel : channels_)
        if (const auto above = device_of(channel))
            devices.insert(*above);
    const auto has_subdevices = [&] {
        return std::ranges::all_of(devices, [&](std::uint32_t one) {
            return std::ranges::any_of(objects_, [&](const auto &object) {
                return object.second == rm::class_subdevice && parent_of(object.first) == one;
            });
        });
    };
    return walk_until(rm::first_object_of_cuda, has_subdevices) ||
           walk_until(rm::first_object_of_rm, has_subdevices);
}

std::optional<std::uint32_t> ForeignClient::device_of(std::uint32_t channel) {
    std::uint32_t above = channel;
    for (int depth = 0; depth < deepest; depth++) {
        above = parent_of(above);
        if (!above || above == client_ || (!objects_.contains(above) && !find_object(above)))
            return std::nullopt;
        if (objects_[above] == rm::class_device)
            return above;
    }
    return std::nullopt;
}

// --- queries for single names ---

std::optional<std::uint64_t> ForeignClient::info(std::uint32_t object, std::uint32_t what) {
    rm::HandleInfo info{object, what, 0};
    return ask(client_, info) ? std::optional(info.answer) : std::nullopt;
}

std::optional<std::uint32_t> ForeignClient::class_of(std::uint32_t object) {
    const auto answer = info(object, rm::HandleInfo::object_class);
    return answer ? std::optional(static_cast<std::uint32_t>(*answer)) : std::nullopt;
}

std::uint32_t ForeignClient::parent_of(std::uint32_t object) {
    const auto [known, fresh] = parents_.try_emplace(object);
    if (fresh)
        known->second =
            static_cast<std::uint32_t>(info(object, rm::HandleInfo::parent).value_or(0));
    return known->second;
}

bool ForeignClient::find_object(std::uint32_t object) {
    const auto object_class = class_of(object);
    if (object_class)
        objects_[object] = *object_class;
    return object_class.has_value();
}

void ForeignClient::find_objects_from(std::uint32_t first, std::uint32_t most_missed) {
    std::uint32_t missed = 0, step = 1;
    for (std::uint32_t n = 0; n < names_tried && missed < most_missed && !over_ && !budget_.spent();
         n += step) {
        if (find_object(first + n)) {
            for (std::uint32_t passed = 1; passed < step; passed++)
                find_object(first + n - passed);
            missed = 0;
        } else {
            missed += step;
        }
        step = step_after(missed);
    }
}

void ForeignClient::find_objects() {
    find_objects_from(rm::first_object_of_cuda, names_missed);
    find_objects_from(rm::first_object_of_rm, objects_.empty() ? names_missed : others_missed);
}

std::map<std::uint32_t, std::uint32_t> ForeignClient::subdevices_of(const Card &card) {
    std::map<std::uint32_t, std::uint32_t> subdevices;
    for (const auto &[object, object_class] : objects_) {
        rm::GpuId id{};
        if (object_class == rm::class_subdevice && ask(object, id) && id.gpu_id == card.gpu_id)
            subdevices[parent_of(object)] = object;
    }
    return subdevices;
}

std::optional<ClientChannel>
ForeignClient::channel_of(std::uint32_t channel,
                          const std::map<std::uint32_t, std::uint32_t> &subdevices) {
    ClientChannel found{0, 0, client_, 0, 0, channel, {}, {}};
    std::uint32_t above = channel;
    for (int depth = 0; depth < deepest; depth++) {
        above = parent_of(above);
        if (!above || above == client_)
            break;
        // The scan of names may not have reached this parent, so look it up.
        if (!objects_.contains(above) && !find_object(above))
            break;
        if (objects_[above] == rm::class_tsg)
            found.tsg = above;
        if (const auto subdevice = subdevices.find(above); subdevice != subdevices.end()) {
            found.subdevice = subdevice->second;
            found.instance = instance_of(channel, subdevice->second);
            found.timeslice_us = timeslice_of(found.tsg);
            return found;
        }
    }
    return std::nullopt; // the channel is of another GPU
}

std::optional<rm::MemoryInfo> ForeignClient::instance_of(std::uint32_t channel,
                                                         std::uint32_t subdevice) {
    rm::ChannelMemory memory{};
    memory.channel = channel;
    const bool answered = ask(subdevice, memory);
    const rm::MemoryInfo &instance = memory.instance;
    const bool sensible = instance.aperture >= rm::MemoryInfo::video &&
                          instance.aperture <= rm::MemoryInfo::noncoherent &&
                          instance.address % 4096 == 0;
    return answered && sensible ? std::optional(instance) : std::nullopt;
}

std::optional<std::uint64_t> ForeignClient::timeslice_of(std::uint32_t tsg) {
    if (!tsg)
        return std::nullopt;
    const auto [known, fresh] = timeslices_.try_emplace(tsg);
    rm::Timeslice timeslice{};
    if (fresh && ask(tsg, timeslice) && timeslice.us <= longest_timeslice_us)
        known->second = timeslice.us;
    return known->second;
}

} // namespace nvdebug::driver
