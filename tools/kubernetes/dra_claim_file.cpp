// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dra_claim_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <unistd.h>

#include "lib/base/goal_device.hpp"

namespace nvdebug::kubernetes {
namespace {

namespace fs = std::filesystem;

/// The variable of the hook's environment that has the claim.
constexpr std::string_view claim_variable = "NVDEBUG_CLAIM=";
constexpr std::string_view file_prefix = "nvdebug.io-qos-claim-", file_suffix = ".json";
/// A claim has 32 devices at most, with names of 253 bytes at most.
constexpr std::size_t longest_file = 1 << 20;

Json json_of(const ClaimId &id, const ClaimTenant &tenant) {
    Json devices = Json::array();
    for (const ClaimDevice &device : tenant.devices)
        devices.push_back({{"request", device.request},
                           {"pool", device.pool},
                           {"device", device.device},
                           {"shareID", device.share_id}});
    return {{"namespace", id.space},
            {"name", id.name},
            {"uid", id.uid},
            {"tenant", tenant.name},
            {"goal", tenant.goal},
            {"gang", tenant.is_gang},
            {"gpus", tenant.gpus},
            {"devices", std::move(devices)},
            {"nodes", tenant.has_nodes}};
}

/// Adds the tenant that json_of() has written. Throws nlohmann's exception if a part is missing.
void add_tenant(PreparedClaim &claim, const std::string &cdi_name, const Json &json) {
    claim.id = {.space = json.at("namespace"), .name = json.at("name"), .uid = json.at("uid")};
    ClaimTenant tenant{.name = json.at("tenant"),
                       .cdi_name = cdi_name,
                       .goal = json.at("goal"),
                       .is_gang = json.at("gang"),
                       .has_nodes = json.value("nodes", false), // earlier drivers did not write it
                       .gpus = json.at("gpus"),
                       .devices = {}};
    for (const Json &device : json.at("devices"))
        tenant.devices.push_back({.request = device.at("request"),
                                  .pool = device.at("pool"),
                                  .device = device.at("device"),
                                  .share_id = device.at("shareID")});
    claim.tenants.push_back(std::move(tenant));
}

std::optional<PreparedClaim> claim_in(const std::string &path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        return std::nullopt;
    const auto document = base::read_json(descriptor, longest_file, path);
    ::close(descriptor);
    if (!document)
        return std::nullopt;
    try {
        PreparedClaim claim;
        for (const Json &device : document->at("devices")) {
            const std::string variable =
                device.at("containerEdits").at("hooks").at(0).at("env").at(0);
            if (!variable.starts_with(claim_variable))
                return std::nullopt;
            add_tenant(claim, device.at("name"),
                       Json::parse(variable.substr(claim_variable.size())));
        }
        return claim.tenants.empty() ? std::nullopt : std::optional(std::move(claim));
    } catch (const Json::exception &) {
        return std::nullopt; // damaged, or of another program
    }
}

} // namespace

std::string cdi_id_of(const ClaimTenant &tenant) {
    return fmt::format("{}={}", claim_kind, tenant.cdi_name);
}

std::string ClaimFiles::path_of(const std::string &uid) const {
    return base::device_file(claim_kind, "claim-" + uid, folder);
}

OrSentence<void> ClaimFiles::write(const PreparedClaim &claim) const {
    std::vector<base::ContainerDevice> devices;
    // Of several devices with the variable, runtimes take the last one's, so each has all GPUs.
    std::set<std::string> gpus;
    for (const ClaimTenant &tenant : claim.tenants)
        gpus.insert(tenant.gpus.begin(), tenant.gpus.end());
    for (const ClaimTenant &tenant : claim.tenants) {
        const std::string gang = tenant.gang_word();
        const base::GoalDevice goal{.goal = tenant.goal + (gang.empty() ? "" : "," + gang),
                                    .gpus = tenant.gpus,
                                    .socket = socket,
                                    .program = nvqos,
                                    .tenant = tenant.name,
                                    .kind = claim_kind};
        base::ContainerDevice device = goal.device();
        device.name = tenant.cdi_name;
        device.edits["hooks"][0]["env"] = {std::string(claim_variable) +
                                           json_of(claim.id, tenant).dump()};
        if (sets_visible_devices)
            device.edits["env"] = {fmt::format("NVIDIA_VISIBLE_DEVICES={}", fmt::join(gpus, ","))};
        devices.push_back(std::move(device));
    }
    return base::write_devices(devices, "claim-" + claim.id.uid, folder);
}

std::optional<PreparedClaim> ClaimFiles::read(const std::string &uid) const {
    auto claim = claim_in(path_of(uid));
    return claim && claim->id.uid == uid ? claim : std::nullopt;
}

std::vector<PreparedClaim> ClaimFiles::read_all() const {
    std::vector<PreparedClaim> claims;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        std::string name = entry->path().filename();
        if (!name.starts_with(file_prefix) || !name.ends_with(file_suffix))
            continue;
        name.resize(name.size() - file_suffix.size());
        if (auto claim = read(name.substr(file_prefix.size())))
            claims.push_back(std::move(*claim));
    }
    return claims;
}

OrSentence<void> ClaimFiles::remove(const std::string &uid) const {
    const std::string path = path_of(uid);
    if (::unlink(path.c_str()) && errno != ENOENT)
        return tl::unexpected(fmt::format("cannot remove {}: {}", path, std::strerror(errno)));
    return {};
}

} // namespace nvdebug::kubernetes
