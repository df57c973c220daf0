// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dra_claims.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "lib/base/nvqos_client.hpp"

namespace nvdebug::kubernetes {
namespace {

constexpr const char *claim_prefix = "claim:";

std::string path_of_claim(const ClaimId &id) {
    return fmt::format("/apis/resource.k8s.io/v1/namespaces/{}/resourceclaims/{}", escape(id.space),
                       escape(id.name));
}

bool is_held_by(const HeldTenant &tenant, std::uint32_t pid) {
    return std::ranges::find(tenant.holders, pid) != tenant.holders.end();
}

/// Returns whether the claim may be there although the API server has not returned it.
bool may_exist(const ApiError &error) {
    return error.status != 404;
}

} // namespace

std::string name_of(const KeptGpu &gpu) {
    return gpu.uuid.empty() ? std::to_string(gpu.number) : gpu.uuid;
}

std::string device_of(const KeptGpu &gpu) {
    return fmt::format("gpu-{}", gpu.number);
}

Claims::Claims(const ApiServer &api, ClaimSettings settings)
    : api_(api), settings_(std::move(settings)) {
    for (PreparedClaim &claim : settings_.files.read_all()) {
        const std::string uid = claim.id.uid;
        claims_.emplace(uid, ClaimState{std::move(claim)});
    }
}

std::vector<PreparedDevice> Claims::devices_of(const PreparedClaim &claim) const {
    std::vector<PreparedDevice> devices;
    for (const ClaimTenant &tenant : claim.tenants)
        for (std::size_t i = 0; i < tenant.devices.size(); i++) {
            PreparedDevice one{tenant.devices[i], {cdi_id_of(tenant)}};
            if (settings_.names_gpus)
                one.cdi_ids.push_back("nvidia.com/gpu=" + tenant.gpus[i]);
            devices.push_back(std::move(one));
        }
    return devices;
}

OrSentence<PreparedClaim> Claims::wanted(const ClaimId &id, const ApiOutcome<Json> &object,
                                         const std::optional<PreparedClaim> &earlier) const {
    // What was prepared does not change while the claim is allocated, so its file is good enough if
    // the API server or nvqos is away.
    if (!object && earlier && may_exist(object.error()))
        return *earlier;
    if (!object)
        return tl::unexpected(
            fmt::format("cannot read the claim {}: {}", id.text(), object.error().sentence));
    if (const auto same = expect_uid(*object, id); !same)
        return tl::unexpected(same.error());
    const auto state = read_nvqos(settings_.socket);
    if (!state && earlier)
        return *earlier;
    if (!state)
        return tl::unexpected(state.error().sentence);
    std::map<std::string, std::string> gpus;
    for (const KeptGpu &gpu : state->gpus)
        gpus.emplace(device_of(gpu), name_of(gpu));
    return tenants_of_claim(*object, id, settings_.pool, gpus)
        .map([&](std::vector<ClaimTenant> tenants) {
            return PreparedClaim{id, std::move(tenants)};
        });
}

Outcome<void> Claims::hold(const ClaimTenant &tenant) const {
    std::string line = fmt::format("join {} {}", tenant.name, tenant.goal);
    for (const std::string &gpu : tenant.gpus)
        line += " gpu=" + gpu;
    // This process uses no GPU. As a holder it keeps the promise while no container runs.
    line += fmt::format(" pid={} holder={}", settings_.pid, settings_.pid);
    if (const std::string gang = tenant.gang_word(); !gang.empty())
        line += " " + gang;
    const auto held = base::ask_nvqos(settings_.socket, line);
    if (!held)
        return fail(held.error().exit, held.error().sentence);
    return {};
}

void Claims::release(const std::string &tenant) const {
    // A tenant that is not there is what is wanted. If no nvqos answers, hold_again() releases it.
    (void)base::ask_nvqos(settings_.socket, "release " + tenant);
}

OrSentence<void> Claims::put(const PreparedClaim &claim) {
    // Claims of the same gang would be one tenant, which ends with the first of them.
    for (const ClaimState &other : all())
        for (const ClaimTenant &tenant : claim.tenants)
            if (other.claim.id.uid != claim.id.uid &&
                std::ranges::find(other.claim.tenants, tenant.name, &ClaimTenant::name) !=
                    other.claim.tenants.end())
                return tl::unexpected(fmt::format(
                    "the claim {} is of a gang that has the claim {} on this node: the pods of a "
                    "gang take one claim together on each node, or go to different nodes",
                    claim.id.text(), other.claim.id.text()));
    const auto earlier = settings_.files.read(claim.id.uid);
    if (earlier && *earlier != claim)
        for (const ClaimTenant &tenant : earlier->tenants)
            release(tenant.name);
    for (std::size_t i = 0; i < claim.tenants.size(); i++) {
        const auto held = hold(claim.tenants[i]);
        if (held)
            continue;
        // An nvqos that is being restarted holds the tenants of its file again.
        if (earlier == claim && held.error().exit == base::exit_status::failed)
            break;
        // What was prepared earlier may have containers, which keep what they have.
        for (std::size_t j = 0; j < i && earlier != claim; j++)
            release(claim.tenants[j].name);
        return tl::unexpected(fmt::format("nvqos does not keep {} for the claim {}: {}",
                                          claim.tenants[i].goal, claim.id.text(),
                                          held.error().sentence));
    }
    if (earlier != claim)
        if (const auto written = settings_.files.write(claim); !written) {
            for (const ClaimTenant &tenant : claim.tenants)
                release(tenant.name);
            return written;
        }
    const std::scoped_lock held(mutex_);
    claims_.insert_or_assign(claim.id.uid, ClaimState{claim});
    return {};
}

OrSentence<std::vector<PreparedDevice>> Claims::prepare(const ClaimId &id) {
    if (!is_claim_id(id))
        return tl::unexpected<std::string>(
            "a claim needs a namespace, a name and a uid of at most 48 letters, "
            "digits and '-'");
    const auto object = api_.get(path_of_claim(id));
    const std::scoped_lock asking(asking_);
    const auto claim = wanted(id, object, settings_.files.read(id.uid));
    if (!claim)
        return tl::unexpected(claim.error());
    return put(*claim).map([&] { return devices_of(*claim); });
}

OrSentence<void> Claims::take_off(const std::string &uid) {
    if (const auto claim = settings_.files.read(uid))
        for (const ClaimTenant &tenant : claim->tenants)
            release(tenant.name);
    const auto removed = settings_.files.remove(uid);
    if (removed) {
        const std::scoped_lock held(mutex_);
        claims_.erase(uid);
    }
    return removed;
}

OrSentence<void> Claims::unprepare(const ClaimId &id) {
    // An id that prepare() refuses is of no claim that was prepared.
    if (!is_claim_id(id))
        return {};
    const std::scoped_lock asking(asking_);
    return take_off(id.uid);
}

Outcome<NvqosState> Claims::hold_again() {
    const std::scoped_lock asking(asking_);
    auto state = read_nvqos(settings_.socket);
    if (!state)
        return state;
    std::map<std::string, const HeldTenant *> ours;
    for (const HeldTenant &tenant : state->tenants)
        if (tenant.name.starts_with(claim_prefix) && is_held_by(tenant, settings_.pid))
            ours.emplace(tenant.name, &tenant);
    bool is_changed = false;
    for (ClaimState &claim : all()) {
        std::map<std::string, std::string> refusals;
        for (const ClaimTenant &tenant : claim.claim.tenants) {
            if (ours.erase(tenant.name))
                continue;
            is_changed = true;
            if (const auto held = hold(tenant);
                !held && held.error().exit != base::exit_status::failed)
                refusals.emplace(tenant.name, held.error().sentence);
        }
        const std::scoped_lock held(mutex_);
        if (const auto at = claims_.find(claim.claim.id.uid); at != claims_.end())
            at->second.refusals = std::move(refusals);
    }
    for (const auto &[name, tenant] : ours) {
        is_changed = true;
        release(name);
    }
    return is_changed ? read_nvqos(settings_.socket) : state;
}

ApiOutcome<void> Claims::forget_deleted() {
    for (const ClaimState &state : all()) {
        const ClaimId &id = state.claim.id;
        const auto object = api_.get(path_of_claim(id));
        if (!object && may_exist(object.error()))
            return tl::unexpected(object.error());
        if (object && base::text_at(*object, "/metadata/uid") == id.uid)
            continue;
        const std::scoped_lock asking(asking_);
        if (const auto removed = take_off(id.uid); !removed)
            log(removed.error());
        else
            log(fmt::format("the claim {} ({}) is gone: its share is released", id.text(), id.uid));
    }
    return {};
}

std::vector<ClaimState> Claims::all() const {
    const std::scoped_lock held(mutex_);
    std::vector<ClaimState> states;
    for (const auto &[uid, state] : claims_)
        states.push_back(state);
    return states;
}

} // namespace nvdebug::kubernetes
