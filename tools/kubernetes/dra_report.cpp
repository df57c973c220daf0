// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dra_report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <set>
#include <string_view>

#include "lib/base/quantity.hpp"

namespace nvdebug::kubernetes {
namespace {

using base::text_at;

constexpr const char *condition_type = "Kept";
constexpr const char *claim_version = "resource.k8s.io/v1";
constexpr int forbidden = 403, not_found = 404, conflict = 409;
/// Kubernetes takes no message of a condition, and shows no event's, that is longer.
constexpr std::size_t longest_condition = 1000;
/// An event for each pod of a claim that many pods share would be a flood.
constexpr std::size_t most_pods = 4;

std::string rfc3339_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

std::string shortened(const std::string &message) {
    if (message.size() <= longest_condition)
        return message;
    std::size_t end = longest_condition;
    while (end && (static_cast<unsigned char>(message[end]) & 0xc0) == 0x80)
        end--; // not within a character of UTF-8
    return message.substr(0, end) + "…";
}

/// Returns the number of the GPU of `gpu-0`.
std::optional<std::uint32_t> number_of(const std::string &device) {
    constexpr std::string_view prefix = "gpu-";
    if (!device.starts_with(prefix))
        return std::nullopt;
    const auto number = base::parse_whole(std::string_view(device).substr(prefix.size()));
    return number ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

/// Returns the share of a goal for sentences: `share:30%,cap:50%` as `share 30 %, cap 50 %`.
std::string spaced(const std::string &goal) {
    std::string text;
    for (const char c : goal)
        if (c == ':')
            text += ' ';
        else if (c == ',')
            text += ", ";
        else if (c == '%')
            text += " %";
        else
            text += c;
    return text;
}

std::string text_of(const GotTime &got) {
    const auto time = [](double seconds) {
        return base::short_time(static_cast<std::int64_t>(seconds * 1e9), " ");
    };
    return got.percent
               ? fmt::format("got {:.1f} % of GPU {} ({} in {})", *got.percent, got.gpu,
                             time(got.used_s), time(got.time_s))
               : fmt::format("got {} of GPU {} in {}", time(got.used_s), got.gpu, time(got.time_s));
}

Json data_of(const ClaimTenant &tenant, const GotTime *got) {
    Json data = {{"tenant", tenant.name}, {"asked", tenant.goal}};
    if (!got)
        return data;
    data["usedSeconds"] = got->used_s;
    data["seconds"] = got->time_s;
    if (got->percent)
        data["gotPercent"] = std::round(*got->percent * 10) / 10;
    if (got->wait_p99_ms)
        data["waitP99Milliseconds"] = *got->wait_p99_ms;
    return data;
}

DeviceReport report_on(const ClaimState &claim, const ClaimTenant &tenant,
                       const ClaimDevice &device, const NvqosView &view) {
    DeviceReport report{.device = device,
                        .status = "Unknown",
                        .reason = "",
                        .message = "",
                        .data = data_of(tenant, nullptr)};
    if (!view.state) {
        report.reason = "NvqosAway";
        report.message = shortened(view.state.error().sentence);
        return report;
    }
    if (const auto refusal = claim.refusals.find(tenant.name); refusal != claim.refusals.end()) {
        report.status = "False";
        report.reason = "Refused";
        report.message = shortened(refusal->second);
        return report;
    }
    const auto gpu = number_of(device.device);
    const auto held = std::ranges::find(view.state->tenants, tenant.name, &HeldTenant::name);
    const GotTime *got = nullptr;
    if (held != view.state->tenants.end() && gpu)
        if (const auto at = std::ranges::find(held->got, *gpu, &GotTime::gpu);
            at != held->got.end())
            got = &*at;
    const bool has_worked = got && got->used_s > 0;
    report.data = data_of(tenant, got);
    report.message = fmt::format("asked {}, {}", spaced(tenant.goal),
                                 has_worked ? text_of(*got) : "no work seen on the GPU yet");
    const auto kept = view.kept.find({gpu.value_or(0), tenant.name});
    // nvqos counts the goal of a tenant without work as kept.
    if (kept == view.kept.end() || (kept->second && !has_worked)) {
        report.reason = "NotJudged";
        return report;
    }
    report.status = kept->second ? "True" : "False";
    report.reason = kept->second ? "Kept" : "NotKept";
    return report;
}

Json device_status(const DeviceReport &report, const std::string &since) {
    Json status = {{"driver", driver_name},
                   {"pool", report.device.pool},
                   {"device", report.device.device},
                   {"conditions", Json::array({Json{{"type", condition_type},
                                                    {"status", report.status},
                                                    {"reason", report.reason},
                                                    {"message", report.message},
                                                    {"lastTransitionTime", since}}})},
                   {"data", report.data}};
    if (!report.device.share_id.empty())
        status["shareID"] = report.device.share_id;
    return status;
}

/// Returns the `lastTransitionTime` that the claim has for the same status of the same device.
std::string since_in(const Json &claim, const DeviceReport &report) {
    const Json::json_pointer place("/status/devices");
    if (!claim.contains(place))
        return "";
    for (const Json &one : claim.at(place)) {
        if (text_at(one, "/driver") != driver_name || text_at(one, "/pool") != report.device.pool ||
            text_at(one, "/device") != report.device.device ||
            text_at(one, "/shareID") != report.device.share_id)
            continue;
        for (const Json &condition : one.value("conditions", Json::array()))
            if (text_at(condition, "/type") == condition_type &&
                text_at(condition, "/status") == report.status)
                return text_at(condition, "/lastTransitionTime");
    }
    return "";
}

std::string path_of_namespace(const char *group, const ClaimId &id) {
    return fmt::format("{}/namespaces/{}", group, escape(id.space));
}

} // namespace

bool DeviceReport::is_like(const DeviceReport &other) const {
    constexpr double percent = 1;
    const auto got = [](const DeviceReport &report) {
        return report.data.value("gotPercent", 0.0);
    };
    return device == other.device && status == other.status && reason == other.reason &&
           data.value("asked", "") == other.data.value("asked", "") &&
           (reason == "Refused" || reason == "NvqosAway"
                ? message == other.message
                : std::abs(got(*this) - got(other)) < percent);
}

std::vector<DeviceReport> reports_on(const ClaimState &claim, const NvqosView &view) {
    std::vector<DeviceReport> reports;
    for (const ClaimTenant &tenant : claim.claim.tenants)
        for (const ClaimDevice &device : tenant.devices)
            reports.push_back(report_on(claim, tenant, device, view));
    return reports;
}

ClaimReporter::ClaimReporter(const ApiServer &api, ReportSettings settings, Log log)
    : api_(api), settings_(std::move(settings)), log_(std::move(log)) {}

ApiOutcome<void> ClaimReporter::read_claim(const ClaimId &id, Row &row,
                                           const std::vector<DeviceReport> &reports) {
    const auto claim =
        api_.get(fmt::format("{}/resourceclaims/{}",
                             path_of_namespace("/apis/resource.k8s.io/v1", id), escape(id.name)));
    if (!claim && claim.error().status != not_found)
        return tl::unexpected(claim.error());
    if (!claim || text_at(*claim, "/metadata/uid") != id.uid) {
        row.is_gone = true;
        return {};
    }
    row.was_read = true;
    const Json::json_pointer reserved("/status/reservedFor");
    if (claim->contains(reserved) && claim->at(reserved).is_array())
        row.pods = claim->at(reserved);
    row.since.clear();
    for (const DeviceReport &report : reports)
        row.since.push_back(since_in(*claim, report));
    return {};
}

ApiOutcome<void> ClaimReporter::write_status(const ClaimId &id, Row &row,
                                             const std::vector<DeviceReport> &reports,
                                             Clock::time_point now) {
    row.since.resize(reports.size());
    Json devices = Json::array();
    for (std::size_t i = 0; i < reports.size(); i++) {
        const bool is_other = i < row.written.size() && row.written[i].status != reports[i].status;
        if (is_other || row.since[i].empty())
            row.since[i] = rfc3339_now();
        devices.push_back(device_status(reports[i], row.since[i]));
    }
    const Json status = {
        {"apiVersion", claim_version},
        {"kind", "ResourceClaim"},
        {"metadata", {{"name", id.name}, {"namespace", id.space}, {"uid", id.uid}}},
        {"status", {{"devices", std::move(devices)}}}};
    const auto answer =
        api_.apply(fmt::format("{}/resourceclaims/{}/status",
                               path_of_namespace("/apis/resource.k8s.io/v1", id), escape(id.name)),
                   status);
    // A claim that is refused now is tried again after the period, and not at once.
    row.wrote_at = now;
    if (answer) {
        row.written = reports;
        return {};
    }
    switch (answer.error().status) {
    case forbidden:
        may_write_ = false;
        log_("the claims do not show what they got, because the service account may not: " +
             answer.error().sentence);
        return {};
    case not_found:
    case conflict: // another uid
        row.is_gone = true;
        return {};
    default:
        return tl::unexpected(answer.error());
    }
}

void ClaimReporter::make_event(const ClaimId &id, const Row &row, const char *type,
                               const char *reason, const std::string &message) {
    std::vector<Json> objects;
    for (const Json &pod : row.pods)
        if (text_at(pod, "/resource") == "pods" && objects.size() < most_pods)
            objects.push_back({{"apiVersion", "v1"},
                               {"kind", "Pod"},
                               {"namespace", id.space},
                               {"name", text_at(pod, "/name")},
                               {"uid", text_at(pod, "/uid")}});
    if (objects.empty())
        objects.push_back({{"apiVersion", claim_version},
                           {"kind", "ResourceClaim"},
                           {"namespace", id.space},
                           {"name", id.name},
                           {"uid", id.uid}});
    const std::string now = rfc3339_now();
    for (const Json &object : objects) {
        const Json event = {
            {"apiVersion", "v1"},
            {"kind", "Event"},
            {"metadata", {{"generateName", "nvdebug-" + id.uid + "-"}, {"namespace", id.space}}},
            {"involvedObject", object},
            {"type", type},
            {"reason", reason},
            {"message", shortened(message)},
            {"firstTimestamp", now},
            {"lastTimestamp", now},
            {"count", 1},
            {"source", {{"component", driver_name}, {"host", settings_.node}}},
            {"reportingComponent", driver_name},
            {"reportingInstance", settings_.node}};
        const auto made = api_.create(path_of_namespace("/api/v1", id) + "/events", event);
        if (!made && made.error().status == forbidden) {
            may_make_events_ = false;
            log_("no events are made, because the service account may not make them");
            return;
        }
    }
}

void ClaimReporter::tell(const ClaimId &id, Row &row, const std::vector<DeviceReport> &reports,
                         Clock::time_point now) {
    const auto first = [&](const char *reason) {
        return std::ranges::find(reports, reason, &DeviceReport::reason);
    };
    const auto event = [&](Said said, const char *type, const char *reason,
                           const std::string &message) {
        if (row.said == said)
            return;
        row.said = said;
        make_event(id, row, type, reason, fmt::format("claim {}: {}", id.name, message));
    };
    const auto refused = first("Refused"), not_kept = first("NotKept"), kept = first("Kept");
    if (not_kept == reports.end())
        row.not_kept_since.reset();
    else if (!row.not_kept_since)
        row.not_kept_since = now;
    if (refused != reports.end())
        event(Said::refused, "Warning", "ShareRefused", refused->message);
    else if (not_kept != reports.end()) {
        if (now - *row.not_kept_since >= settings_.not_kept_for)
            event(Said::not_kept, "Warning", "ShareNotKept", not_kept->message);
    } else if (kept != reports.end())
        event(Said::kept, "Normal", "ShareKept", kept->message);
}

ApiOutcome<void> ClaimReporter::report(const std::vector<ClaimState> &claims, const NvqosView &view,
                                       Clock::time_point now) {
    std::set<std::string> present;
    for (const ClaimState &claim : claims)
        present.insert(claim.claim.id.uid);
    std::erase_if(rows_, [&](const auto &one) { return !present.contains(one.first); });
    ApiOutcome<void> done;
    for (const ClaimState &claim : claims) {
        const ClaimId &id = claim.claim.id;
        Row &row = rows_[id.uid];
        const auto reports = reports_on(claim, view);
        if (!row.is_gone && !row.was_read)
            if (auto read = read_claim(id, row, reports); !read)
                return read;
        if (row.is_gone)
            continue;
        if (settings_.makes_events && may_make_events_)
            tell(id, row, reports, now);
        const bool is_new = !std::ranges::equal(
            reports, row.written, [](const auto &a, const auto &b) { return a.is_like(b); });
        const bool is_due = !row.wrote_at || now - *row.wrote_at >= settings_.period;
        if (may_write_ && is_new && is_due)
            if (auto written = write_status(id, row, reports, now); !written)
                done = written;
    }
    return done;
}

} // namespace nvdebug::kubernetes
