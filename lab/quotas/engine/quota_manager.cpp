// SPDX-License-Identifier: MIT OR GPL-2.0
#include "quota_manager.hpp"

#include "placement.hpp"

namespace engine {
namespace {

qos::Shape shape_of(const Scenario &scenario) {
    qos::Shape found{
        .sms = scenario.gpu.sms, .slots = scenario.gpu.sm.schedulers, .epoch = scenario.epoch};
    for (const Participant &one : scenario.kernels)
        found.kernels.push_back({.qos = one.qos, .goal = one.goal});
    return found;
}

qos::Table start_of(const Scenario &scenario) {
    std::vector<Kernel> kernels;
    std::vector<bool> qos;
    for (const Participant &one : scenario.kernels) {
        kernels.push_back(one.kernel);
        qos.push_back(one.qos);
    }
    return start_blocks(scenario.gpu, kernels, qos);
}

} // namespace

QuotaManager::QuotaManager(const Scenario &scenario)
    : scenario_(scenario), machine_(shape_of(scenario), scenario.scheme, scenario.readings),
      start_(start_of(scenario)), allotted_(start_),
      samples_(scenario.gpu.sms, scenario.kernels.size()) {}

void QuotaManager::begin_epoch(Gpu &gpu) {
    // The scheme elastic may begin an epoch early for the whole GPU. Blocks are not adjusted then.
    if (gpu.now() >= adjusted_ + scenario_.epoch) {
        speeds_ = speeds(gpu, speeds_, adjusted_);
        adjust_blocks(gpu);
        samples_.clear();
        adjusted_ = gpu.now();
    }
    qos::Table hosted = allotted_;
    if (scenario_.hosted == Hosted::resident && gpu.now() > 0)
        for (std::size_t sm = 0; sm < gpu.sms(); sm++)
            for (std::size_t k = 0; k < gpu.kernels(); k++)
                hosted(sm, k) = gpu.sm(sm).blocks(k);
    if (std::optional<qos::Epoch> ended = machine_.boundary(hosted))
        epochs_.push_back(std::move(*ended));
    gpu.allot(allotted_);
    gpu.report_absent();
}

void QuotaManager::adjust_blocks(Gpu &gpu) {
    for (std::size_t sm = 0; sm < gpu.sms(); sm++) {
        if (gpu.sm(sm).is_evicting())
            continue;
        Room free(scenario_.gpu.sm);
        for (std::size_t k = 0; k < gpu.kernels(); k++)
            free.take(gpu.kernel(k).need, static_cast<int>(allotted_(sm, k)));
        const std::optional<Swap> swap = adjust(tenants(gpu, sm), free, scenario_.adjustment);
        if (!swap)
            continue;
        allotted_(sm, swap->to)++;
        if (!swap->from)
            continue;
        allotted_(sm, *swap->from) -= swap->count;
        const auto here = gpu.sm(sm).blocks(*swap->from);
        if (const auto over = here - static_cast<int>(allotted_(sm, *swap->from)); over > 0) {
            gpu.evict(sm, *swap->from, over);
            swaps_ += over;
        }
    }
}

std::vector<Tenant> QuotaManager::tenants(const Gpu &gpu, std::size_t sm) const {
    std::vector<Tenant> found;
    for (std::size_t k = 0; k < gpu.kernels(); k++) {
        const int warps = gpu.kernel(k).need.warps();
        Tenant one{.need = gpu.kernel(k).need,
                   .qos = scenario_.kernels[k].qos,
                   .blocks = static_cast<int>(allotted_(sm, k)),
                   .start = static_cast<int>(start_(sm, k)),
                   .speed = speeds_[k].since_launch,
                   .goal = scenario_.kernels[k].goal,
                   .idle = samples_.blocks(sm, k, warps),
                   .idle_all = samples_.blocks_of_all(sm, k, warps),
                   .has_more = gpu.grid(k).has_more()};
        for (std::size_t other = 0; other < gpu.sms(); other++)
            one.everywhere += gpu.sm(other).blocks(k);
        found.push_back(one);
    }
    return found;
}

void QuotaManager::sample(const Gpu &gpu) {
    for (std::size_t sm = 0; sm < gpu.sms(); sm++)
        for (std::size_t k = 0; k < gpu.kernels(); k++)
            samples_.add(sm, k, gpu.sm(sm).idle(k, gpu.now() - 1), machine_.counter(sm, k) > 0);
    samples_.end_sample();
}

std::vector<qos::Epoch> QuotaManager::epochs() {
    if (std::optional<qos::Epoch> last = machine_.finish())
        epochs_.push_back(std::move(*last));
    return std::move(epochs_);
}

} // namespace engine
