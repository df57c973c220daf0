// SPDX-License-Identifier: MIT OR GPL-2.0
// The text for instance blocks, subcontexts and contexts that cannot be read.
#include "contexts.hpp"
#include "meddled.hpp"

extern "C" {
#include "chips/chips.h"
#include "hw/ctxsw.h"
#include "hw/mmu.h"
#include "hw/pfifo.h"
#include "hw/ram.h"
#include "hw/ramin.h"
#include "state/instances.h"
}

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <vector>

namespace core {
namespace {

class Unreadable : public testing::TestWithParam<std::string> {
  protected:
    Unreadable() : machine(GetParam(), "fig6") {
        EXPECT_EQ(machine.probe(), 0);
        all = files(machine);
        machine.model().advance(5000 * nvmodel::ns_per_us);
        channel = by_channel(Json::parse(machine.answer("layout"))).at({0, 0});
        subcontexts = !channel.at("subcontexts").is_null();
        global = !machine.gpu()->chip->channel->per_runlist;
    }
    [[nodiscard]] const File &file(const std::string &name) {
        return *std::ranges::find(all, name, &File::name);
    }
    [[nodiscard]] bool has(const std::string &name) {
        return std::ranges::find(all, name, &File::name) != all.end();
    }
    [[nodiscard]] static nvmodel::PhysicalAddress at(const Json &place, u64 word) {
        const std::string aperture = place.at("aperture");
        const auto kind = aperture == "vid"   ? nvmodel::Aperture::video
                          : aperture == "coh" ? nvmodel::Aperture::coherent
                                              : nvmodel::Aperture::noncoherent;
        return {kind, number(place.at("address")) + 4 * word};
    }
    [[nodiscard]] u32 peek(const Json &place, u64 word) {
        return static_cast<u32>(*machine.model().memory().read_value(at(place, word), 4));
    }
    void poke(const Json &place, u64 word, u32 value) {
        EXPECT_TRUE(machine.model().memory().write_value(at(place, word), value, 4));
    }
    [[nodiscard]] const Json &block() { return channel.at("instance"); }
    [[nodiscard]] const Json &header() { return channel.at("context").at("header"); }
    [[nodiscard]] const Json &image() { return channel.at("context").at("image"); }
    void point_at(u64 va, bool is_virtual = true, u32 aperture = 0) {
        poke(block(), NV_RAMIN_ENGINE_WFI, static_cast<u32>(va) | (is_virtual ? 4 : 0) | aperture);
        poke(block(), NV_RAMIN_ENGINE_WFI_HI, static_cast<u32>(va >> 32));
    }
    Instance first() { return instances(read(machine, file("runlist0")).text).at(0); }
    int request(const std::string &name, const std::string &text) {
        return Open(machine, file(name)).write(text).error;
    }
    /// Checks that the first channel's context is shown as `text`, that a preemption_mode request
    /// for it fails with `error`, and that the other channels' contexts are shown as usual.
    void expect_context(const std::string &text, int error) {
        const std::vector<Instance> shown = instances(read(machine, file("runlist0")).text);
        EXPECT_EQ(shown.at(0).fields.at("Context"), text);
        EXPECT_FALSE(shown.at(0).context);
        EXPECT_EQ(shown.at(2).fields.at("Context"), "below");
        EXPECT_EQ(shown.at(3).fields.at("Context"), "as Channel 2");
        if (has("preemption_mode")) {
            EXPECT_EQ(request("preemption_mode", "0:0 wfi"), error);
        }
        // The address space has no error.
        EXPECT_EQ(rows(read(machine, file("contexts")).text).at(0).back(), "-");
    }
    /// Checks that the first channel's block is shown as the error `text`, and that requests for it
    /// fail with `error`. `contexts` reads only the words that name the address space, so it shows
    /// the error only if `in_space`.
    void expect_block(const std::string &text, int error, bool in_space = true) {
        EXPECT_EQ(first().fields, (Fields{{"Error", text}}));
        EXPECT_TRUE(first().subcontexts.empty());
        std::string word = text;
        std::ranges::replace(word, ' ', '-');
        const auto listed = rows(read(machine, file("contexts")).text);
        EXPECT_EQ(std::ranges::count(listed, std::vector<std::string>{"0", "0", "-", "-", "-", "-",
                                                                      "-", "0", word}),
                  in_space)
            << word;
        EXPECT_EQ(request("translate", "0:0 0x1000"), error);
        if (has("preemption_mode")) {
            EXPECT_EQ(request("preemption_mode", "0:0 wfi"), error);
        }
    }

