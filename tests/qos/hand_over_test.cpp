// SPDX-License-Identifier: MIT OR GPL-2.0
// The order of requests that change windows, and how it is found out which of them hand a GPU over:
// with made turns, and with those that were measured on four H200.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "lib/qos/hand_over.hpp"

namespace {

using qos::ms;
using qos::Ns;
using qos::OrderPart;
using qos::WindowOrder;

WindowOrder change(std::uint32_t gpu, const std::string &holder, const std::string &former) {
    return {.gpu = gpu,
            .has_windows = true,
            .first = {{holder, {400 * ms, false}}},
            .then = {{former, {ms / 10, false}}}};
}

/// Two GPUs on which `a` and `b` take turns. The TSG of `a` is the first one in the runlist of GPU
/// 0, and that of `b` in the one of GPU 1.
class TwoGpus : public testing::Test {
  protected:
    std::vector<WindowOrder> change_to(const std::string &holder) {
        const std::string former = holder == "a" ? "b" : "a";
        return {change(0, holder, former), change(1, holder, former)};
    }

    /// Carries a change out: each request takes a millisecond. The holder's turn is known later.
    std::vector<OrderPart> carry_out(const std::string &holder) {
        const auto orders = change_to(holder);
        const auto parts = hand_over_.parts(orders);
        std::vector<qos::WindowTurns> turns{{0, {}}, {1, {}}};
        for (const OrderPart &part : parts) {
            const Ns begin = now_;
            now_ += ms;
            hand_over_.note(orders[part.order], part.is_first, begin, now_);
            const bool is_head = (holder == head_of_0_) == (part.order == 0);
            if (part.is_first == is_head)
                turns[part.order].turns.push_back({holder, now_ + ms / 10, now_ + 90 * ms, false});
        }
        now_ += 100 * ms;
        hand_over_.take(turns);
        return parts;
    }

    std::string head_of_0_ = "a";
    Ns now_ = 10 * ms;
    qos::HandOver hand_over_;
};

const std::vector<OrderPart> unknown{{0, true}, {1, true}, {0, false}, {1, false}};

TEST_F(TwoGpus, FirstHalvesComeFirstUntilMoreIsKnown) {
    EXPECT_EQ(carry_out("a"), unknown); // nobody was before it
    EXPECT_EQ(carry_out("b"), unknown);
    EXPECT_EQ(carry_out("a"), unknown);
}

TEST_F(TwoGpus, RequestsThatHandAGpuOverFollowEachOther) {
    for (const char *holder : {"a", "b", "a", "b", "a", "b", "a"})
        EXPECT_EQ(carry_out(holder), unknown);
    // GPU 1 goes to `b` with its first request, and GPU 0 with its second one.
    const std::vector<OrderPart> to_b{{0, true}, {0, false}, {1, true}, {1, false}},
        to_a{{1, true}, {0, true}, {1, false}, {0, false}};
    EXPECT_EQ(carry_out("b"), to_b);
    EXPECT_EQ(carry_out("a"), to_a);
    EXPECT_EQ(carry_out("b"), to_b);
}

TEST_F(TwoGpus, AnotherRunlistIsFoundOut) {
    for (const char *holder : {"a", "b", "a", "b", "a", "b", "a"})
        carry_out(holder);
    head_of_0_ = "b";               // the TSGs have changed places
    for (int n = 0; n < 2 * 3; n++) // first that GPU 1 is another one, and then that GPU 0 is
        for (const char *holder : {"b", "a"})
            carry_out(holder);
    const std::vector<OrderPart> to_b{{1, true}, {0, true}, {1, false}, {0, false}};
    EXPECT_EQ(carry_out("b"), to_b);
}

TEST_F(TwoGpus, AHolderThatHadTheGpuBeforeShowsNothing) {
    for (const char *holder : {"a", "b", "a", "b", "a"})
        carry_out(holder); // one more change to `b` would be enough
    const auto orders = change_to("b");
    for (const OrderPart &part : hand_over_.parts(orders)) {
        hand_over_.note(orders[part.order], part.is_first, now_, now_ + ms);
        now_ += ms;
    }
    const std::vector<qos::WindowTurns> turns{{0, {{"b", 0, now_ + 90 * ms, false}}},
                                              {1, {{"b", 0, now_ + 90 * ms, false}}}};
    hand_over_.take(turns);
    carry_out("a");
    EXPECT_EQ(hand_over_.parts(change_to("b")), unknown);
}

TEST(HandOver, HasAPartForEachHalfInWhichThereIsSomethingToDo) {
    const std::vector<WindowOrder> orders{
        {.gpu = 0, .has_windows = false},
        {.gpu = 1, .has_windows = true},
        {.gpu = 2, .has_windows = true, .first = {{"a", {400 * ms, false}}}},
        {.gpu = 3, .has_windows = true, .then = {{"b", {ms, true}}}}};
    EXPECT_EQ(qos::HandOver().parts(orders),
              (std::vector<OrderPart>{{0, true}, {2, true}, {3, false}}));
}

/// Measured changes between the holders `a` and `b`, with the same TSG nearer to the head each time.
class FourMeasuredGpus : public testing::TestWithParam<std::string> {
  protected:
    struct Row {
        std::uint32_t gpu;
        std::string holder;
        Ns first_began, first_ended, then_began, then_ended, turn_began, turn_ended; ///< us
    };

