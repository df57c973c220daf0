// SPDX-License-Identifier: MIT OR GPL-2.0
// Whole runs of the engine: what is issued is what is charged, SMs hold no more than fits, and the
// properties of quotas (docs/quotas.md#properties) hold there, too.
#include <algorithm>
#include <gtest/gtest.h>

#include "lab/quotas/engine/benchmarks.hpp"
#include "lab/quotas/engine/run.hpp"

namespace engine {
namespace {

using qos::Scheme;

constexpr Scheme schemes[] = {Scheme::naive, Scheme::history, Scheme::elastic, Scheme::rollover,
                              Scheme::rollover_time};

Participant with_goal(const char *name, const qos::Rational &goal) {
    return {.kernel = *benchmark(name), .qos = true, .goal = goal};
}

Participant without_goal(const char *name) {
    return {.kernel = *benchmark(name)};
}

/** On 3 SMs, in epochs of 300 cycles. */
Scenario small(std::vector<Participant> kernels, Scheme scheme = Scheme::rollover) {
    Scenario found;
    found.gpu.sms = 3;
    found.gpu.memory.sixteenths = 40;
    found.kernels = std::move(kernels);
    found.scheme = scheme;
    found.epoch = 300;
    found.epochs = 12;
    return found;
}

std::vector<Scenario> some_scenarios() {
    std::vector<Scenario> found;
    for (const Scheme scheme : schemes) {
        found.push_back(small({with_goal("sgemm", 180), without_goal("lbm")}, scheme));
        found.push_back(small({with_goal("spmv", 20), without_goal("mri-q")}, scheme));
        found.push_back(small({without_goal("histo"), with_goal("histo", 30)}, scheme));
        found.push_back(
            small({with_goal("tpacf", 60), with_goal("sad", 25), without_goal("cutcp")}, scheme));
        found.push_back(
            small({with_goal("stencil", 30), without_goal("mri-gridding"), without_goal("mri-q")},
                  scheme));
        found.back().gpu.sm.schedulers = 2;
    }
    return found;
}

/** What is checked in each cycle. */
class Cycles {
  public:
    explicit Cycles(const Scenario &scenario)
        : scenario_(scenario), used_(scenario.gpu.sms, scenario.kernels.size()), issued_(used_),
          counter_(used_), resident_(used_), refills_(used_) {}

    void operator()(const Gpu &gpu, const qos::Machine *machine) {
        const qos::Epoch &epoch = machine->epoch();
        const bool first = epoch.first_cycle == gpu.now() - 1;
        if (first) {
            counter_ = epoch.counter_start;
            issued_ = refills_ = qos::Table(gpu.sms(), gpu.kernels());
        }
        for (std::size_t sm = 0; sm < gpu.sms(); sm++)
            look_at(gpu, *machine, epoch, sm);
    }

    std::int64_t full = 0, refilled = 0;

  private:
    void look_at(const Gpu &gpu, const qos::Machine &machine, const qos::Epoch &epoch,
                 std::size_t sm) {
        const int slots = scenario_.gpu.sm.schedulers, wide = lanes_of_warp * slots;
        std::int64_t issued = 0;
        Need all;
        int blocks = 0;
        bool qos_has_quota = false, others_issue = false;
        for (std::size_t k = 0; k < gpu.kernels(); k++) {
            const bool qos = scenario_.kernels[k].qos;
            const std::int64_t now = epoch.issued(sm, k) - issued_(sm, k),
                               threads = gpu.sm(sm).used(k) - used_(sm, k);
            issued += now;
            const std::int64_t refills = epoch.refills(sm, k) - refills_(sm, k);
            EXPECT_EQ(machine.counter(sm, k),
                      counter_(sm, k) - threads + refills * epoch.quota(sm, k))
                << "what is issued is charged";
            EXPECT_EQ(now > 0, threads > 0);
            if (now > 0) {
                EXPECT_GT(counter_(sm, k), 0) << "P1, kernel " << k;
            }
            EXPECT_GE(machine.counter(sm, k), -(wide - 1)) << "P3";
            refilled += refills;
            EXPECT_TRUE(!refills || !qos || scenario_.scheme == Scheme::elastic) << "P5";
            qos_has_quota |=
                qos && resident_(sm, k) > 0 && gpu.sm(sm).blocks(k) > 0 && counter_(sm, k) > 0;
            others_issue |= !qos && now > 0;
            const Need &need = gpu.kernel(k).need;
            blocks += gpu.sm(sm).blocks(k);
            all.threads += gpu.sm(sm).blocks(k) * need.threads;
            all.registers += gpu.sm(sm).blocks(k) * need.registers;
            all.shared_bytes += gpu.sm(sm).blocks(k) * need.shared_bytes;
            used_(sm, k) = gpu.sm(sm).used(k);
            issued_(sm, k) = epoch.issued(sm, k);
            refills_(sm, k) = epoch.refills(sm, k);
            counter_(sm, k) = machine.counter(sm, k);
            resident_(sm, k) = gpu.sm(sm).blocks(k);
        }
        EXPECT_LE(issued, slots) << "P0";
        full += issued == slots;
        EXPECT_FALSE(scenario_.scheme == Scheme::rollover_time && qos_has_quota && others_issue)
            << "P14";
        const SmShape &shape = scenario_.gpu.sm;
        EXPECT_LE(all.threads, shape.threads);
        EXPECT_LE(all.registers, shape.registers);
        EXPECT_LE(all.shared_bytes, shape.shared_bytes);
        EXPECT_LE(blocks, shape.blocks);
    }