    Meddled machine;
    std::vector<File> all;
    Json channel;
    bool subcontexts = false, global = false;
};

TEST_P(Unreadable, ChannelWithoutContextShowsNone) {
    point_at(0);
    expect_context("none", -EINVAL);
    EXPECT_EQ(first().fields.at("Engine WFI Pointer"), "-");
    EXPECT_EQ(first().fields.at("Engine WFI Mode"), "-");
}

TEST_P(Unreadable, UnmappedContextShowsNotMapped) {
    point_at(0xfe54321000);
    expect_context("not mapped", -EFAULT);
}

TEST_P(Unreadable, WrongMagicWordShowsBadMagic) {
    poke(image(), NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE, 0x600dc0df);
    expect_context("bad magic", -EIO);
}

TEST_P(Unreadable, ContextOutsideOfMemoryShowsNoSuchMemory) {
    point_at(0x50000000, false, NV_APERTURE_COH);
    expect_context("no such memory", -EFAULT);
}

TEST_P(Unreadable, ContextOfErrorWordsShowsUnreadable) {
    const u64 from = number(image().at("address"));
    machine.on_memory_read = [from](u64 address) {
        return address - from < 4 * NV_CTXSW_MAIN_IMAGE_WORDS ? std::optional(0xbadf1100)
                                                              : std::nullopt;
    };
    expect_context("unreadable", -EIO);
}

/// The channel's page tables are overwritten with entries that lead nowhere.
TEST_P(Unreadable, WrongPageTablesHideTheContext) {
    const Json directory =
        subcontexts ? channel.at("subcontexts").at(0) : channel.at("page_directory");
    const unsigned version = channel.at("page_tables");
    const auto fill = [&](u64 entry, u32 word) {
        for (u64 i = 0; i < 1024; i += 2) {
            poke(directory, i, version == 1 ? word : static_cast<u32>(entry));
            poke(directory, i + 1, version == 1 ? word : static_cast<u32>(entry >> 32));
        }
    };
    // One entry leads to system memory where there is none, the other one behind the end of video
    // memory.
    const u64 nowhere = 0x50000000, beyond = 0x3f00000000;
    fill((version == 2 ? nowhere >> 4 : nowhere) | 4, static_cast<u32>(nowhere >> 8) | 2);
    expect_context("no such memory", -EFAULT);
    if (machine.gpu()->video_memory) {
        fill((version == 2 ? beyond >> 4 : beyond) | 2, static_cast<u32>(beyond >> 8) | 1);
        expect_context("no such memory", -EFAULT);
    }
    fill(0, 0);
    expect_context("not mapped", -EFAULT);
    fill(8, 8); // sparse
    expect_context("not mapped", -EFAULT);
}

TEST_P(Unreadable, HeaderThatLeadsNowhereHidesTheContext) {
    if (!subcontexts)
        return;
    const u32 was = peek(header(), NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR);
    poke(header(), NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR, was + 0x10);
    expect_context("bad magic", -EIO);
    // Images begin at multiples of their size, so a copy half an image further on is not accepted.
    std::vector<u32> words;
    for (u64 word = 0; word < NV_CTXSW_MAIN_IMAGE_WORDS; word++)
        words.push_back(peek(image(), word));
    for (u64 word = 0; word < NV_CTXSW_MAIN_IMAGE_WORDS; word++)
        poke(image(), NV_CTXSW_MAIN_IMAGE_WORDS / 2 + word, words[word]);
    poke(header(), NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR, was + 2 * NV_CTXSW_MAIN_IMAGE_WORDS);
    expect_context("bad magic", -EIO);
    for (u64 word = 0; word < NV_CTXSW_MAIN_IMAGE_WORDS; word++)
        poke(image(), word, words[word]);
    poke(header(), NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR, was ^ 0x40000000);
    expect_context("not mapped", -EFAULT);
    poke(header(), NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR, was);
    EXPECT_EQ(first().fields.at("Context"), "below");
    // A copy one whole image further on is accepted.
    for (u64 word = 0; word < NV_CTXSW_MAIN_IMAGE_WORDS; word++)
        poke(image(), NV_CTXSW_MAIN_IMAGE_WORDS + word, peek(image(), word));
    poke(header(), NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR, was + 4 * NV_CTXSW_MAIN_IMAGE_WORDS);
    EXPECT_EQ(first().fields.at("Context"), "below");
}

/// The engine pointer may lead straight to an image, and two channels may have one image.
TEST_P(Unreadable, ImageWithoutHeaderCanBeRead) {
    const u64 va = number(channel.at("context").at("image_va"));
    const Fields was = *first().context;
    point_at(va);
    const Instance shown = first();
    EXPECT_EQ(shown.fields.at("Context"), "below");
    ASSERT_TRUE(shown.context);
    EXPECT_EQ(*shown.context, was);
    // The pointer may also be a physical address.
    point_at(number(image().at("address")), false, image().at("aperture") == "vid" ? 0 : 2);
    const Instance physical = first();
    ASSERT_TRUE(physical.context);
    Fields without = was;
    without["Image"] = "-";
    EXPECT_EQ(*physical.context, without);
    EXPECT_EQ(physical.fields.at("Engine WFI Mode"), "physical");
    EXPECT_EQ(instances(read(machine, file("runlist0")).text).at(1).fields.at("Context"),
              "as Channel 0");
}

TEST_P(Unreadable, ChannelWithoutBlockShowsNotBound) {
    if (global) {
        const u32 inst = machine.peek(0x800000);
        machine.on_read = [inst](u32 offset) {
            return offset == 0x800000 ? std::optional(inst & 0x7fffffff) : std::nullopt;
        };
    } else {
        const Json layout = Json::parse(machine.answer("layout"));
        for (const Json &list : layout.at("runlists"))
            if (list.at("id") == 0) {
                poke(list, 4 + 2, 0);
                poke(list, 4 + 3, 0);
            }
    }
    expect_block("not bound", -EINVAL);
}

/// At the second read, the register names another block or no block.
TEST_P(Unreadable, BlockThatChangesShowsChanging) {
    if (!global)
        return;
    const u32 inst = machine.peek(0x800000);
    for (const u32 later : {inst + 1, inst ^ 0x20000000, inst & 0x7fffffff}) {
        // Each file reads the register for the list, and then once more with the block.
        bool seen = false;
        machine.on_read = [&, later](u32 offset) -> std::optional<u32> {
            if (offset != 0x800000)
                return std::nullopt;
            return std::exchange(seen, true) ? later : inst;
        };
        EXPECT_EQ(first().fields, (Fields{{"Error", "changing"}})) << hex(later);
        // Channel 0 shows an error, so the context and the table that channel 1 has in common with
        // it are shown below channel 1.
        seen = false;
        const Instance second = instances(read(machine, file("runlist0")).text).at(1);
        EXPECT_EQ(second.fields.at("Context"), "below") << hex(later);
        EXPECT_EQ(second.fields.at("Subcontexts"), subcontexts ? "1" : "-") << hex(later);
        seen = false;
        EXPECT_EQ(rows(read(machine, file("contexts")).text).at(1),
                  (std::vector<std::string>{"0", "0", "-", "-", "-", "-", "-", "0", "changing"}));
        seen = false;
        EXPECT_EQ(request("translate", "0:0 0x1000"), -EBUSY);
        seen = false;
        if (has("preemption_mode")) {
            EXPECT_EQ(request("preemption_mode", "0:0 wfi"), -EBUSY);
        }
    }
}

/// The second read of the register fails.
TEST_P(Unreadable, PointerThatFailsOnTheSecondReadIsAnError) {
    if (!global)
        return;
    for (const char *const name : {"runlist0", "contexts"}) {
        bool seen = false;
        machine.on_read = [&](u32 offset) -> std::optional<u32> {
            return offset == 0x800000 && std::exchange(seen, true) ? std::optional(0xbadf1100)
                                                                   : std::nullopt;
        };
        const auto expect = [&] {
            const Text text = read(machine, file(name));
            // `contexts` shows the error in a row.
            const bool whole = name == std::string("runlist0");
            EXPECT_EQ(text.error, whole ? -EIO : 0) << name;
            EXPECT_EQ(text.text.find("\n0 - - - - - - - unreadable\n") == std::string::npos, whole)
                << text.text;
        };
        expect();
        machine.on_read = [](u32 offset) {
            return offset == 0x800000 ? std::optional(0xbadf1100) : std::nullopt;
        };
        expect();
    }
}

/// None of the channels of two neighbouring tasks has a block.
TEST_P(Unreadable, TwoTasksWithoutBlocksHaveARowEach) {
    if (!global)
        return;
    machine.on_read = [this](u32 offset) {
        const bool one = offset >= 0x800000 && offset < 0x800000 + 8 * 4 && offset % 8 == 0;
        return one ? std::optional(machine.peek(offset) & 0x7fffffff) : std::nullopt;
    };
    const auto listed = rows(read(machine, file("contexts")).text);
    using Row = std::vector<std::string>;
    EXPECT_EQ(listed.at(0), (Row{"0", "0", "-", "-", "-", "-", "-", "0,1", "not-bound"}));
    EXPECT_EQ(listed.at(1), (Row{"0", "1", "-", "-", "-", "-", "-", "2,3", "not-bound"}));
    EXPECT_EQ(listed.at(2).at(1), "2");
    EXPECT_EQ(listed.at(2).back(), "-");
}

/// The two channels of a task have an address space each.
TEST_P(Unreadable, TwoSpacesOfOneTaskHaveARowEach) {
    if (subcontexts)
        return;
    const auto all_channels = by_channel(Json::parse(machine.answer("layout")));
    for (const u64 word : {NV_RAMIN_PAGE_DIR_BASE, NV_RAMIN_PAGE_DIR_BASE_HI})
        poke(all_channels.at({0, 1}).at("instance"), word,
             peek(all_channels.at({0, 2}).at("instance"), word));
    const auto listed = rows(read(machine, file("contexts")).text);
    for (const std::size_t n : {0, 1}) {
        EXPECT_EQ(listed.at(n).at(1), "0");
        EXPECT_EQ(listed.at(n).at(2), "yes");
        EXPECT_EQ(listed.at(n).at(3), "2");
        EXPECT_EQ(listed.at(n).at(7), std::to_string(n));
    }
    EXPECT_EQ(listed.at(1).at(4), listed.at(2).at(4));
}

/// The second TSG header is overwritten with a copy of its first channel. That channel is then
/// listed twice, and shown once.
TEST_P(Unreadable, ChannelsOutsideOfTsgsHaveRowsWithoutATsg) {
    const Json layout = Json::parse(machine.answer("layout"));
    const Json list = *std::ranges::find_if(layout.at("runlists"),
                                            [](const Json &one) { return one.at("id") == 0; });
    const u64 words = machine.gpu()->chip->runlist->entry_words;
    const auto usual = rows(read(machine, file("contexts")).text);
    for (u64 word = 0; word < words; word++)
        poke(list, 3 * words + word, peek(list, 4 * words + word));
    const auto listed = rows(read(machine, file("contexts")).text);
    ASSERT_EQ(listed.size(), usual.size() + 1);
    EXPECT_EQ(listed.at(0), usual.at(0));
    for (const std::size_t n : {1, 2}) {
        std::vector<std::string> wanted = usual.at(1);
        wanted.at(1) = "-";
        wanted.at(7) = n == 1 ? "2" : "3";
        EXPECT_EQ(listed.at(n), wanted);
    }
    EXPECT_EQ(listed.at(3), usual.at(2));
    // Then the list consists of the first two channels alone.
    for (u64 word = 0; word < 2 * words; word++)
        poke(list, word, peek(list, words + word));
    const nvdebug_runlist_ops *const ops = machine.gpu()->chip->runlist;
    const u32 length = ops->registers(machine.gpu()->topology.runlist) + ops->length_offset;
    machine.on_read = [this, length](u32 offset) {
        return offset == length ? std::optional((machine.peek(length) & ~0xffffU) | 2)
                                : std::nullopt;
    };
    const auto bare = rows(read(machine, file("contexts")).text);
    for (const std::size_t n : {0, 1}) {
        EXPECT_EQ(bare.at(n).at(1), "-");
        EXPECT_EQ(bare.at(n).at(7), std::to_string(n));
    }
}

/// Two neighbouring tasks are subcontexts of one address space.
TEST_P(Unreadable, TwoTasksOfOneSpaceHaveARowEach) {
    if (!subcontexts)
        return;
    const auto all_channels = by_channel(Json::parse(machine.answer("layout")));
    for (const unsigned id : {2U, 3U}) {
        const Json other = all_channels.at({0, id}).at("instance");
        for (u64 word = NV_RAMIN_PAGE_DIR_BASE; word < 1024; word++)
            poke(other, word, peek(block(), word));
        poke(other, NV_RAMIN_ENGINE_WFI_VEID, 1);
        poke(other, NV_RAMIN_SC_PDB_VALID, 0);
    }
    const auto listed = rows(read(machine, file("contexts")).text);
    for (const std::size_t n : {0, 1}) {
        EXPECT_EQ(listed.at(n).at(1), std::to_string(n));
        EXPECT_EQ(listed.at(n).at(3), "1");
        EXPECT_EQ(listed.at(n).at(6), std::to_string(n));
        EXPECT_EQ(listed.at(n).at(7), n == 0 ? "0,1" : "2,3");
    }
    EXPECT_EQ(listed.at(0).at(4), listed.at(1).at(4));
    EXPECT_EQ(listed.at(2).at(1), "2");
}

/// Reading the block takes an access that is not allowed while a driver is bound.
TEST_P(Unreadable, BlockThatMayNotBeReadShowsNotAllowed) {
    bool seen = false;
    machine.refuse_with = -EOPNOTSUPP;
    for (u64 n = 1; n < 8 && !seen; n++) {
        machine.requests = 0;
        machine.refuse = n;
        const Text got = read(machine, file("runlist0"));
        seen = !got.error && instances(got.text).at(0).fields == Fields{{"Error", "not allowed"}};
    }
    machine.refuse = 0;
    EXPECT_TRUE(seen);
}

TEST_P(Unreadable, BlockOfErrorWordsShowsUnreadable) {
    const u64 from = number(block().at("address"));
    machine.on_memory_read = [from](u64 address) {
        return address - from < 4096 ? std::optional(0xbadf1100) : std::nullopt;
    };
    expect_block("unreadable", -EIO);
}

/// NV_RAMFC_TARGET is the only word of its read.
TEST_P(Unreadable, OneWordOfOnesMakesTheBlockUnreadable) {
    if (GetParam() == "h200" || GetParam() == "rtx5090")
        return;
    poke(block(), NV_RAMFC_TARGET, ~0U);
    expect_block("unreadable", -EIO, false);
}

TEST_P(Unreadable, SubcontextsOfErrorWordsShowUnreadable) {
    if (!subcontexts)
        return;
    const u64 from = number(block().at("address")) + 4ULL * NV_RAMIN_SC(0);
    machine.on_memory_read = [from](u64 address) {
        return address - from < 12 ? std::optional(0xbadf1100) : std::nullopt;
    };
    expect_block("unreadable", -EIO);
    // One unreadable subcontext of two is enough.
    machine.on_memory_read = nullptr;
    poke(block(), NV_RAMIN_SC_PDB_VALID, 3);
    for (const u64 word : {0, 1, 2})
        poke(block(), NV_RAMIN_SC(1) + word, peek(block(), NV_RAMIN_SC(0) + word));
    EXPECT_EQ(first().fields.at("Subcontexts"), "2");
    poke(block(), NV_RAMIN_SC(1) + 1, 0xbadf1100);
    expect_block("unreadable", -EIO, false);
}

/// A subcontext without a page directory does not count, even if its valid bit is set.
TEST_P(Unreadable, SubcontextsWithoutPageDirectoryDoNotCount) {
    if (!subcontexts)
        return;
    poke(block(), NV_RAMIN_SC_PDB_VALID, 0xb);
    for (const u64 n : {1, 3})
        for (const u64 word : {0, 1, 2})
            poke(block(), NV_RAMIN_SC(n) + word, n == 1 ? 0 : peek(block(), NV_RAMIN_SC(0) + word));
    const Instance shown = first();
    EXPECT_EQ(shown.fields.at("Subcontexts"), "2");
    EXPECT_EQ(shown.subcontexts.size(), 2U);
    EXPECT_TRUE(shown.subcontexts.contains(3));
    // No subcontext is left.
    poke(block(), NV_RAMIN_SC_PDB_VALID, 2);
    EXPECT_EQ(first().fields.at("Subcontexts"), "0");
    poke(block(), NV_RAMIN_SC_PDB_VALID, 0);
    EXPECT_EQ(first().fields.at("Subcontexts"), "0");
    // Two channels without subcontexts do not have a table in common.
    const Json other = by_channel(Json::parse(machine.answer("layout"))).at({0, 1}).at("instance");
    poke(other, NV_RAMIN_SC_PDB_VALID, 0);
    EXPECT_EQ(instances(read(machine, file("runlist0")).text).at(1).fields.at("Subcontexts"), "0");
}

TEST_P(Unreadable, UnreadableMmuRegisterLeavesBigPagesUnknown) {
    if (channel.at("page_tables") != 1)
        return;
    machine.on_read = [](u32 offset) {
        return offset == NV_PFB_PRI_MMU_CTRL ? std::optional(0xbadf1100) : std::nullopt;
    };
    EXPECT_EQ(read(machine, file("runlist0")).error, 0);
    EXPECT_EQ(read(machine, file("contexts")).error, 0);
    const std::string said = first().fields.at("Big Page Size (KiB)");
    EXPECT_TRUE(said == "-" || GetParam() == "gtx980") << said;
    machine.on_read = [](u32) { return std::optional(~0U); };
    EXPECT_EQ(read(machine, file("contexts")).error, -ENODEV);
}

/// The MMU's control register gives the size, unless its bit USE_PDB_BIG_PAGE_SIZE leaves the size
/// to each block. The blocks of the Quadro K5000 have no size, so the bit changes nothing there.
TEST_P(Unreadable, BigPageSizeComesFromTheBlockOrTheGpu) {
    if (channel.at("page_tables") != 1)
        return;
    const bool block_may_say = GetParam() != "quadro-k5000";
    const auto shown = [&](u32 ctrl) {
        machine.on_read = [ctrl](u32 offset) {
            return offset == NV_PFB_PRI_MMU_CTRL ? std::optional(ctrl) : std::nullopt;
        };
        return first().fields.at("Big Page Size (KiB)");
    };
    const std::string usual = channel.at("big_page_kib").dump();
    constexpr u32 by_block = NV_PFB_PRI_MMU_CTRL_USE_PDB_BIG_PAGE_SIZE;
    constexpr u32 is_64k = NV_PFB_PRI_MMU_CTRL_VM_PG_SIZE_64KB;
    EXPECT_EQ(shown(is_64k), "64");
    EXPECT_EQ(shown(0), "128");
    EXPECT_EQ(shown(by_block), block_may_say ? usual : "128");
    EXPECT_EQ(shown(by_block | is_64k), block_may_say ? usual : "64");
}

/// Values without a name are shown as numbers.
TEST_P(Unreadable, UnknownContextValuesAreShownAsNumbers) {
    const nvdebug_context_layout *const layout = machine.gpu()->chip->context;
    poke(image(), NV_CTXSW_MAIN_IMAGE_CTL, 0x3f);
    poke(image(), NV_CTXSW_MAIN_IMAGE_GRAPHICS_PREEMPTION_OPTIONS, 3);
    poke(image(), NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS, 3);
    const Instance shown = first();
    ASSERT_TRUE(shown.context);
    EXPECT_EQ(shown.context->at("Type"), layout->has_type ? "undefined-63" : "-");
    for (const char *const key : {"Graphics Preemption", "Compute Preemption"})
        EXPECT_EQ(shown.context->at(key), layout->has_preemption ? "undefined-3" : "-") << key;
}

INSTANTIATE_TEST_SUITE_P(Boards, Unreadable,
                         testing::Values("quadro-k5000", "gtx980", "gtx1080ti", "titan-v", "a100",
                                         "h200", "rtx5090"),
                         name_of_board);

// --- Features that a GPU lacks ---

TEST(ContextFeatures, GpuWithoutGraphicsEngineHasNoContextState) {
    Bench bench("a100");
    nvdebug_gpu *const gpu = bench.machine.gpu();
    for (u32 i = 0; i < gpu->topology.engines; i++)
        if (gpu->topology.engine[i].type == 0)
            gpu->topology.engine[i].type = 1;
    nvdebug_instances_survey(gpu);
    EXPECT_EQ(gpu->missing[NVDEBUG_FEATURE_CONTEXTS], nullptr);
    EXPECT_STREQ(gpu->missing[NVDEBUG_FEATURE_CONTEXT_STATE], "no graphics engine");
    EXPECT_STREQ(gpu->missing[NVDEBUG_FEATURE_PREEMPTION_MODE], "no graphics engine");
}

} // namespace
} // namespace core
