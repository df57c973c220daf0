// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dra_slice.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <utility>

#include "dra_claims.hpp"
#include "lib/base/quantity.hpp"

namespace nvdebug::kubernetes {
namespace {

namespace fs = std::filesystem;
using base::text_at;

constexpr const char *slices_path = "/apis/resource.k8s.io/v1/resourceslices";
constexpr const char *taint_key = "gpu.nvdebug.io/not-kept";
/// Kubernetes takes no attribute that is longer.
constexpr std::size_t longest_attribute = 64;
constexpr std::size_t longest_name = 253;

std::string first_line(const std::string &path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// Returns the `Model:` of NVIDIA's driver; empty: it is not shown here.
std::string model_of(const std::string &address, const MachineFolders &machine) {
    std::ifstream file(machine.proc + "/driver/nvidia/gpus/" + address + "/information");
    for (std::string line; std::getline(file, line);)
        if (constexpr std::string_view key = "Model:"; line.starts_with(key)) {
            const std::size_t begin = line.find_first_not_of(" \t", key.size());
            return begin == line.npos ? "" : line.substr(begin);
        }
    return "";
}

/// Returns the root complex below which the device is, as `pci0000:00`; empty: not known.
std::string pcie_root_of(const std::string &address, const MachineFolders &machine) {
    std::error_code error;
    const fs::path place =
        fs::read_symlink(fs::path(machine.sys) / "bus/pci/devices" / address, error);
    for (const fs::path &part : place)
        if (part.string().starts_with("pci"))
            return part;
    return "";
}

Json attributes_of(const KeptGpu &gpu, const MachineFolders &machine) {
    Json attributes = {{"index", {{"int", gpu.number}}}};
    const auto add = [&](const char *name, const std::string &value, const char *type = "string") {
        if (!value.empty() && value.size() <= longest_attribute)
            attributes[name] = {{type, value}};
    };
    add("uuid", gpu.uuid);
    if (!gpu.address.empty()) {
        add("pciBusID", gpu.address);
        // By these two, matchAttribute joins a GPU with devices of other drivers.
        add("resource.kubernetes.io/pciBusID", gpu.address);
        add("resource.kubernetes.io/pcieRoot", pcie_root_of(gpu.address, machine));
        add("productName", model_of(gpu.address, machine));
    }
    add("driverVersion", semantic_version(first_line(machine.sys + "/module/nvidia/version")),
        "version");
    return attributes;
}

Json capacity_of(std::int64_t most) {
    const std::string all = std::to_string(most);
    Json range = {{"min", "1"}, {"max", all}};
    // The API server refuses a step that leads from the least value beyond the whole capacity.
    if (most > 1)
        range["step"] = "1";
    // A claim without a number gets all that there is, as with drivers that share no device.
    return {{share_capacity,
             {{"value", all},
              {"requestPolicy", {{"default", all}, {"validRange", std::move(range)}}}}}};
}

/// Returns the devices without the times that the server adds to taints.
Json without_times(Json devices) {
    for (Json &device : devices)
        if (device.is_object() && device.contains("taints"))
            for (Json &taint : device["taints"])
                taint.erase("timeAdded");
    return devices;
}

Json devices_in(const Json &slice) {
    const Json::json_pointer place("/spec/devices");
    return slice.contains(place) && slice.at(place).is_array() ? slice.at(place) : Json::array();
}

std::int64_t generation_in(const Json &slice) {
    const Json::json_pointer place("/spec/pool/generation");
    return slice.contains(place) && slice.at(place).is_number_integer()
               ? slice.at(place).get<std::int64_t>()
               : 0;
}

/// Returns `NODE-gpu.nvdebug.io`. The name of a node may be as long as that of a slice; a number
/// that is made from all of it stands for its end then.
std::string slice_name(const std::string &node) {
    const std::string end = fmt::format("-{}", driver_name);
    if (node.size() + end.size() <= longest_name)
        return node + end;
    std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const unsigned char c : node)
        hash = (hash ^ c) * 0x100000001b3;
    constexpr std::size_t digits = 16;
    return fmt::format("{}{:016x}{}", node.substr(0, longest_name - end.size() - digits), hash,
                       end);
}

std::string path_of_slice(const std::string &name) {
    return fmt::format("{}/{}", slices_path, escape(name));
}

} // namespace

std::string semantic_version(const std::string &text) {
    std::vector<std::string> numbers(1);
    for (const char c : text)
        if (c == '.')
            numbers.emplace_back();
        else
            numbers.back() += c;
    std::string version;
    for (const std::string &number : numbers) {
        const auto value = base::parse_whole(number);
        if (!value)
            return "";
        version += fmt::format("{}{}", version.empty() ? "" : ".", *value);
    }
    constexpr std::size_t most_numbers = 3;
    for (std::size_t i = numbers.size(); i < most_numbers; i++)
        version += ".0";
    return numbers.size() <= most_numbers ? version : "";
}

std::optional<std::string> taint_of(const NvqosView &view, std::uint32_t gpu, Clock::time_point now,
                                    std::chrono::nanoseconds not_kept_for) {
    if (!view.state)
        return "nvqos-away";
    const auto listed = std::ranges::find(view.state->gpus, gpu, &KeptGpu::number);
    if (listed == view.state->gpus.end() || !listed->is_up)
        return "left-out";
    const auto last = view.last_not_kept.find(gpu);
    const bool was_kept = last == view.last_not_kept.end() || now - last->second > not_kept_for;
    const bool is_kept = std::ranges::none_of(
        view.kept, [&](const auto &one) { return one.first.first == gpu && !one.second; });
    return was_kept && is_kept ? std::nullopt : std::optional<std::string>("not-kept");
}

Json devices_of(const NvqosView &view, const std::vector<KeptGpu> &known, TaintTimes &since,
                Clock::time_point now, const SliceSettings &settings) {
    Json devices = Json::array();
    for (const KeptGpu &gpu : known) {
        Json device = {{"name", device_of(gpu)},
                       {"attributes", attributes_of(gpu, settings.machine)},
                       {"allowMultipleAllocations", true},
                       {"capacity", capacity_of(settings.most_percent)}};
        const auto taint = taint_of(view, gpu.number, now, settings.not_kept_for);
        if (!taint)
            since.erase(gpu.number);
        else {
            const auto begin = since.emplace(gpu.number, now).first->second;
            const bool evicts = settings.evicts && now - begin >= 2 * settings.not_kept_for;
            device["taints"] = Json::array({Json{{"key", taint_key},
                                                 {"value", *taint},
                                                 {"effect", evicts ? "NoExecute" : "NoSchedule"}}});
        }
        devices.push_back(std::move(device));
    }
    return devices;
}

SlicePublisher::SlicePublisher(const ApiServer &api, std::string node, Log log)
    : api_(api), node_(std::move(node)), name_(slice_name(node_)), log_(std::move(log)) {}

Json SlicePublisher::slice_with(const Json &devices, Json metadata) const {
    return {{"apiVersion", "resource.k8s.io/v1"},
            {"kind", "ResourceSlice"},
            {"metadata", std::move(metadata)},
            {"spec",
             {{"driver", driver_name},
              {"nodeName", node_},
              {"pool", {{"name", node_}, {"generation", generation_}, {"resourceSliceCount", 1}}},
              {"devices", devices}}}};
}

/// With the node as its owner, the slice goes when the node is removed. A node that is registered
/// again has another uid, and a slice with the former one is removed at once. Without the right to
/// read nodes the slice has no owner.
Json SlicePublisher::new_metadata() const {
    Json metadata = {{"name", name_}};
    const auto node = api_.get("/api/v1/nodes/" + escape(node_));
    const std::string uid = node ? text_at(*node, "/metadata/uid") : "";
    if (!uid.empty())
        metadata["ownerReferences"] = Json::array(
            {Json{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node_}, {"uid", uid}}});
    return metadata;
}