    const Scenario &scenario_;
    qos::Table used_, issued_, counter_, resident_, refills_;
};

std::int64_t sum(const qos::Table &table, std::size_t kernel) {
    std::int64_t all = 0;
    for (const std::int64_t one : table.of_kernel(kernel))
        all += one;
    return all;
}

TEST(Engine, KeepsTheRulesOfEachCycle) {
    std::int64_t full = 0, refilled = 0;
    for (const Scenario &scenario : some_scenarios()) {
        SCOPED_TRACE(scenario.kernels[0].kernel.name + ", scheme " +
                     std::to_string(static_cast<int>(scenario.scheme)));
        Cycles cycles(scenario);
        run(scenario, std::ref(cycles));
        full += cycles.full;
        refilled += cycles.refilled;
        ASSERT_FALSE(testing::Test::HasFailure());
    }
    EXPECT_GT(full, 1000) << "there are SMs whose slots are all used";
    EXPECT_GT(refilled, 100);
}

TEST(Engine, ChargesWhatItIssues) {
    for (const Scenario &scenario : some_scenarios()) {
        const Outcome found = run(scenario);
        ASSERT_EQ(found.epochs.size(), 12u);
        for (std::size_t k = 0; k < scenario.kernels.size(); k++) {
            std::int64_t all = 0;
            for (const qos::Epoch &epoch : found.epochs)
                all += sum(epoch.used, k);
            EXPECT_EQ(all, found.instructions[k]);
            // A goal that is out of reach lets the others wait for ever.
            if (scenario.kernels[k].qos || scenario.scheme != Scheme::rollover_time) {
                EXPECT_GT(all, 0) << scenario.kernels[k].kernel.name;
            }
        }
    }
}

TEST(Engine, KeepsTheRulesOfEachEpoch) {
    for (const Scenario &scenario : some_scenarios()) {
        const Outcome found = run(scenario);
        const auto sms = static_cast<std::int64_t>(scenario.gpu.sms);
        const std::int64_t wide = lanes_of_warp * scenario.gpu.sm.schedulers;
        const qos::Integer peak(sms * wide * scenario.epoch);
        for (std::size_t k = 0; k < scenario.kernels.size(); k++) {
            qos::Integer instructions = 0, cycles = 0;
            for (const qos::Epoch &epoch : found.epochs) {
                for (std::size_t sm = 0; sm < scenario.gpu.sms; sm++)
                    EXPECT_EQ(epoch.counter_start(sm, k) +
                                  epoch.refills(sm, k) * epoch.quota(sm, k),
                              epoch.used(sm, k) + epoch.counter_end(sm, k))
                        << "P2";
                const qos::Integer wanted = std::min(
                    qos::ceil(epoch.alpha[k] * epoch.goal[k] * qos::Integer(scenario.epoch)), peak);
                EXPECT_EQ(qos::Integer(sum(epoch.quota, k)), wanted) << "P4, P7";
                if (scenario.kernels[k].qos && scenario.scheme != Scheme::naive && cycles > 0) {
                    const bool reached = instructions >= scenario.kernels[k].goal * cycles;
                    EXPECT_EQ(epoch.alpha[k] == 1, reached) << "P6";
                }
                if (scenario.kernels[k].qos && scenario.scheme <= Scheme::history) {
                    EXPECT_LE(sum(epoch.used, k), sum(epoch.quota, k) + sms * (wide - 1)) << "P8";
                }
                instructions += sum(epoch.used, k);
                cycles += epoch.length;
            }
        }
    }
}

TEST(Engine, IsTheSameEachTimeAndOtherByOtherSeeds) {
    for (Scenario scenario : some_scenarios()) {
        const Outcome one = run(scenario), other = run(scenario);
        EXPECT_EQ(one.instructions, other.instructions) << "P12";
        EXPECT_EQ(one.swaps, other.swaps);
        EXPECT_EQ(one.memory_busy, other.memory_busy);
    }
    Scenario scenario = small({with_goal("spmv", 20), without_goal("mri-gridding")});
    const Outcome one = run(scenario);
    scenario.seed++;
    EXPECT_NE(one.instructions, run(scenario).instructions);
}

TEST(Engine, SchemesAgreeInTheFirstEpoch) {
    for (const Scenario &each : some_scenarios()) {
        Scenario scenario = each;
        scenario.epochs = 1;
        scenario.scheme = Scheme::naive;
        const std::vector<std::int64_t> naive = run(scenario).instructions;
        scenario.scheme = Scheme::history;
        EXPECT_EQ(run(scenario).instructions, naive) << "P11";
        scenario.scheme = Scheme::rollover;
        EXPECT_EQ(run(scenario).instructions, naive) << "P11";
    }
}

TEST(Engine, AKernelThatCanReachesItsGoalAlone) {
    for (const Scheme scheme : schemes) {
        Scenario scenario = small({with_goal("mri-q", 150)}, scheme);
        const Outcome found = run(scenario);
        EXPECT_GE(found.instructions[0], 150 * found.cycles) << "P10";
        if (scheme != Scheme::elastic) {
            EXPECT_LE(found.instructions[0], 150 * found.cycles + 3 * 127 * 12);
        }
    }
}

TEST(Engine, NoKernelThatHasWarpsStarves) {
    for (const Scheme scheme : schemes) {
        const Scenario scenario = small({with_goal("mri-q", 150), without_goal("cutcp")}, scheme);
        for (const qos::Epoch &epoch : run(scenario).epochs)
            for (std::size_t k = 0; k < 2; k++)
                EXPECT_GT(sum(epoch.used, k), 0) << "P9, P13: kernel " << k;
    }
}

TEST(Engine, HoldsQuotasToTheInstruction) {
    // A warp instruction in each cycle could be issued; 800 of 3200 are granted.
    Scenario scenario = small({with_goal("mri-q", 8)}, Scheme::naive);
    scenario.gpu.sms = 1;
    scenario.gpu.sm.schedulers = 1;
    scenario.gpu.sm.threads = 256;
    scenario.epoch = 100;
    scenario.epochs = 3;
    EXPECT_EQ(run(scenario).instructions[0], 3 * 800);
    scenario.kernels[0].goal = 9; // 28 1/8 warp instructions: the 29th overdraws
    EXPECT_EQ(run(scenario).instructions[0], 3 * 29 * 32);
    scenario.scheme = Scheme::rollover; // what is overdrawn is paid: 900, 872, 876
    EXPECT_EQ(run(scenario).instructions[0], (29 + 28 + 28) * 32);
}

TEST(Engine, RefillsWhileNothingIsIssued) {
    // Of 2 an instruction overdraws 30. Each cycle adds 2, so that 16 of them pass until the next
    // one.
    Scenario scenario = small({without_goal("mri-q")}, Scheme::naive);
    scenario.gpu.sms = 1;
    scenario.gpu.sm.schedulers = 1;
    scenario.readings.init_ipc = qos::fraction(1, 50);
    scenario.epoch = 100;
    scenario.epochs = 1;
    scenario.gpu.sm.threads = 256;
    EXPECT_EQ(run(scenario).instructions[0], 7 * 32) << "in cycles 0, 16, … 96";
}

TEST(Engine, SpartSharesWholeSms) {
    Scenario scenario = small({with_goal("mri-q", 250), without_goal("mri-q")});
    scenario.manager = Scenario::Manager::spart;
    scenario.epoch = 1000;
    const Outcome found = run(scenario, [](const Gpu &gpu, const qos::Machine *machine) {
        EXPECT_EQ(machine, nullptr);
        for (std::size_t sm = 0; sm < gpu.sms(); sm++)
            EXPECT_FALSE(gpu.sm(sm).blocks(0) && gpu.sm(sm).blocks(1));
    });
    // Two of three SMs make 2/3 of 384.
    EXPECT_GT(found.instructions[0], 250 * found.cycles);
    EXPECT_LE(found.instructions[1], 128 * found.cycles);
}

TEST(Engine, EachKernelHasTheCharacterThatItIsToHave) {
    for (const Kernel &kernel : benchmarks()) {
        Scenario scenario;
        scenario.manager = Scenario::Manager::none;
        scenario.kernels = {{.kernel = kernel}};
        scenario.epochs = 10;
        const Outcome found = run(scenario);
        const std::int64_t of_peak = 100 * found.instructions[0] / found.cycles / 2048,
                           of_memory = 100 * found.memory_busy / found.cycles;
        const bool computes = of_memory < 50;
        const bool is_known_to = kernel.name == "cutcp" || kernel.name == "mri-q" ||
                                 kernel.name == "sgemm" || kernel.name == "tpacf";
        EXPECT_EQ(computes, is_known_to) << kernel.name << ": " << of_peak << " % of the peak, "
                                         << of_memory << " % of memory's bandwidth";
        EXPECT_EQ(found.launches[0] > 2, kernel.name == "histo") << kernel.name;
    }
}

} // namespace
} // namespace engine
