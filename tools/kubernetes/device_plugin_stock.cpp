// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device_plugin_stock.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "lib/base/printable.hpp"

namespace nvdebug::kubernetes {
namespace {

/// Returns the sum of the shares that containers with units have of this GPU, in percent.
double held_by_units(const NvqosState &state, std::uint32_t gpu) {
    double percent = 0;
    for (const HeldTenant &tenant : state.tenants)
        if (tenant.name.starts_with(tenant_prefix) && tenant.gpus == std::vector{gpu}) {
            unsigned share = 0;
            if (std::sscanf(tenant.goal.c_str(), "share %u %%", &share) == 1)
                percent += share;
        }
    return percent;
}

/// Returns how many units of the GPU containers have or can still have.
unsigned possible_units(const NvqosState &state, const KeptGpu &gpu, unsigned units) {
    if (!gpu.is_up || !gpu.possible_percent)
        return 0;
    const double possible = held_by_units(state, gpu.number) + *gpu.possible_percent;
    return std::min(units, static_cast<unsigned>(std::floor(std::max(possible, 0.0))));
}

/// Returns why no unit of the GPU is healthy.
std::string reason_of(const KeptGpu &gpu) {
    if (gpu.is_up)
        return gpu.possible_percent ? "nvqos has no promises left for it"
                                    : "nvqos has not begun to keep goals on it";
    return gpu.why.empty() ? "nvqos does not keep goals on it" : gpu.why;
}

/// Returns a sentence about a GPU with units that have changed.
std::string sentence_about(const StockOfGpu &gpu, unsigned units) {
    const std::string name = base::printable(gpu.uuid);
    if (gpu.healthy == 0)
        return fmt::format("{}: none of its {} units is healthy: {}", name, units,
                           base::printable(gpu.why));
    if (gpu.healthy < units)
        return fmt::format("{}: {} of its {} units are healthy; nvqos has promised the rest to "
                           "others",
                           name, gpu.healthy, units);
    return fmt::format("{}: all of its {} units are healthy", name, units);
}

} // namespace

std::vector<std::string> Stock::take(const Outcome<NvqosState> &state) {
    const std::scoped_lock held(mutex_);
    std::map<std::string, Known> next = gpus_;
    for (auto &[uuid, known] : next) {
        known.possible = known.stock.healthy = 0;
        known.stock.why = state ? "nvqos does not list it" : state.error().sentence;
    }
    for (const KeptGpu &gpu : state ? state->gpus : std::vector<KeptGpu>()) {
        // Without a UUID its units have no names.
        if (gpu.uuid.empty())
            continue;
        const auto before = gpus_.find(gpu.uuid);
        Known &known = next[gpu.uuid];
        known.stock.uuid = gpu.uuid;
        known.possible = possible_units(*state, gpu, units_);
        known.stock.healthy = known.possible;
        if (before != gpus_.end() && gpu.is_up)
            known.stock.healthy = std::max(known.possible, before->second.possible);
        known.stock.why = known.stock.healthy ? "" : reason_of(gpu);
        if (!gpu.address.empty())
            known.stock.numa_node = numa_node_of_(gpu.address);
    }
    std::vector<std::string> sentences;
    for (const auto &[uuid, known] : next) {
        const auto before = gpus_.find(uuid);
        if (before == gpus_.end() || before->second.stock.healthy != known.stock.healthy ||
            before->second.stock.why != known.stock.why)
            sentences.push_back(sentence_about(known.stock, units_));
        if (before == gpus_.end() || before->second.stock != known.stock)
            version_++;
    }
    gpus_ = std::move(next);
    changed_.notify_all();
    return sentences;
}

std::vector<StockOfGpu> Stock::gpus() const {
    const std::scoped_lock held(mutex_);
    std::vector<StockOfGpu> all;
    all.reserve(gpus_.size());
    for (const auto &[uuid, known] : gpus_)
        all.push_back(known.stock);
    return all;
}

std::uint64_t Stock::version() const {
    const std::scoped_lock held(mutex_);
    return version_;
}

void Stock::wait(std::uint64_t known, std::chrono::milliseconds patience) const {
    std::unique_lock held(mutex_);
    changed_.wait_for(held, patience, [&] { return version_ != known; });
}

} // namespace nvdebug::kubernetes
