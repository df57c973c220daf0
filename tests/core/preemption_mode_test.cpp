// SPDX-License-Identifier: MIT OR GPL-2.0
// A lease of a preemption mode is over: the word in the context image is written back if the image
// is still that of the same context, and the mode the one that was set.
#include "bench.hpp"
#include "meddled.hpp"

extern "C" {
#include "hw/ctxsw.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace core {
namespace {

class PreemptionMode : public testing::TestWithParam<std::string> {
  protected:
    PreemptionMode() : machine(GetParam(), "preemption") {
        EXPECT_EQ(machine.probe(), 0);
        machine.model().advance(5000 * nvmodel::ns_per_us);
        const std::vector<File> all = files(machine);
        file = *std::ranges::find(all, "preemption_mode", &File::name);
        // where the word is: it is written to
        machine.on_memory_write = [this](u64 address, u32 value) {
            writes++;
            options = address;
            last = value;
            return false;
        };
        EXPECT_EQ(Open(machine, file).write("0:2 cta").error, 0);
        EXPECT_EQ(writes, 1);
        cta = last;
        writes = 0;
        machine.done.clear();
    }

    /// Word `number` of the image, in place of its contents from now on.
    void becomes(u64 number, u32 value) {
        const u64 at = options + 4 * number - 4 * NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS;
        machine.on_memory_read = [at, value](u64 address) {
            return address == at ? std::optional(value) : std::nullopt;
        };
    }
    [[nodiscard]] static bool has(const std::vector<std::string> &lines, const std::string &text) {
        return std::ranges::any_of(
            lines, [&](const std::string &line) { return line.find(text) != std::string::npos; });
    }
    /// `meanwhile` happens to a lease of wfi; how often the word was written at its end.
    template <typename Act>
    int at_the_end_of_a_lease(Act meanwhile) {
        {
            Open open(machine, file);
            EXPECT_EQ(open.write("lease 0:2 wfi").error, 0);
            EXPECT_EQ(last, cta & ~3U);
            EXPECT_TRUE(has(machine.done, "set the preemption mode of 1 channel: 0:2 wfi ("));
            writes = 0;
            meanwhile();
        }
        machine.on_memory_read = nullptr;
        return writes;
    }

    Meddled machine;
    File file;
    u64 options = 0; // address
    u32 last = 0;    // that was written
    u32 cta = 0;
    int writes = 0;
};

TEST_P(PreemptionMode, IsAsItWas) {
    EXPECT_EQ(at_the_end_of_a_lease([] {}), 1);
    EXPECT_EQ(last, cta);
    EXPECT_TRUE(has(machine.done, "lease over: set the preemption mode of 1 channel: 0:2 cta ("));
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(PreemptionMode, OfAnotherContextIsLeftAlone) {
    EXPECT_EQ(at_the_end_of_a_lease([this] { becomes(NV_CTXSW_MAIN_IMAGE_CONTEXT_ID, 0x777); }), 0);
    EXPECT_TRUE(has(machine.done, "lease over: set the preemption mode of 0 channels"));
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(PreemptionMode, ThatSomebodyHasSetSinceIsLeftAlone) {
    EXPECT_EQ(at_the_end_of_a_lease([this] {
                  becomes(NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS, (cta & ~3U) | 2);
              }),
              0);
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(PreemptionMode, OfMemoryThatIsNoImageAnyMoreIsLeftAlone) {
    EXPECT_EQ(at_the_end_of_a_lease([this] { becomes(NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE, 0); }), 0);
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(PreemptionMode, ThatWasTheSameIsNotWrittenAgain) {
    {
        Open open(machine, file);
        EXPECT_EQ(open.write("lease 0:2 cta").error, 0);
        writes = 0;
    }
    EXPECT_EQ(writes, 0);
}

TEST_P(PreemptionMode, ThatCannotBeReadOrWrittenIsSaid) {
    for (const u64 number : {NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS,
                             NV_CTXSW_MAIN_IMAGE_CONTEXT_ID, NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE}) {
        machine.errors.clear();
        EXPECT_EQ(at_the_end_of_a_lease([&] { becomes(number, 0xbadf1100); }), 0) << number;
        EXPECT_TRUE(has(machine.errors, "channel 2: failed to restore the preemption mode (-5)"))
            << number;
        EXPECT_EQ(Open(machine, file).write("0:2 cta").error, 0);
    }
    machine.errors.clear();
    EXPECT_EQ(
        at_the_end_of_a_lease([this] { machine.on_memory_write = [](u64, u32) { return true; }; }),
        0);
    EXPECT_TRUE(has(machine.errors, "channel 2: failed to restore the preemption mode (-5)"));
}

TEST_P(PreemptionMode, ThatCannotBeReadIsNotSet) {
    for (const u64 number : {NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS,
                             NV_CTXSW_MAIN_IMAGE_CONTEXT_ID, NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE}) {
        becomes(number, 0xbadf1100);
        EXPECT_EQ(Open(machine, file).write("0:2 wfi").error, -EIO) << number;
        EXPECT_EQ(writes, 0) << number;
    }
}

/// The write has an effect, but that cannot be seen: it is undone.
TEST_P(PreemptionMode, ThatCannotBeCheckedIsUndone) {
    machine.on_memory_write = [this](u64, u32 value) {
        writes++;
        last = value;
        if (writes == 1) {
            bool seen = false;
            machine.on_memory_read = [this, seen](u64 address) mutable {
                return address == options && !std::exchange(seen, true) ? std::optional(0xbadf1100)
                                                                        : std::nullopt;
            };
        }
        return false;
    };
    EXPECT_EQ(Open(machine, file).write("0:2 wfi").error, -EIO);
    EXPECT_EQ(writes, 2);
    EXPECT_EQ(last, cta);
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(PreemptionMode, IsOneWordAtTheEnd) {
    EXPECT_EQ(Open(machine, file).write("0:2 wfi wfi").error, -EINVAL);
    EXPECT_EQ(Open(machine, file).write("0:2 cta cta").error, -EINVAL);
    EXPECT_EQ(Open(machine, file).write("0:2").error, -EINVAL);
    EXPECT_EQ(Open(machine, file).write("0:2 none").error, -EINVAL);
    EXPECT_EQ(Open(machine, file).write("x wfi").error, -EINVAL);
    EXPECT_EQ(Open(machine, file).write("").error, -EINVAL);
    EXPECT_EQ(writes, 0);
}

INSTANTIATE_TEST_SUITE_P(Boards, PreemptionMode,
                         testing::Values("gtx1080ti", "titan-v", "a100", "h200"), name_of_board);

} // namespace
} // namespace core
