// SPDX-License-Identifier: MIT OR GPL-2.0
// A lease of a preemption mode ends. The word in the context image is written back if the image
// still belongs to the same context, and if the mode is still the one that the lease has set.
#include "bench.hpp"
#include "meddled.hpp"
#include "text.hpp"

extern "C" {
#include "hw/ctxsw.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
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
        // This write shows where the word is.
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

    [[nodiscard]] u8 aperture_of_options() {
        for (const u8 aperture : {0, 2, 3})
            if (machine.Model::memory_read(aperture, options) == cta)
                return aperture;
        ADD_FAILURE() << "nowhere";
        return 0;
    }
    /// Reads of word `number` of the image give `value` from now on.
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
    /// Takes a lease of wfi and calls `meanwhile`. Returns how often the end of the lease writes
    /// the word.
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
    u32 last = 0;    // the value written last
    u32 cta = 0;
    int writes = 0;
};

TEST_P(PreemptionMode, IsRestoredAtTheEndOfALease) {
    EXPECT_EQ(at_the_end_of_a_lease([] {}), 1);
    EXPECT_EQ(last, cta);
    EXPECT_TRUE(has(machine.done, "lease over: set the preemption mode of 1 channel: 0:2 cta ("));
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(PreemptionMode, StaysIfTheImageHasAnotherContext) {
    EXPECT_EQ(at_the_end_of_a_lease([this] { becomes(NV_CTXSW_MAIN_IMAGE_CONTEXT_ID, 0x777); }), 0);
    EXPECT_TRUE(has(machine.done, "lease over: set the preemption mode of 0 channels"));
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(PreemptionMode, StaysIfSomebodyHasChangedIt) {
    EXPECT_EQ(at_the_end_of_a_lease([this] {
                  becomes(NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS, (cta & ~3U) | 2);
              }),
              0);
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(PreemptionMode, StaysIfTheMemoryIsNoImage) {
    EXPECT_EQ(at_the_end_of_a_lease([this] { becomes(NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE, 0); }), 0);
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(PreemptionMode, IsNotWrittenIfItIsUnchanged) {
    {
        Open open(machine, file);
        EXPECT_EQ(open.write("lease 0:2 cta").error, 0);
        writes = 0;
    }
    EXPECT_EQ(writes, 0);
}

TEST_P(PreemptionMode, FailureToRestoreIsLogged) {
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

TEST_P(PreemptionMode, IsNotSetIfTheImageCannotBeRead) {
    for (const u64 number : {NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS,
                             NV_CTXSW_MAIN_IMAGE_CONTEXT_ID, NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE}) {
        becomes(number, 0xbadf1100);
        EXPECT_EQ(Open(machine, file).write("0:2 wfi").error, -EIO) << number;
        EXPECT_EQ(writes, 0) << number;
    }
}

/// The write has an effect that cannot be checked, so it is undone.
TEST_P(PreemptionMode, IsUndoneIfTheWriteCannotBeChecked) {
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

TEST_P(PreemptionMode, IsRestoredIfItHasNoName) {
    const u32 unnamed = cta | 3;
    machine.Model::memory_write(aperture_of_options(), options, unnamed);
    {
        Open open(machine, file);
        EXPECT_EQ(open.write("lease 0:2 wfi").error, 0);
        EXPECT_EQ(last, cta & ~3U);
    }
    EXPECT_EQ(last, unnamed);
    EXPECT_EQ(machine.done.back(),
              "lease over: set the preemption mode of 1 channel: 0:2 as it was (by uid 0)\n");
}

/// Each request has a line in the log.
TEST_P(PreemptionMode, IsLogged) {
    EXPECT_EQ(Open(machine, file).write("0:2 wfi").error, 0);
    EXPECT_EQ(Open(machine, file).write("0:1 cta").error, 0);
    EXPECT_EQ(machine.done, (std::vector<std::string>{
                                "set the preemption mode of 1 channel: 0:2 wfi (by uid 0)\n",
                                "set the preemption mode of 1 channel: 0:1 cta (by uid 0)\n"}));
}

/// The runlist's file shows the mode. Channel 2 shares the context of channel 1. CILP needs a save
/// area, which not all contexts have.
TEST_P(PreemptionMode, IsShownInTheContext) {
    const std::vector<File> all = files(machine);
    const File list = *std::ranges::find(all, "runlist0", &File::name);
    const auto shown = [&] {
        for (const Instance &one : instances(read(machine, list).text))
            if (one.channel == 1 && one.context)
                return one.context->at("Compute Preemption");
        return std::string("nothing");
    };
    std::string expected = "CTA";
    EXPECT_EQ(shown(), expected);
    for (const auto &[word, mode] :
         {std::pair("wfi", "WFI"), std::pair("cta", "CTA"), std::pair("cilp", "CILP"),
          std::pair("wfi", "WFI"), std::pair("cta", "CTA")}) {
        const int error = Open(machine, file).write(std::string("0:2 ") + word).error;
        EXPECT_TRUE(!error || (error == -EOPNOTSUPP && mode == std::string("CILP"))) << error;
        if (!error)
            expected = mode;
        EXPECT_EQ(shown(), expected) << word;
    }
}

TEST_P(PreemptionMode, CilpNeedsASaveArea) {
    const u64 header = options - 4 * NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS;
    const u64 low = header + 4 * NV_CTXSW_MAIN_IMAGE_FULL_PREEMPTION_PTR;
    const u64 high = header + 4 * NV_CTXSW_MAIN_IMAGE_FULL_PREEMPTION_PTR_HI;
    const auto pointer_is = [&](u32 value) {
        machine.on_memory_read = [=](u64 address) -> std::optional<u32> {
            return address == low    ? std::optional(value)
                   : address == high ? std::optional(0U)
                                     : std::nullopt;
        };
    };
    pointer_is(0);
    EXPECT_EQ(Open(machine, file).write("0:2 cilp").error, -EOPNOTSUPP);
    EXPECT_EQ(Open(machine, file).write("0:2 wfi").error, 0);
    EXPECT_EQ(writes, 1);
    // The second address looks like an error code.
    for (const u32 address : {0x1000U, 0xbadf1100U}) {
        last = 0;
        pointer_is(address);
        EXPECT_EQ(Open(machine, file).write("0:2 cilp").error, 0) << address;
        EXPECT_EQ(last & 3, 2U) << address;
    }
}

/// Only channels of graphics engines have a preemption mode, whatever the instance block of another
/// engine's channel has.
TEST_P(PreemptionMode, IsOfGraphicsChannels) {
    const Json layout = Json::parse(machine.answer("layout"));
    std::map<bool, Json> channel;
    for (const Json &one : layout.at("channels"))
        if (one.at("runlist") != 0 || one.at("channel") == 2)
            channel[one.at("runlist") == 0] = one;
    ASSERT_EQ(channel.size(), 2U);
    const auto place = [&](bool graphics, u64 word) {
        return nvmodel::PhysicalAddress{channel.at(graphics).at("instance").at("aperture") == "vid"
                                            ? nvmodel::Aperture::video
                                            : nvmodel::Aperture::coherent,
                                        number(channel.at(graphics).at("instance").at("address")) +
                                            4 * word};
    };
    for (u64 word = 0; word < 1024; word++)
        EXPECT_TRUE(machine.model().memory().write_value(
            place(false, word), *machine.model().memory().read_value(place(true, word), 4), 4));
    const std::string copies =
        channel.at(false).at("runlist").dump() + ":" + channel.at(false).at("channel").dump();
    EXPECT_EQ(Open(machine, file).write(copies + " wfi").error, -EINVAL);
    EXPECT_EQ(writes, 0);
}

/// The image goes between the search for it and the write.
TEST_P(PreemptionMode, IsNotSetIfTheImageGoesBeforeTheWrite) {
    const u64 magic = options + 4 * (NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE -
                                     NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS);
    bool seen = false;
    machine.on_memory_read = [&](u64 address) {
        return address == magic && std::exchange(seen, true) ? std::optional(0U) : std::nullopt;
    };
    EXPECT_EQ(Open(machine, file).write("0:2 wfi").error, -EBUSY);
    EXPECT_EQ(writes, 0);
    EXPECT_TRUE(machine.errors.empty());
}

/// Another mode is set between the read of the word and the write.
TEST_P(PreemptionMode, IsNotSetIfItHasJustChanged) {
    const u64 magic = options + 4 * (NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE -
                                     NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS);
    const u8 aperture = aperture_of_options();
    constexpr u32 theirs = 0x5a5a5a5a;
    bool seen = false;
    machine.on_memory_read = [&](u64 address) -> std::optional<u32> {
        // The magic word is the last word that is read: first to find the image, and then to check
        // that it is still there.
        if (address == magic && std::exchange(seen, true))
            machine.Model::memory_write(aperture, options, theirs);
        return std::nullopt;
    };
    EXPECT_EQ(Open(machine, file).write("0:2 wfi").error, -EBUSY);
    EXPECT_EQ(writes, 0);
    machine.on_memory_read = nullptr;
    EXPECT_EQ(machine.Model::memory_read(aperture, options), theirs);
}

/// The memory is freed and used for something else just before the write. In a page of zeros the
/// word reads as wfi.
class FreedImage : public PreemptionMode {
  protected:
    FreedImage() : aperture(aperture_of_options()) {}

    /// Overwrites `words` with zeros at the `look`-th read of the magic word, which is the last
    /// word that is read before the write.
    void freed_at(int look, const std::vector<u64> &words) {
        const u64 header = options - 4 * NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS;
        const u64 magic = header + 4 * NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE;
        machine.on_memory_read = [=, this, looks = 0](u64 address) mutable -> std::optional<u32> {
            if (address != magic || ++looks != look)
                return std::nullopt;
            const auto was = machine.Model::memory_read(aperture, magic);
            for (const u64 word : words)
                machine.Model::memory_write(aperture, header + 4 * word, 0);
            return was;
        };
    }
    [[nodiscard]] static std::vector<std::vector<u64>> ways() {
        std::vector<u64> page(64);
        std::iota(page.begin(), page.end(), 0);
        return {page, {NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE}, {NV_CTXSW_MAIN_IMAGE_CONTEXT_ID}};
    }
    [[nodiscard]] std::vector<u32> header() {
        std::vector<u32> words;
        for (u64 i = 0; i < 64; i++)
            words.push_back(*machine.Model::memory_read(
                aperture, options + 4 * i - 4 * NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS));
        return words;
    }
    void restore(const std::vector<u32> &words) {
        for (u64 i = 0; i < 64; i++)
            machine.Model::memory_write(
                aperture, options + 4 * i - 4 * NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS,
                words[i]);
    }

    const u8 aperture;
};

TEST_P(FreedImage, IsNotWritten) {
    const std::vector<u32> was = header();
    for (const auto &words : ways()) {
        EXPECT_EQ(Open(machine, file).write("0:2 wfi").error, 0);
        writes = 0;
        freed_at(2, words); // the first look finds the image
        EXPECT_EQ(Open(machine, file).write("0:2 cta").error, -EBUSY);
        EXPECT_EQ(writes, 0);
        machine.on_memory_read = nullptr;
        restore(was);
    }
    EXPECT_TRUE(machine.errors.empty());
}

TEST_P(FreedImage, IsNotWrittenAtTheEndOfALease) {
    const std::vector<u32> was = header();
    for (const auto &words : ways()) {
        EXPECT_EQ(at_the_end_of_a_lease([&] { freed_at(1, words); }), 0);
        restore(was);
    }
}

INSTANTIATE_TEST_SUITE_P(Boards, FreedImage,
                         testing::Values("gtx1080ti", "titan-v", "a100", "h200"), name_of_board);

/// The write is lost, so there is nothing to restore and nothing to log.
TEST_P(PreemptionMode, FailsIfTheWriteIsLost) {
    machine.on_memory_write = [](u64, u32) { return true; };
    EXPECT_EQ(Open(machine, file).write("0:2 wfi").error, -EIO);
    EXPECT_TRUE(machine.errors.empty());
    EXPECT_TRUE(machine.done.empty());
}

/// A write that cannot be checked is undone even for a dying task. If the undo fails, the log has a
/// line about it.
TEST_P(PreemptionMode, IsUndoneForADyingTask) {
    for (const bool works : {true, false}) {
        writes = 0;
        machine.errors.clear();
        machine.on_memory_write = [&](u64 address, u32 value) {
            if (writes++ == 0) {
                shim.killed = true;
                machine.on_memory_read = [address, seen = false](u64 at) mutable {
                    return at == address && !std::exchange(seen, true) ? std::optional(0xbadf1100)
                                                                       : std::nullopt;
                };
                return false;
            }
            last = value;
            return !works;
        };
        EXPECT_EQ(Open(machine, file).write("0:2 wfi").error, -EIO);
        shim.killed = false;
        machine.on_memory_read = nullptr;
        machine.on_memory_write = nullptr;
        EXPECT_EQ(writes, 2) << works;
        EXPECT_EQ(last, cta) << works;
        EXPECT_EQ(machine.errors.size(), works ? 0U : 1U);
        EXPECT_EQ(has(machine.errors, "channel 2: failed to restore the preemption mode (-5)"),
                  !works);
    }
}

INSTANTIATE_TEST_SUITE_P(Boards, PreemptionMode,
                         testing::Values("gtx1080ti", "titan-v", "a100", "h200"), name_of_board);

} // namespace
} // namespace core
