// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dra_claim.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "lib/base/words.hpp"

namespace nvdebug::kubernetes {
namespace {

using base::text_at;

constexpr const char *parameters_version = "gpu.nvdebug.io/v1";
constexpr const char *parameters_kind = "GoalParameters";

tl::unexpected<std::string> wrong(std::string sentence) {
    return tl::unexpected(std::move(sentence));
}

/// Returns the list at the pointer; an empty list if there is none.
Json list_at(const Json &document, const char *pointer) {
    const Json::json_pointer place(pointer);
    const bool is_there = document.contains(place) && document.at(place).is_array();
    return is_there ? document.at(place) : Json::array();
}

/// What parameters of the class and of the claim ask for beside the share.
struct Parameters {
    std::optional<std::string> cap;     ///< `50%`
    std::optional<std::string> service; ///< `latency`, `latency:5ms` or `timeslice:2ms`
    std::optional<bool> is_gang;
    std::string gang; ///< the name of a gang on several nodes; empty: of this node alone
};

/// Returns `KEY:TIME` if the value is a time with a unit.
OrSentence<std::string> time_goal(const char *key, const Json &value) {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    const auto time = base::parse_time_ns(text);
    if (!time || *time == 0)
        return wrong(fmt::format("'{}' takes a time with its unit, as \"2ms\", not {}", key,
                                 base::printable(value.dump())));
    return fmt::format("{}:{}", key, base::time_text(*time));
}

/// A tenant's name has up to 128 characters: `claim:gang/`, a namespace of up to 63, `/`, the name of the
/// gang, and up to three for the number of the tenant.
constexpr std::size_t longest_gang = 50;

/// Reads `gang`: true, false, or the name of a gang on several nodes.
OrSentence<void> read_gang(const Json &value, Parameters &read) {
    read.gang = value.is_string() ? value.get<std::string>() : "";
    const bool is_name =
        !read.gang.empty() && read.gang.size() <= longest_gang &&
        read.gang.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
    if (!value.is_boolean() && !is_name)
        return wrong(fmt::format("'gang' takes true, false, or a name of 1 to {} of a-z 0-9 - "
                                 "that the claims on other nodes have as well, not {}",
                                 longest_gang, base::printable(value.dump())));
    read.is_gang = value != false;
    return {};
}

/// Reads one `parameters` object.
OrSentence<Parameters> read_parameters(const Json &object) {
    if (!object.is_object())
        return wrong("they have to be an object");
    static const std::vector<std::string> keys = {"cap", "latency", "timeslice", "gang"};
    Parameters read;
    for (const auto &[key, value] : object.items()) {
        if (key == "apiVersion" || key == "kind") {
            const char *const known = key == "kind" ? parameters_kind : parameters_version;
            if (value != known)
                return wrong(fmt::format("'{}' has to be {}, or left out", key, known));
        } else if (key == "cap") {
            const std::string text = value.is_string() ? value.get<std::string>() : "";
            if (!base::parse_percent(text))
                return wrong(fmt::format("'cap' takes a part as \"50%\", not {}",
                                         base::printable(value.dump())));
            read.cap = text;
        } else if (key == "latency" || key == "timeslice") {
            if (read.service)
                return wrong("'latency' and 'timeslice' exclude each other");
            if (key == "latency" && value == true) {
                read.service = "latency";
                continue;
            }
            auto goal = time_goal(key.c_str(), value);
            if (!goal)
                return wrong(goal.error());
            read.service = std::move(*goal);
        } else if (key == "gang") {
            if (const auto gang = read_gang(value, read); !gang)
                return wrong(gang.error());
        } else {
            return wrong(fmt::format("there is no parameter {}{}; the parameters are {}",
                                     base::quote(key), base::guess(key, keys),
                                     base::listed(keys, " and ")));
        }
    }
    return read;
}

/// Returns whether a configuration for these requests is for @p request, which may be
/// `REQUEST/ALTERNATIVE`. Without requests it is for all.
bool is_for(const Json &requests, const std::string &request) {
    return requests.empty() || std::ranges::any_of(requests, [&](const Json &one) {
               return one == request || one == request.substr(0, request.find('/'));
           });
}

/// Returns the parameters for a request. Those of the class are read first, and those of the claim
/// replace them one by one.
OrSentence<Parameters> parameters_for(const Json &claim, const std::string &request) {
    Parameters all;
    const Json configs = list_at(claim, "/status/allocation/devices/config");
    for (const char *const source : {"FromClass", "FromClaim"})
        for (const Json &config : configs) {
            if (text_at(config, "/source") != source ||
                text_at(config, "/opaque/driver") != driver_name ||
                !is_for(list_at(config, "/requests"), request))
                continue;
            auto read = read_parameters(config["opaque"].value("parameters", Json()));
            if (!read)
                return wrong(fmt::format(
                    "the parameters for {} in the {} make no sense: {}", driver_name,
                    source == std::string_view("FromClass") ? "class" : "claim", read.error()));
            all.cap = read->cap ? read->cap : all.cap;
            all.service = read->service ? read->service : all.service;
            all.gang = read->is_gang ? read->gang : all.gang;
            all.is_gang = read->is_gang ? read->is_gang : all.is_gang;
        }
    return all;
}

/// Returns the percentage that the scheduler has counted for a result of the allocation.
OrSentence<std::int64_t> counted_share(const Json &result) {
    const Json consumed = result.value("consumedCapacity", Json::object());
    for (const std::string &key :
         {std::string(share_capacity), fmt::format("{}/{}", driver_name, share_capacity)})
        if (consumed.is_object() && consumed.contains(key)) {
            const Json &value = consumed[key];
            const auto share = value.is_string()
                                   ? base::parse_whole(value.get<std::string>(), 1, 100)
                                   : std::nullopt;
            if (!share)
                return wrong(fmt::format("its share of {} is no whole percentage from 1 to 100",
                                         base::printable(value.dump())));
            return *share;
        }
    return wrong("the scheduler has counted no share for it: the cluster needs the feature gate "
                 "DRAConsumableCapacity, on since Kubernetes 1.36");
}

/// Returns the goal of one device: its share, or a service within its share.
OrSentence<std::string> goal_of(std::int64_t share, const Parameters &parameters) {
    if (parameters.service && !parameters.gang.empty())
        return wrong(fmt::format("beside '{}' there is no gang on several nodes: windows by the "
                                 "clock keep shares alone",
                                 *parameters.service));
    if (!parameters.service)
        return fmt::format("share:{}%", share) + (parameters.cap ? ",cap:" + *parameters.cap : "");
    // nvqos keeps no share for such a tenant. What the scheduler has counted is the most that it
    // may take, so that the sum of all claims stays possible.
    constexpr std::int64_t millionths = 1'000'000;
    if (parameters.cap && *base::parse_percent(*parameters.cap) > share * millionths)
        return wrong(fmt::format("beside '{}' a cap of {} has to be within its share of {} %, "
                                 "which is all that the scheduler has counted",
                                 *parameters.service, *parameters.cap, share));
    return fmt::format("{},cap:{}", *parameters.service,
                       parameters.cap ? *parameters.cap : fmt::format("{}%", share));
}

/// Adds the device to the first tenant that fits, or to a new one.
/// @param gang the name of its gang on several nodes; empty: it is of this node alone
void add_device(std::vector<ClaimTenant> &tenants, const ClaimId &id, const std::string &gang,
                const ClaimTenant &one) {
    const auto fits = [&](const ClaimTenant &tenant) {
        return tenant.goal == one.goal && tenant.is_gang == one.is_gang &&
               tenant.has_nodes == one.has_nodes &&
               std::ranges::find(tenant.gpus, one.gpus.front()) == tenant.gpus.end();
    };
    if (const auto at = std::ranges::find_if(tenants, fits); at != tenants.end()) {
        at->gpus.push_back(one.gpus.front());
        at->devices.push_back(one.devices.front());
        return;
    }
    const std::size_t number = tenants.size() + 1;
    tenants.push_back(one);
    const std::string owner = gang.empty() ? id.uid : fmt::format("gang/{}/{}", id.space, gang);
    tenants.back().name = "claim:" + owner + (number > 1 ? fmt::format("/{}", number) : "");
    tenants.back().cdi_name = "claim-" + id.uid + (number > 1 ? fmt::format("-{}", number) : "");
}

} // namespace

bool is_claim_id(const ClaimId &id) {
    // With `claim-` before it and a number behind it, it is the name of a device.
    constexpr std::size_t longest = 48;
    return !id.space.empty() && !id.name.empty() && !id.uid.empty() && id.uid.size() <= longest &&
           std::ranges::all_of(id.uid, [](unsigned char c) { return std::isalnum(c) || c == '-'; });
}

OrSentence<void> expect_uid(const Json &claim, const ClaimId &id) {
    const std::string uid = text_at(claim, "/metadata/uid");
    if (uid == id.uid)
        return {};
    return wrong(fmt::format("the claim {} has the uid {} now, and kubelet asks for {}: it was "
                             "deleted and made anew",
                             id.text(), base::printable(uid), id.uid));
}

OrSentence<std::vector<ClaimTenant>>
tenants_of_claim(const Json &claim, const ClaimId &id, const std::string &pool,
                 const std::map<std::string, std::string> &gpus) {
    if (const auto same = expect_uid(claim, id); !same)
        return wrong(same.error());
    std::vector<ClaimTenant> tenants;
    for (const Json &result : list_at(claim, "/status/allocation/devices/results")) {
        if (text_at(result, "/driver") != driver_name)
            continue;
        const ClaimDevice device{.request = text_at(result, "/request"),
                                 .pool = text_at(result, "/pool"),
                                 .device = text_at(result, "/device"),
                                 .share_id = text_at(result, "/shareID")};
        const auto refuse = [&](const std::string &why) {
            return wrong(fmt::format("the claim {}, device {}: {}", id.text(),
                                     base::printable(device.device), why));
        };
        if (device.pool != pool)
            return refuse(fmt::format("it is in the pool {}, and this node's is {}",
                                      base::printable(device.pool), pool));
        if (result.value("adminAccess", Json()) == true)
            return refuse("adminAccess gives no share to keep, and none is needed to see a GPU");
        const auto gpu = gpus.find(device.device);
        if (gpu == gpus.end())
            return refuse("nvqos keeps goals on no such GPU of this node now");
        const auto share = counted_share(result);
        if (!share)
            return refuse(share.error());
        const auto parameters = parameters_for(claim, device.request);
        if (!parameters)
            return refuse(parameters.error());
        auto goal = goal_of(*share, *parameters);
        if (!goal)
            return refuse(goal.error());
        add_device(tenants, id, parameters->gang,
                   {.name = "",
                    .cdi_name = "",
                    .goal = std::move(*goal),
                    .is_gang = parameters->is_gang.value_or(true),
                    .has_nodes = !parameters->gang.empty(),
                    .gpus = {gpu->second},
                    .devices = {device}});
    }
    if (tenants.empty())
        return wrong(fmt::format("the claim {} has no device of {} now: it is not allocated, or to "
                                 "others",
                                 id.text(), driver_name));
    return tenants;
}

} // namespace nvdebug::kubernetes
