// SPDX-License-Identifier: MIT OR GPL-2.0
#include "services.hpp"

#include <algorithm>

namespace nvqos {

using nvtaskset::Work;
using qos::Ns;

namespace {

/// A request without an end counts for so long.
constexpr std::uint64_t longest_request_us = 100'000;
/// So many requests are kept of the last second.
constexpr std::size_t recent_max = 20'000;
constexpr std::uint64_t second_us = 1'000'000;

} // namespace

void Services::begin_list() {
    before_ = std::exchange(services_, {});
}

void Services::add_process(std::size_t tenant, Ns p99, bool shows_requests) {
    const auto [at, is_new] = services_.try_emplace(tenant);
    Service &service = at->second;
    if (is_new) {
        if (const auto before = before_.find(tenant);
            before != before_.end() && before->second.p99 == p99)
            service = std::move(before->second);
        service.processes = service.seen = 0;
    }
    service.p99 = p99;
    service.processes++;
    service.seen += shows_requests;
}

bool Services::read(std::size_t tenant, const Work &work, RequestsRead &read, std::uint64_t now) {
    const std::uint32_t finished = work.finished, begun = work.begun;
    // The page keeps the last requests; older ones have been overwritten.
    if (finished - read.finished > Work::kept)
        read.finished = finished - Work::kept;
    for (; read.finished != finished; read.finished++)
        if (const Ns us = work.took_us[read.finished % Work::kept]) {
            Service &service = services_[tenant];
            service.took.add(us * qos::us);
            service.recent.emplace_back(now, us * qos::us);
            if (service.recent.size() > recent_max)
                service.recent.pop_front();
        }
    if (begun != std::exchange(read.begun, begun))
        read.begun_at_us = now;
    const std::uint32_t open = begun - finished;
    read.lost = now - read.begun_at_us > longest_request_us ? open : std::min(read.lost, open);
    return open > read.lost;
}

std::optional<Requests> Services::requests(std::size_t tenant, std::uint64_t now) const {
    const auto at = services_.find(tenant);
    if (at == services_.end() || at->second.seen < at->second.processes)
        return std::nullopt;
    const Service &service = at->second;
    Requests found{service.took};
    for (const auto &[ended, took] : service.recent)
        if (now - ended <= second_us) {
            found.recent++;
            found.late += service.p99 && took > service.p99;
        }
    return found;
}

} // namespace nvqos
