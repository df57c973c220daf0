// SPDX-License-Identifier: MIT OR GPL-2.0
#include "manager.hpp"

#include "placement.hpp"
#include "quota_manager.hpp"
#include "spart_manager.hpp"

namespace engine {
namespace {

/** Allots every block that fits, from the first cycle on. */
class NoManager : public Manager {
  public:
    explicit NoManager(const Scenario &scenario) : scenario_(scenario) {}

    void begin_epoch(Gpu &gpu) override {
        std::vector<Kernel> kernels;
        for (const Participant &one : scenario_.kernels)
            kernels.push_back(one.kernel);
        gpu.allot(start_blocks(scenario_.gpu, kernels, std::vector<bool>(kernels.size(), true)));
    }

  private:
    const Scenario &scenario_;
};

} // namespace

std::vector<Speed> speeds(const Gpu &gpu, const std::vector<Speed> &before, std::int64_t begin) {
    std::vector<Speed> found;
    for (std::size_t k = 0; k < gpu.kernels(); k++) {
        Speed one{.instructions = gpu.used(k),
                  .before = k < before.size() ? before[k].instructions : 0};
        if (gpu.now() > begin) {
            one.since_launch = qos::fraction(one.instructions, gpu.now());
            one.last = qos::fraction(one.instructions - one.before, gpu.now() - begin);
        }
        found.push_back(one);
    }
    return found;
}

std::unique_ptr<Manager> Manager::of(const Scenario &scenario) {
    switch (scenario.manager) {
    case Scenario::Manager::quotas:
        return std::make_unique<QuotaManager>(scenario);
    case Scenario::Manager::spart:
        return std::make_unique<SpartManager>(scenario);
    case Scenario::Manager::none:
        break;
    }
    return std::make_unique<NoManager>(scenario);
}

} // namespace engine