    /// Returns the rows of each change for a batch of the two trainings.
    static std::map<int, std::vector<Row>> changes(const std::string &batch) {
        std::map<int, std::vector<Row>> found;
        std::ifstream file(HARDWARE "/h200-580.159.04/hand_overs.txt");
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line);
            std::string first;
            int number = 0;
            Row row{};
            if (words >> first >> number >> row.gpu >> row.holder >> row.first_began >>
                    row.first_ended >> row.then_began >> row.then_ended >> row.turn_began >>
                    row.turn_ended &&
                first == batch)
                found[number].push_back(row);
        }
        return found;
    }
};

TEST_P(FourMeasuredGpus, HalfThatHandsAGpuOverIsFoundOut) {
    qos::HandOver hand_over;
    Ns now = qos::second;
    const auto all = changes(GetParam());
    ASSERT_EQ(all.size(), 31);
    for (const auto &[number, rows] : all) {
        std::vector<qos::WindowTurns> turns;
        for (const Row &row : rows) {
            const auto order = change(row.gpu, row.holder, row.holder == "a" ? "b" : "a");
            hand_over.note(order, true, now + row.first_began * qos::us,
                           now + row.first_ended * qos::us);
            hand_over.note(order, false, now + row.then_began * qos::us,
                           now + row.then_ended * qos::us);
            turns.push_back({row.gpu,
                             {{row.holder, now + row.turn_began * qos::us,
                               now + row.turn_ended * qos::us, false}}});
        }
        hand_over.take(turns);
        now += qos::second;
    }
    // `a` holds all GPUs now. `b` is nearer to the head on GPU 2, and with a batch of 64 on GPU 3.
    std::vector<WindowOrder> to_b;
    for (std::uint32_t gpu = 0; gpu < 4; gpu++)
        to_b.push_back(change(gpu, "b", "a"));
    std::vector<OrderPart> wanted{{0, true}, {1, true}, {0, false}, {1, false},
                                  {2, true}, {3, true}, {2, false}, {3, false}};
    if (GetParam() == "16")
        wanted = {{0, true},  {1, true}, {3, true},  {0, false},
                  {1, false}, {2, true}, {3, false}, {2, false}};
    EXPECT_EQ(hand_over.parts(to_b), wanted);
}

INSTANTIATE_TEST_SUITE_P(Batches, FourMeasuredGpus, testing::Values("64", "16"));

} // namespace