void SlicePublisher::note_dropped(const Json &answer) {
    const Json devices = devices_in(answer);
    const auto lacks = [&](const char *key) {
        return std::ranges::any_of(written_, [&](const Json &sent) {
            return sent.contains(key) && std::ranges::any_of(devices, [&](const Json &kept) {
                       return kept.value("name", Json()) == sent["name"] && !kept.contains(key);
                   });
        });
    };
    if (has_noted_dropped_)
        return;
    if (lacks("allowMultipleAllocations")) {
        has_noted_dropped_ = true;
        log_("the API server drops allowMultipleAllocations, so each GPU goes to one claim as a "
             "whole: switch on the feature gate DRAConsumableCapacity (Kubernetes 1.34 and 1.35)");
    } else if (lacks("taints")) {
        has_noted_dropped_ = true;
        log_("the API server drops taints of devices, so pods are placed on this node while goals "
             "are not kept, and wait there: switch on the feature gate DRADeviceTaints");
    }
}

ApiOutcome<void> SlicePublisher::write(const Json &devices, const ApiOutcome<Json> &live) {
    generation_ = std::max(generation_, live ? generation_in(*live) : 0) + 1;
    const Json slice = slice_with(devices, live ? live->at("metadata") : new_metadata());
    const auto answer =
        live ? api_.update(path_of_slice(name_), slice) : api_.create(slices_path, slice);
    if (!answer)
        return tl::unexpected(answer.error());
    written_ = devices;
    answered_ = without_times(devices_in(*answer));
    note_dropped(*answer);
    return {};
}

