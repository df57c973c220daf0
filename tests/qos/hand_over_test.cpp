// SPDX-License-Identifier: MIT OR GPL-2.0
// The order of requests that change windows, and how it is found out which of them hand a GPU over.
#include <gtest/gtest.h>

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

} // namespace
