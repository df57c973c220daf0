// SPDX-License-Identifier: MIT OR GPL-2.0
// Marks of nvqos in recordings, over the stand-in for NVIDIA's driver: which marks are made, and
// how many are sent if there are many, no recorder runs, or a recorder does not read.
#include "served.hpp"

#include "tools/nvqos/keep/gpu_goals.hpp"

#include <algorithm>

namespace served {
namespace {

using namespace qos;
using nvdebug::base::MarkSocket;
using Texts = std::vector<std::string>;

/// Marks by a clock that stands still unless a test moves it, and the marks that were received.
class Marked : public Served {
  protected:
    void pass(std::uint64_t ns) { now += ns; }

    Texts received(MarkSocket &socket) const {
        Texts texts;
        for (auto some = socket.take(); !some.empty(); some = socket.take())
            for (const auto &mark : some)
                if (mark.pid == static_cast<std::uint32_t>(::getpid()))
                    texts.push_back(mark.gpu + " " + mark.text);
        return texts;
    }

    /// Sends all waiting marks, and returns the marks that the recorder got.
    Texts heard(MarkSocket &socket) {
        Texts all;
        for (int n = 0; n < 10; n++) {
            pass(nvqos::Marks::interval_ns);
            marks->send();
            const Texts some = received(socket);
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }

    nvqos::Goals asked(const std::vector<std::string> &words) const {
        nvqos::Goals made;
        for (const std::string &word : words)
            EXPECT_TRUE(nvqos::add_word(word, made));
        return made;
    }

    void start(const std::vector<std::string> &words) {
        sim.set_bursts(0, simulated::always());
        sim.set_bursts(1, simulated::always());
        auto made = nvqos::GpuGoals::start(gpu, asked(words),
                                           {.patience = driver_test::plenty,
                                            .beat = std::chrono::milliseconds(250),
                                            .clock = [this] { return sim.now(); },
                                            .marks = &*marks},
                                           [](const std::string &) {});
        ASSERT_TRUE(made) << made.error().sentence;
        gpu_goals = std::move(*made);
    }

    void keep_for(
        Ns length, std::function<void()> before_each = [] {}) {
        for (const Ns end = sim.now() + length; sim.now() < end;) {
            before_each();
            run_until(std::min(end, sim.now() + std::max<Ns>(gpu_goals->wait(), 100 * us)));
            const auto report = gpu_goals->step();
            ASSERT_TRUE(report) << report.error().sentence;
            epochs_not_kept += *report && !(**report).tenants[0].record.kept;
        }
    }

    std::uint64_t now = 1'000'000'000;
    Texts said;
    std::optional<nvqos::Marks> marks{std::in_place,
                                      [this](const std::string &text) { said.push_back(text); },
                                      [this] { return now; }};
    std::unique_ptr<nvqos::GpuGoals> gpu_goals;
    std::size_t epochs_not_kept = 0;
};

TEST_F(Marked, GoalsBeginAreReplacedAndEnd) {
    MarkSocket recorder;
    start({"557=share:30%", "command:two=latency", "others=best-effort:2"});
    EXPECT_EQ(heard(recorder),
              (Texts{"gpu0 nvqos: 557: share 30 %", "gpu0 nvqos: command:two: latency",
                     "gpu0 nvqos: others: best effort 2"}));
    EXPECT_FALSE(gpu_goals->set_goals(asked({"557=share:100%"})));
    EXPECT_EQ(heard(recorder), Texts{}) << "it was refused";
    EXPECT_TRUE(gpu_goals->set_goals(asked({"558=share:20%", "557=share:40%"})));
    EXPECT_EQ(heard(recorder),
              (Texts{"gpu0 nvqos: command:two: latency ends",
                     "gpu0 nvqos: others: best effort 2 ends", "gpu0 nvqos: 558: share 20 %",
                     "gpu0 nvqos: 557: share 40 %, in place of share 30 %"}));
    EXPECT_TRUE(gpu_goals->set_goals(asked({"557=share:40%", "558=share:20%"})));
    EXPECT_EQ(heard(recorder), Texts{}) << "they are the same";
    gpu_goals.reset();
    EXPECT_EQ(heard(recorder),
              (Texts{"gpu0 nvqos: 557: share 40 % ends", "gpu0 nvqos: 558: share 20 % ends"}));
}

TEST_F(Marked, FirstPauseForACapIsMarked) {
    MarkSocket recorder;
    start({"557=cap:30%"});
    keep_for(3 * qos::second);
    EXPECT_EQ(heard(recorder),
              (Texts{"gpu0 nvqos: 557: cap 30 %", "gpu0 nvqos: 557: cap 30 %: first pause"}));
    EXPECT_TRUE(gpu_goals->set_goals(asked({"557=cap:20%"})));
    keep_for(3 * qos::second);
    EXPECT_EQ(heard(recorder), (Texts{"gpu0 nvqos: 557: cap 20 %, in place of cap 30 %",
                                      "gpu0 nvqos: 557: cap 20 %: first pause"}));
}

TEST_F(Marked, GoalIsMarkedWhenItFailsAndRecovers) {
    MarkSocket recorder;
    start({"557=cap:30%"});
    keep_for(qos::second);
    EXPECT_EQ(heard(recorder).size(), 2U);
    ASSERT_EQ(epochs_not_kept, 0U);
    // Pauses have no effect, however often they are asked for.
    pauses_tasks = false;
    keep_for(3 * qos::second, [this] { sim.change({0, simulation::Request::What::resume}); });
    pauses_tasks = true;
    EXPECT_GT(epochs_not_kept, 5U);
    EXPECT_EQ(heard(recorder), Texts{"gpu0 nvqos: 557: cap 30 % is not kept"});
    EXPECT_TRUE(gpu_goals->set_goals(asked({"558=share:1%", "557=cap:30%"})));
    EXPECT_EQ(heard(recorder), Texts{"gpu0 nvqos: 558: share 1 %"}) << "the other is the same";
    // The task idles until the goal is kept again.
    sim.stop(0);
    keep_for(10 * qos::second);
    EXPECT_EQ(heard(recorder), Texts{"gpu0 nvqos: 557: cap 30 % is kept again"});
}

/// The cap is missed. Then the task idles, and switches are lost, so that nothing shows that.
TEST_F(Marked, GoalThatWasMissedIsNotMarkedAsKeptWhileItCannotBeSeen) {
    MarkSocket recorder;
    start({"557=cap:30%"});
    pauses_tasks = false;
    keep_for(5 * qos::second, [this] { sim.change({0, simulation::Request::What::resume}); });
    pauses_tasks = true;
    EXPECT_EQ(heard(recorder).back(), "gpu0 nvqos: 557: cap 30 % is not kept");
    sim.stop(0);
    const std::size_t before = epochs_not_kept;
    keep_for(5 * qos::second, [this] { kernel.dropped++; });
    EXPECT_LT(epochs_not_kept, before + 30) << "by the switches that are left it would be kept";
    EXPECT_EQ(heard(recorder), Texts{});
    keep_for(5 * qos::second);
    EXPECT_EQ(heard(recorder), Texts{"gpu0 nvqos: 557: cap 30 % is kept again"});
}

TEST_F(Marked, MarksAboveTheRateAreCounted) {
    MarkSocket recorder;
    for (std::size_t n = 0; n < nvqos::Marks::burst + 68; n++)
        marks->add(n % 2, std::to_string(n));
    const Texts texts = heard(recorder);
    ASSERT_EQ(texts.size(), nvqos::Marks::burst + 2);
    EXPECT_EQ(texts.front(), "gpu0 nvqos: 0");
    EXPECT_EQ(std::ranges::count(texts, "gpu0 nvqos: 34 marks before this were left out"), 1);
    EXPECT_EQ(std::ranges::count(texts, "gpu1 nvqos: 34 marks before this were left out"), 1);
    // Ten intervals have passed, and two of the marks were the numbers of others that were left
    // out.
    std::size_t sent = 0;
    for (std::size_t n = 0; n < 100; n++) {
        pass(nvqos::Marks::interval_ns);
        for (int many = 0; many < 10; many++)
            marks->add(0, "more");
        marks->send();
        sent += received(recorder).size();
    }
    EXPECT_LE(sent, 110U) << "one an interval";
    EXPECT_GE(sent, 100U);
    marks->add(0, "more");
    marks.reset();
    EXPECT_FALSE(received(recorder).empty()) << "the last number";
    EXPECT_EQ(said, Texts{});
}

TEST_F(Marked, MarksWithoutARecorderAreDropped) {
    marks->add(0, "nobody listens");
    marks->send();
    MarkSocket recorder;
    EXPECT_EQ(heard(recorder), Texts{});
    marks->add(0, "one does");
    EXPECT_EQ(heard(recorder), Texts{"gpu0 nvqos: one does"});
    EXPECT_EQ(said, Texts{});
}

/// If nvqos waited for the recorder, this test would not end.
TEST_F(Marked, RecorderThatDoesNotReadIsNotAwaited) {
    MarkSocket other;
    for (int n = 0; n < 10'000 && said.empty(); n++) {
        pass(nvqos::Marks::interval_ns);
        marks->add(0, "many");
        marks->send();
    }
    ASSERT_EQ(said.size(), 1U) << "it is said once";
    start({"557=cap:30%"});
    pass(nvqos::Marks::interval_ns);
    marks->send();
    keep_for(qos::second);
    EXPECT_EQ(epochs_not_kept, 0U);
    gpu_goals.reset();
    marks.reset();
    ASSERT_EQ(said.size(), 2U);
    EXPECT_TRUE(said[1].starts_with("marks that recordings do not have")) << said[1];
}

} // namespace
} // namespace served