ApiOutcome<void> SlicePublisher::publish(const Json &devices) {
    constexpr int most_tries = 3, is_gone = 404, has_changed = 409;
    for (int tries = 1;; tries++) {
        const auto live = api_.get(path_of_slice(name_));
        if (!live && live.error().status != is_gone)
            return tl::unexpected(live.error());
        if (live) {
            const Json there = without_times(devices_in(*live));
            // Which fields the server drops, its first answer shows.
            const bool is_taken =
                written_.is_null() ? there == devices : written_ == devices && answered_ == there;
            generation_ = std::max(generation_, generation_in(*live));
            if (is_taken) {
                written_ = devices;
                answered_ = there;
                return {};
            }
        }
        auto done = write(devices, live);
        if (done || done.error().status != has_changed || tries == most_tries)
            return done;
    }
}

ApiOutcome<Json> SlicePublisher::left_devices() {
    return api_.get(path_of_slice(name_)).map(devices_in);
}

ApiOutcome<void> SlicePublisher::remove_stale() {
    const auto list = api_.get(
        fmt::format("{}?fieldSelector={}", slices_path,
                    escape(fmt::format("spec.driver={},spec.nodeName={}", driver_name, node_))));
    if (!list)
        return tl::unexpected(list.error());
    for (const Json &slice : list->value("items", Json::array())) {
        const std::string name = text_at(slice, "/metadata/name");
        if (name == name_ || text_at(slice, "/spec/driver") != driver_name ||
            text_at(slice, "/spec/nodeName") != node_)
            continue;
        // The pool continues in the slice of this driver.
        generation_ = std::max(generation_, generation_in(slice));
        if (const auto removed = api_.remove(path_of_slice(name)); removed)
            log_(fmt::format("the ResourceSlice {} of an earlier driver is removed", name));
        else if (removed.error().status != 404)
            return tl::unexpected(removed.error());
    }
    return {};
}

ApiOutcome<void> SlicePublisher::remove() {
    const auto removed = api_.remove(path_of_slice(name_));
    if (removed || removed.error().status == 404)
        return {};
    return tl::unexpected(removed.error());
}

} // namespace nvdebug::kubernetes
