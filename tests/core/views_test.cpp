// SPDX-License-Identifier: MIT OR GPL-2.0
// Files of a GPU with registers that are not as usual, and files without addresses. As they usually
// are: golden_test.cpp.
#include "bench.hpp"
#include "meddled.hpp"
#include "text.hpp"

extern "C" {
#include "chips/chips.h"
#include "hw/ce.h"
#include "hw/cwd.h"
#include "hw/pbdma.h"
#include "hw/pfifo.h"
#include "hw/ptimer.h"
#include "hw/ptop.h"
#include "hw/runlist.h"
}

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

namespace core {
namespace {

constexpr u32 error_word = 0xbadf1104;

std::vector<std::string> words_of(const std::string &text) {
    std::vector<std::string> all;
    std::istringstream words(text);
    for (std::string word; words >> word;)
        all.push_back(word);
    return all;
}

class Views : public testing::TestWithParam<std::string> {
  protected:
    explicit Views(const std::string &workload = "three-tasks") : machine(GetParam(), workload) {
        EXPECT_EQ(machine.probe(), 0);
        restart(workload);
    }
    void restart(const std::string &workload) {
        machine.restart(workload);
        machine.model().advance(5000 * nvmodel::ns_per_us);
    }
    [[nodiscard]] nvdebug_gpu *gpu() { return machine.gpu(); }
    /// Some registers have these values, whatever they have.
    void lie(std::map<u32, u32> values) {
        machine.on_read = [this, values = std::move(values)](u32 offset) {
            reads[offset]++;
            const auto found = values.find(offset);
            return found == values.end() ? std::nullopt : std::optional(found->second);
        };
    }
    Text open(const std::string &name, bool hide = false) {
        const std::vector<File> all = files(machine);
        const auto found = std::ranges::find(all, name, &File::name);
        return found == all.end() ? Text{-ENOENT, {}} : read(machine, *found, hide);
    }
    [[nodiscard]] bool has(const std::string &name) {
        const std::vector<File> all = files(machine);
        return std::ranges::find(all, name, &File::name) != all.end();
    }
    int probe() {
        machine.forget();
        return machine.probe();
    }

    Meddled machine;
    std::map<u32, int> reads; // of each register, while it lies
};

// --- without addresses ---

class Hidden : public Views {};

/// A reader without the right to see them gets the same text, except each address.
TEST_P(Hidden, AreTheAddressesAndNothingElse) {
    const std::set<std::string> with_addresses{"runlist", "contexts"};
    for (const std::string workload : {"mixed", "malformed"})
        for (const File &file : files(machine)) {
            if (file.view == nullptr)
                continue;
            restart(workload);
            const Text usual = read(machine, file);
            restart(workload);
            const Text hidden = read(machine, file, true);
            ASSERT_EQ(hidden.error, usual.error) << file.name;
            const auto all = words_of(usual.text), some = words_of(hidden.text);
            ASSERT_EQ(all.size(), some.size()) << file.name;
            for (std::size_t i = 0; i < all.size(); i++) {
                if (some[i] == "hidden") {
                    EXPECT_TRUE(all[i].starts_with("0x")) << file.name << ": " << all[i];
                } else {
                    EXPECT_EQ(some[i], all[i]) << file.name;
                }
            }
            const bool addresses = file.name.starts_with("runlist") || file.name == "contexts";
            EXPECT_EQ(hidden.text != usual.text,
                      addresses && usual.text.find("0x") != std::string::npos)
                << file.name;
            if (addresses) {
                EXPECT_EQ(hidden.text.find("0x"), std::string::npos) << file.name << "\n"
                                                                     << hidden.text;
            }
        }
}

INSTANTIATE_TEST_SUITE_P(All, Hidden, testing::Values("gtx1080ti", "titan-v", "h200"),
                         name_of_board);

// --- what is announced ---

class Announced : public Views {};

TEST_P(Announced, UnderOneNameEach) {
    std::set<std::string> names;
    for (const File &file : files(machine))
        EXPECT_TRUE(names.insert(file.name).second) << file.name;
}

TEST_P(Announced, IsRead) {
    for (const File &file : files(machine)) {
        if (file.view == nullptr || !file.view->live)
            continue;
        restart("mixed");
        std::set<u32> unread, known;
        machine.expected.clear();
        machine.on_read = [&](u32 offset) -> std::optional<u32> {
            for (const u32 one : std::exchange(machine.expected, {}))
                unread.insert(one), known.insert(one);
            unread.erase(offset);
            return std::nullopt;
        };
        static_cast<void>(read(machine, file));
        machine.on_read = nullptr;
        for (const u32 one : machine.expected)
            ADD_FAILURE() << file.name << ": " << hex(one) << " is announced and not read";
        for (const u32 one : unread)
            ADD_FAILURE() << file.name << ": " << hex(one) << " is announced and not read";
        // in runs of registers, where a call costs more than a register
        const bool runs = file.name.starts_with("runlist0") || file.name == "sm_map" ||
                          file.name == "work_distributor" || file.name == "engines" ||
                          (file.name == "copy_topology" && gpu()->chip->copy->pce_stride);
        if (runs) {
            EXPECT_GT(known.size(), 2U) << file.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Announced, testing::ValuesIn(cards), name_of_board);

/// The others were read when the GPU was probed, and are for everyone.
TEST(ViewFiles, ThatAreReadFromTheGpuAreState) {
    for (const auto &file : std::span(nvdebug_view_files, nvdebug_view_files_count))
        EXPECT_EQ(file.state, file.view->live) << file.name;
}

// --- runlists ---

class Lists : public Views {};

/// The list names more channels than there are: their registers are not read.
TEST_P(Lists, OfChannelsThatAreNotThere) {
    nvdebug_runlist *const list = gpu()->topology.runlist;
    const nvdebug_channel_ops *const ops = gpu()->chip->channel;
    std::set<u32> none;
    for (const u32 id : {2U, 3U}) {
        none.insert(ops->reg(list, id));
        if (!ops->per_runlist)
            none.insert(NV_PCCSR_CHANNEL_INST(id));
    }
    list->channels = 2;
    if (!ops->per_runlist)
        gpu()->topology.channels = 2;
    for (const char *const name : {"runlist0", "runlist0_brief", "contexts"}) {
        machine.expected.clear();
        reads.clear();
        lie({});
        const Text got = open(name);
        ASSERT_EQ(got.error, 0) << name;
        for (const u32 reg : none)
            EXPECT_EQ(reads[reg] + std::ranges::count(machine.expected, reg), 0)
                << name << ", " << hex(reg);
        if (std::string(name) == "contexts")
            continue;
        for (const Box &box : entries(got.text))
            if (box.kind == "Channel Info") {
                EXPECT_EQ(box.fields.contains("Error"), *box.number >= 2) << name;
                EXPECT_EQ(box.fields.contains("Status Name"), *box.number < 2) << name;
                EXPECT_TRUE(box.fields.contains("Runqueue")) << name;
            }
    }
}

TEST_P(Lists, OfAChannelWhoseStateCannotBeRead) {
    lie({{gpu()->chip->channel->reg(gpu()->topology.runlist, 1), error_word}});
    EXPECT_EQ(open("runlist0_brief").error, -EIO);
    EXPECT_EQ(open("runlist0").error, -EIO);
}

/// What is neither a TSG nor a channel is shown word by word.
TEST_P(Lists, OfUnknownEntries) {
    restart("malformed");
    std::size_t unknown = 0;
    for (const Box &box : entries(open("runlist0_brief").text))
        if (box.kind == "Unknown Entry") {
            unknown++;
            EXPECT_EQ(box.fields.size(), gpu()->chip->runlist->entry_words);
            for (const auto &[key, value] : box.fields)
                EXPECT_TRUE(key.starts_with("Word ") && value.starts_with("0x")) << key;
        }
    EXPECT_GT(unknown, 0U);
}

/// Where nothing may be, and without an entry.
TEST_P(Lists, ThatCannotBeReadOrAreEmpty) {
    const nvdebug_runlist *const list = gpu()->topology.runlist;
    const nvdebug_runlist_ops *const ops = gpu()->chip->runlist;
    const u32 place = ops->registers(list), length = place + ops->length_offset;
    const bool in_pages = GetParam() == "gtx1080ti" || GetParam() == "titan-v";
    const u32 target = in_pages ? 3U << 28 : 3U, nowhere = in_pages ? 1U << 28 : 1U;
    const u32 was = machine.peek(place);
    const auto head = [&] { return entries(open("runlist0_brief").text).at(0).fields; };
    const Fields usual = head();
    EXPECT_NE(usual.at("Entries"), "0");

    lie({{place, (was & ~target) | nowhere}});
    Fields shown = head();
    EXPECT_EQ(shown.at("Entries"), usual.at("Entries"));
    EXPECT_EQ(shown.at("TSGs"), "-");
    EXPECT_EQ(shown.at("Channels"), "-");
    EXPECT_EQ(shown.at("Address"), usual.at("Address"));

    lie({{length, machine.peek(length) & ~0xffffU}});
    shown = head();
    for (const char *const key : {"Entries", "TSGs", "Channels"})
        EXPECT_EQ(shown.at(key), "0") << key;
    EXPECT_EQ(shown.at("Address"), usual.at("Address"));
    // `contexts` looks at nothing else of it
    reads.clear();
    EXPECT_EQ(open("contexts").error, 0);
    EXPECT_EQ(reads[length], 1);
    EXPECT_EQ(reads[place], 0);
}

/// Where the list is from Turing on, and the state of its channels.
TEST_P(Lists, AreAnnounced) {
    const nvdebug_runlist *const list = gpu()->topology.runlist;
    const nvdebug_runlist_ops *const ops = gpu()->chip->runlist;
    std::set<u32> wanted, known;
    for (u32 id = 0; id < 16; id++)
        wanted.insert(gpu()->chip->channel->reg(list, id));
    for (u32 n = 0; n < 4 && ops->ptr_lo != 0; n++)
        wanted.insert(ops->registers(list) + 4 * n);
    std::size_t seen = 0;
    machine.expected.clear();
    machine.on_read = [&](u32 offset) -> std::optional<u32> {
        for (const u32 one : std::exchange(machine.expected, {}))
            known.insert(one);
        if (wanted.contains(offset)) {
            EXPECT_TRUE(known.contains(offset)) << hex(offset);
            seen++;
        }
        return std::nullopt;
    };
    EXPECT_EQ(open("runlist0_brief").error, 0);
    EXPECT_GT(seen, ops->ptr_lo != 0 ? 5U : 1U);
}

INSTANTIATE_TEST_SUITE_P(Boards, Lists,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "h200"),
                         name_of_board);

// --- engines ---

class Engines : public Views {
  protected:
    Engines() {
        engine = gpu()->topology.engine;
        list = &gpu()->topology.runlist[0];
        while (engine->type != NV_PTOP_TYPE_GRAPHICS)
            engine++;
        status = gpu()->chip->status->engine_reg(gpu(), engine);
        for (u32 n = 0; n < list->pbdmas; n++)
            pbdma.push_back(gpu()->chip->status->pbdma_reg(&list->pbdma[n]));
        ampere = gpu()->chip->channel->per_runlist;
    }
    /// Of GR0: engine, runlist, status, current, next, busy, faulted, reload, channel, and of the
    /// PBDMAs.
    std::vector<std::string> line() {
        const Text got = open("engines");
        EXPECT_EQ(got.error, 0);
        std::istringstream lines(got.text);
        for (std::string one; std::getline(lines, one);)
            if (one.starts_with("GR0 "))
                return words_of(one);
        ADD_FAILURE() << got.text;
        return std::vector<std::string>(14);
    }
    [[nodiscard]] u32 tsg() const { return ampere ? 0 : NV_PFIFO_STATUS_ID_TYPE_TSG; }
    [[nodiscard]] u32 next_tsg() const { return ampere ? 0 : NV_PFIFO_STATUS_NEXT_ID_TYPE_TSG; }
    [[nodiscard]] std::map<u32, u32> idle() const {
        std::map<u32, u32> all{{status, 0}};
        for (const u32 reg : pbdma)
            all[reg] = 0;
        return all;
    }

    const nvdebug_engine *engine = nullptr;
    const nvdebug_runlist *list = nullptr;
    u32 status = 0;
    std::vector<u32> pbdma;
    bool ampere = false;
};

TEST_P(Engines, ShowWhoIsOnThem) {
    std::map<u32, u32> values = idle();
    const auto shown = [&](u32 word) {
        values[status] = word;
        lie(values);
        const std::vector<std::string> all = line();
        return std::vector<std::string>(all.begin() + 2, all.begin() + 8);
    };
    using Line = std::vector<std::string>;
    const std::string off = ampere ? "0" : "-"; // copy engines alone have faults before
    EXPECT_EQ(shown(0), (Line{"invalid", "-", "-", "0", off, "0"}));
    EXPECT_EQ(shown(1U << 13 | tsg() | 5), (Line{"valid", "tsg:5", "-", "0", off, "0"}));
    EXPECT_EQ(shown(7U << 13 | tsg() | 5 | 9U << 16 | next_tsg()),
              (Line{"switch", "tsg:5", "tsg:9", "0", off, "0"}));
    const u32 load = ampere ? 6 : 5, save = ampere ? 5 : 6;
    EXPECT_EQ(shown(load << 13 | 5 | 9U << 16 | next_tsg()),
              (Line{"load", "-", "tsg:9", "0", off, "0"}));
    EXPECT_EQ(shown(save << 13 | tsg() | 5 | 9U << 16),
              (Line{"save", "tsg:5", "-", "0", off, "0"}));
    EXPECT_EQ(shown(2U << 13 | 5), (Line{"undefined-2", "-", "-", "0", off, "0"}));
    EXPECT_EQ(shown(1U << 31), (Line{"invalid", "-", "-", "1", off, "0"}));
    EXPECT_EQ(shown(1U << 29), (Line{"invalid", "-", "-", "0", off, "1"}));
    EXPECT_EQ(shown(1U << 30), (Line{"invalid", "-", "-", "0", ampere ? "1" : "-", "0"}));
    if (!ampere) {
        EXPECT_EQ(shown(7U << 13 | 5 | 9U << 16),
                  (Line{"switch", "channel:5", "channel:9", "0", off, "0"}));
    }
}

/// What contradicts itself is read again, four times at most; what is idle once.
TEST_P(Engines, AreReadUntilTheyAreTheSameTwice) {
    restart("idle"); // so that nothing else changes
    std::map<u32, u32> values = idle();
    lie(values);
    EXPECT_EQ(line().at(2), "invalid");
    EXPECT_EQ(reads[status], 1);
    values[status] = 1U << 13 | tsg() | 5;
    reads.clear();
    lie(values);
    EXPECT_EQ(line().at(3), "tsg:5");
    EXPECT_EQ(reads[status], 2);
    for (const int changes : {1, 2, 5}) {
        reads.clear();
        machine.on_read = [&](u32 offset) -> std::optional<u32> {
            const int n = reads[offset]++;
            if (offset == status)
                return 1U << 13 | tsg() | static_cast<u32>(std::min(n, changes));
            const auto found = values.find(offset);
            return found == values.end() ? std::nullopt : std::optional(found->second);
        };
        EXPECT_EQ(line().at(3), "tsg:" + std::to_string(std::min(changes, 3)));
        EXPECT_EQ(reads[status], std::min(changes + 2, 4)) << changes;
    }
}

TEST_P(Engines, ThatCannotBeRead) {
    std::map<u32, u32> values = idle();
    values[status] = error_word;
    lie(values);
    std::vector<std::string> all = line();
    EXPECT_EQ(std::vector<std::string>(all.begin() + 2, all.begin() + 9),
              (std::vector<std::string>{"unreadable", "-", "-", "-", "-", "-", "-"}));
    EXPECT_EQ(all.at(10).substr(0, 7), "invalid");
    // nor one PBDMA: its number is known all the same
    values[status] = 1U << 13 | tsg() | 5;
    values[pbdma[0]] = error_word;
    lie(values);
    all = line();
    EXPECT_EQ(all.at(2), "valid");
    EXPECT_TRUE(all.at(9).starts_with(std::to_string(list->pbdma[0].number)));
    EXPECT_EQ(all.at(10).substr(0, 10), "unreadable");
    EXPECT_EQ(all.at(11).substr(0, 1), "-");
    EXPECT_EQ(all.at(13).substr(0, 1), "-");
    if (pbdma.size() > 1) {
        EXPECT_EQ(all.at(10), "unreadable,invalid");
    }
    // nor its channel
    values[pbdma[0]] = 1U << 13 | tsg() | 5;
    values[list->pbdma[0].base + NV_PPBDMA_CHANNEL] = error_word;
    lie(values);
    EXPECT_EQ(line().at(10).substr(0, 10), "unreadable");
    // none of all
    machine.on_read = [](u32 offset) { return offset ? std::optional(error_word) : std::nullopt; };
    EXPECT_EQ(open("engines").error, -EIO);
    machine.on_read = [](u32) { return std::optional(~0U); };
    EXPECT_EQ(open("engines").error, -ENODEV);
}

/// What could not be read at the first look, and can at the next ones.
TEST_P(Engines, ThatCouldNotBeReadOnce) {
    restart("idle"); // so that nothing else changes
    std::map<u32, u32> values = idle();
    values[status] = 1U << 13 | tsg() | 5;
    for (const u32 reg : {status, pbdma[0]}) {
        reads.clear();
        machine.on_read = [&, reg](u32 offset) -> std::optional<u32> {
            if (reads[offset]++ == 0 && offset == reg)
                return error_word;
            const auto found = values.find(offset);
            return found == values.end() ? std::nullopt : std::optional(found->second);
        };
        const std::vector<std::string> all = line();
        EXPECT_EQ(all.at(3), "tsg:5") << hex(reg);
        EXPECT_TRUE(all.at(10).starts_with("invalid")) << hex(reg);
        EXPECT_EQ(reads[status], 3) << hex(reg);
    }
}

/// Its channels have registers of their own from Ampere on.
TEST_P(Engines, WhoseChannelsCannotBeRead) {
    const u32 reg = gpu()->chip->status->channel_reg(gpu(), engine, 0);
    if (reg == 0)
        return;
    std::map<u32, u32> values = idle();
    values[status] = 1U << 13 | 5;
    values[reg] = error_word;
    lie(values);
    EXPECT_EQ(line().at(2), "unreadable");
    const u32 valid = NV_RUNLIST_ENGINE_STATUS_CHANNEL_VALID;
    values[reg] = valid | 0x123;
    values[reg + 4] = valid | 0x45;
    lie(values);
    EXPECT_EQ(line().at(8), pbdma.size() > 1 ? "291,69" : "291");
    values[reg] = 0x123;
    lie(values);
    EXPECT_EQ(line().at(8), pbdma.size() > 1 ? "69" : "-");
    // there is one for each PBDMA
    const u32 pbdmas = std::exchange(gpu()->topology.runlist[0].pbdmas, 1);
    reads.clear();
    machine.expected.clear();
    EXPECT_EQ(line().at(8), "-");
    EXPECT_EQ(reads[reg + 4] + std::ranges::count(machine.expected, reg + 4), 0);
    gpu()->topology.runlist[0].pbdmas = pbdmas;
}

/// All registers are announced before the first of them is read: at first those that show whether
/// it is used, then its channels, and at each further look all at once.
TEST_P(Engines, AreAnnounced) {
    std::map<u32, u32> values = idle();
    for (const bool used : {false, true}) {
        restart("idle");
        values[status] = used ? 1U << 13 | tsg() | 5 : 0;
        std::set<u32> known;
        std::size_t times = 0;
        machine.expected.clear();
        machine.on_read = [&](u32 offset) -> std::optional<u32> {
            times += !machine.expected.empty();
            for (const u32 one : std::exchange(machine.expected, {}))
                known.insert(one);
            EXPECT_EQ(known.erase(offset), 1U) << hex(offset);
            const auto found = values.find(offset);
            return found == values.end() ? std::nullopt : std::optional(found->second);
        };
        const std::string text = open("engines").text;
        const auto engines = static_cast<std::size_t>(std::ranges::count(text, '\n')) - 1;
        const auto same_list = static_cast<std::size_t>(
            std::ranges::count_if(std::span(gpu()->topology.engine, gpu()->topology.engines),
                                  [&](const nvdebug_engine &one) {
                                      return (one.has & NVDEBUG_ENGINE_HAS_RUNLIST) != 0 &&
                                             gpu()->chip->status->engine_reg(gpu(), &one) == status;
                                  }));
        EXPECT_EQ(times, engines + (used ? 2 * same_list : 0));
    }
}

/// The engine's registers are enough, or those of one PBDMA.
TEST_P(Engines, OfWhichSomeRegistersCanBeRead) {
    std::set<u32> of_engine{status}, of_pbdma{pbdma[0], list->pbdma[0].base + NV_PPBDMA_CHANNEL};
    for (u32 n = 0; n < 2; n++)
        of_engine.insert(gpu()->chip->status->channel_reg(gpu(), engine, n));
    for (const auto &good : {of_engine, of_pbdma}) {
        machine.on_read = [&](u32 offset) {
            return good.contains(offset) ? std::optional(0U)
                   : offset              ? std::optional(error_word)
                                         : std::nullopt;
        };
        EXPECT_EQ(open("engines").error, 0) << hex(*good.begin());
    }
}

/// No register of theirs is known, and no PBDMA can be read.
TEST_P(Engines, OfWhichNothingIsKnown) {
    const auto all = std::span(gpu()->topology.engine, gpu()->topology.engines);
    const std::vector<nvdebug_engine> was(all.begin(), all.end());
    for (nvdebug_engine &one : all) {
        one.rleng = 9;
        one.has &= ~static_cast<u32>(NVDEBUG_ENGINE_HAS_ID);
    }
    machine.on_read = [](u32 offset) { return offset ? std::optional(error_word) : std::nullopt; };
    EXPECT_EQ(open("engines").error, -EIO);
    machine.on_read = nullptr;
    EXPECT_EQ(open("engines").error, 0);
    std::ranges::copy(was, all.begin());
}

TEST_P(Engines, ShowTheChannelOfAPbdma) {
    std::map<u32, u32> values = idle();
    const u32 reg = list->pbdma[0].base + NV_PPBDMA_CHANNEL;
    const auto channel = [&](u32 word, u32 on_pbdma) {
        values[reg] = word;
        values[pbdma[0]] = on_pbdma;
        lie(values);
        const std::string all = line().at(13);
        return all.substr(0, all.find(','));
    };
    const u32 valid = 1U << 13 | tsg() | 5;
    const u32 bit = gpu()->chip->status->pbdma_channel_valid;
    EXPECT_EQ(channel(bit | 0x123, valid), "291");
    EXPECT_EQ(channel(bit | 0x123, 0), "-"); // the last one
    EXPECT_EQ(channel(0x123, valid), bit ? "-" : "291");
}

/// An engine without a register of its own, and one of a type without a name.
TEST_P(Engines, ThatAreUnusual) {
    auto *const one = const_cast<nvdebug_engine *>(engine);
    const nvdebug_engine was = *one;
    one->type = 77;
    one->inst = 3;
    one->rleng = 9;
    one->has &= ~static_cast<u32>(NVDEBUG_ENGINE_HAS_ID);
    const std::string text = open("engines").text;
    EXPECT_NE(text.find("TYPE-77:3 " + std::to_string(list->id) + " - - - - - - - "),
              std::string::npos)
        << text;
    EXPECT_NE(open("device_info").text.find("TYPE-77 "), std::string::npos);
    *one = was;
    one->has &= ~static_cast<u32>(NVDEBUG_ENGINE_HAS_RUNLIST);
    EXPECT_EQ(open("engines").text.find("GR0"), std::string::npos);
    *one = was;
    nvdebug_runlist *const empty = gpu()->topology.runlist;
    const u32 pbdmas = std::exchange(empty->pbdmas, 0);
    const std::vector<std::string> words = line();
    EXPECT_EQ(std::vector<std::string>(words.begin() + 9, words.end()),
              std::vector<std::string>(5, "-"));
    empty->pbdmas = pbdmas;
}

INSTANTIATE_TEST_SUITE_P(Boards, Engines,
                         testing::Values("gtx980", "gtx1080ti", "titan-v", "a100", "h200",
                                         "rtx5090"),
                         name_of_board);

// --- the clock ---

class Clock : public Views {
  protected:
    /// The upper half at each look.
    Text at(const std::vector<u32> &upper, u32 lower) {
        std::size_t looks = 0;
        machine.on_read = [&, lower](u32 offset) -> std::optional<u32> {
            if (offset == NV_PTIMER_TIME_1)
                return upper.at(looks++);
            return offset == NV_PTIMER_TIME_0 ? std::optional(lower) : std::nullopt;
        };
        const Text got = open("ptimer");
        machine.on_read = nullptr;
        EXPECT_EQ(looks, upper.size());
        return got;
    }
};

TEST_P(Clock, HasTwoHalvesOfOneTime) {
    EXPECT_EQ(at({5, 5}, 0x20).text, "21474836512\n");
    EXPECT_EQ(at({5, 6, 6}, 0x20).text, "25769803808\n");
    EXPECT_EQ(at({5, 6, 7, 7}, 0x20).text, "30064771104\n");
    EXPECT_EQ(at({5, 6, 7, 8}, 0x20).error, -EIO);
    // the lower half may look like an error of the bus, the upper one may not
    EXPECT_EQ(at({5, 5}, 0xbadf1100).text, "24610017536\n");
    EXPECT_EQ(at({error_word}, 0x20).error, -EIO);
    EXPECT_EQ(at({5, error_word}, 0x20).error, -EIO);
}

INSTANTIATE_TEST_SUITE_P(Boards, Clock, testing::Values("gtx980", "h200"), name_of_board);

// --- copy engines ---

class Copies : public Views {};

TEST_P(Copies, WhoseMapCannotBeRead) {
    EXPECT_EQ(gpu()->gaps, 0U);
    ASSERT_TRUE(has("lce_for_pce0"));
    lie({{NV_CE_PCE_MAP, error_word}});
    EXPECT_EQ(open("pce_map").error, -EIO);
    EXPECT_EQ(open("copy_topology").error, -EIO);
    ASSERT_EQ(probe(), 0);
    EXPECT_EQ(gpu()->gaps, 1U);
    EXPECT_FALSE(has("lce_for_pce0"));
    EXPECT_TRUE(has("copy_topology"));
    machine.on_read = nullptr;
    ASSERT_EQ(probe(), 0);
    EXPECT_TRUE(has("lce_for_pce0"));
    EXPECT_EQ(gpu()->gaps, 0U);
}

/// Each register is read once, though it may have several engines; any of them may fail.
TEST_P(Copies, AreReadOnce) {
    const nvdebug_copy_ops *const ops = gpu()->chip->copy;
    for (const std::string name : {"pce_map", "lce_for_pce0", "copy_topology"}) {
        reads.clear();
        lie({});
        const int usual = open(name).error;
        EXPECT_TRUE(!usual || (usual == -ENODEV && name == "lce_for_pce0"));
        for (const auto &[offset, count] : reads)
            EXPECT_EQ(count, 1) << name << ", " << hex(offset);
        if (name != "copy_topology") {
            EXPECT_EQ(reads.size(), 1U) << name;
        } else if (!ops->pce_stride) {
            EXPECT_EQ(reads.size(), 3U);
        }
        for (u64 n = 0, seen = n + 1; seen > n; n++) {
            seen = 0;
            machine.on_read = [&](u32) {
                return seen++ == n ? std::optional(error_word) : std::nullopt;
            };
            const int error = open(name).error;
            EXPECT_EQ(error, seen > n ? -EIO : usual) << name << ", " << n;
        }
    }
}

/// An engine that has no GRCE's number, or no runlist, is no GRCE; GR0 may be anywhere in the
/// table.
TEST_P(Copies, OfTheGraphicsRunlistAreGrces) {
    const nvdebug_copy_ops *const ops = gpu()->chip->copy;
    const auto all = std::span(gpu()->topology.engine, gpu()->topology.engines);
    const std::vector<nvdebug_engine> was(all.begin(), all.end());
    const auto rows = [&] {
        std::vector<std::string> sorted;
        std::istringstream lines(open("copy_topology").text);
        for (std::string one; std::getline(lines, one);)
            sorted.push_back(one);
        std::ranges::sort(sorted);
        return sorted;
    };
    const std::vector<std::string> usual = rows();
    std::ranges::stable_partition(
        all, [](const nvdebug_engine &one) { return one.type == NV_PTOP_TYPE_LCE; });
    EXPECT_EQ(rows(), usual);
    std::ranges::copy(was, all.begin());

    const auto shared = [&](u32 inst) {
        for (const std::string &row : rows())
            if (row.starts_with("LCE" + std::to_string(inst) + " "))
                return row.substr(row.rfind(' ') + 1);
        return std::string();
    };
    const u32 graphics =
        std::ranges::find(all, u32{NV_PTOP_TYPE_GRAPHICS}, &nvdebug_engine::type)->runlist;
    const auto lce = std::ranges::find_if(all, [](const nvdebug_engine &one) {
        return one.type == NV_PTOP_TYPE_LCE && one.inst == 0;
    });
    ASSERT_NE(lce, all.end());
    // all GRCEs share
    machine.on_read = [&](u32 offset) -> std::optional<u32> {
        reads[offset]++;
        const u32 stride = ops->grce_stride ? ops->grce_stride : 4;
        return offset - ops->grce_reg < 4 * stride ? std::optional(0x49090909U) : std::nullopt;
    };
    lce->runlist = graphics;
    lce->has |= NVDEBUG_ENGINE_HAS_RUNLIST;
    EXPECT_TRUE(shared(0).starts_with("LCE")) << shared(0);
    lce->has &= ~static_cast<u32>(NVDEBUG_ENGINE_HAS_RUNLIST);
    EXPECT_EQ(shared(0), "-");
    for (const std::string &row : rows())
        if (row.starts_with("LCE0 ")) {
            EXPECT_TRUE(row.starts_with("LCE0 - ")) << row;
        }
    lce->has |= NVDEBUG_ENGINE_HAS_RUNLIST;
    lce->inst = ops->grces;
    reads.clear();
    EXPECT_EQ(open("copy_topology").error, 0);
    if (ops->grce_stride) {
        EXPECT_EQ(reads[ops->grce_reg + ops->grce_stride * ops->grces], 0);
    }
    EXPECT_EQ(shared(ops->grces), "-");
    for (nvdebug_engine &one : all)
        one.type += one.type == NV_PTOP_TYPE_GRAPHICS;
    lce->inst = 0;
    EXPECT_EQ(shared(0), "-");
    std::ranges::copy(was, all.begin());
}

INSTANTIATE_TEST_SUITE_P(Boards, Copies,
                         testing::Values("gtx1080ti", "titan-v", "rtx2080ti", "a100", "rtx6000-ada",
                                         "h200", "rtx5090"),
                         name_of_board);

// --- GPCs, TPCs, SMs ---

class Geometry : public Views {};

TEST_P(Geometry, WithoutCounts) {
    const std::map<u32, std::string> counts{{NV_PTOP_SCAL_NUM_GPCS, "num_gpcs"},
                                            {NV_PTOP_SCAL_NUM_TPC_PER_GPC, "num_tpc_per_gpc"},
                                            {NV_PTOP_SCAL_NUM_CES, "num_ces"},
                                            {NV_PTOP_SCAL_NUM_FBPS, "num_fbps"},
                                            {NV_PTOP_SCAL_NUM_LTCS, "num_ltcs"}};
    for (const auto &[reg, name] : counts) {
        if (!has(name))
            continue;
        for (const u32 value : {error_word, 0U}) {
            lie({{reg, value}});
            ASSERT_EQ(probe(), 0);
            const bool needed = reg == NV_PTOP_SCAL_NUM_GPCS || reg == NV_PTOP_SCAL_NUM_TPC_PER_GPC;
            EXPECT_EQ(has("gpc_mask"), !needed) << name;
            EXPECT_EQ(gpu()->missing[NVDEBUG_FEATURE_GPC_TOPOLOGY] != nullptr, needed) << name;
            EXPECT_EQ(gpu()->gaps, needed ? 33U : 1U) << name;
            if (!needed) {
                EXPECT_EQ(open(name).error, value ? -EIO : 0) << name;
            } else {
                EXPECT_STREQ(gpu()->missing[NVDEBUG_FEATURE_GPC_TOPOLOGY],
                             "PTOP does not tell the numbers of GPCs and TPCs");
            }
        }
    }
}

/// The mask of one GPC's TPCs, or that of GPCs.
TEST_P(Geometry, WithAMaskThatCannotBeRead) {
    const nvdebug_geometry_ops *const ops = gpu()->chip->geometry;
    const u32 gpcs = gpu()->geometry.count[NVDEBUG_NUM_GPCS].value;
    u32 gpc = 0;
    while (gpu()->geometry.gpc_mask.value >> gpc & 1)
        gpc++;
    for (int i = 0; i < 2 && ops->tpc_reg[i]; i++) {
        lie({{ops->tpc_reg[i] + 4 * gpc, error_word}});
        ASSERT_EQ(probe(), 0);
        EXPECT_EQ(gpu()->gaps, 1U);
        for (u32 n = 0; n < gpcs; n++)
            EXPECT_EQ(open("gpc" + std::to_string(n) + "_tpc_mask").error, n == gpc ? -EIO : 0)
                << n;
        EXPECT_EQ(reads[ops->tpc_reg[i] + 4 * gpc], 1);
        reads.clear();
        // then it is not known which fuses may answer: all are read
        lie({{ops->gpc_reg[i], error_word}});
        ASSERT_EQ(probe(), 0);
        EXPECT_EQ(open("gpc_mask").error, -EIO);
        for (u32 n = 0; n < gpcs; n++)
            EXPECT_EQ(reads[ops->tpc_reg[0] + 4 * n], 1) << n;
        reads.clear();
    }
}

/// All TPCs of a GPC that is off are off, and its fuses are not read.
TEST_P(Geometry, WithAGpcThatIsOff) {
    const nvdebug_geometry_ops *const ops = gpu()->chip->geometry;
    const u32 gpcs = gpu()->geometry.count[NVDEBUG_NUM_GPCS].value;
    const u32 tpcs = gpu()->geometry.count[NVDEBUG_NUM_TPC_PER_GPC].value;
    const u32 off = gpcs - 1;
    lie({{ops->gpc_reg[0], 1U << off | 1U << gpcs}, {ops->tpc_reg[0] + 4 * off, 0}});
    machine.expected.clear();
    ASSERT_EQ(probe(), 0);
    EXPECT_EQ(number(open("gpc_mask").text) >> off, 1U);
    EXPECT_EQ(number(open("gpc" + std::to_string(off) + "_tpc_mask").text), (1U << tpcs) - 1);
    EXPECT_EQ(reads[ops->tpc_reg[0] + 4 * off], 0);
    EXPECT_EQ(std::ranges::count(machine.expected, ops->tpc_reg[0] + 4 * off), 0);
    EXPECT_EQ(std::ranges::count(machine.expected, ops->tpc_reg[0]), 1);
    EXPECT_FALSE(has("gpc" + std::to_string(gpcs) + "_tpc_mask"));
    EXPECT_EQ(gpu()->gaps, 0U);
}

TEST_P(Geometry, WithoutAnAmountOfVideoMemory) {
    if (!gpu()->chip->video_memory)
        return;
    for (const u32 value : {0U, error_word}) {
        lie({{gpu()->chip->video_memory->reg, value}});
        ASSERT_EQ(probe(), 0);
        EXPECT_EQ(gpu()->gaps, 1U);
        EXPECT_EQ(open("local_memory").error, -EIO);
    }
}

INSTANTIATE_TEST_SUITE_P(All, Geometry, testing::ValuesIn(cards), name_of_board);

class Sms : public Views {
  protected:
    [[nodiscard]] const nvdebug_cwd_ops *ops() { return gpu()->chip->cwd; }
};

TEST_P(Sms, OfATableThatCannotBe) {
    const u32 fs = machine.peek(NV_PGRAPH_PRI_CWD_FS);
    const std::string usual = open("sm_map").text;
    // two TPCs in one place, as before a driver has filled it in
    lie({{ops()->gpc_tpc_id, 0}});
    EXPECT_EQ(open("sm_map").error, -EIO);
    EXPECT_EQ(open("work_distributor").error, 0);
    for (const u32 reg : {u32{NV_PGRAPH_PRI_CWD_FS}, ops()->gpc_tpc_id}) {
        lie({{reg, error_word}});
        EXPECT_EQ(open("sm_map").error, -EIO) << hex(reg);
        EXPECT_EQ(open("work_distributor").error, -EIO) << hex(reg);
    }
    lie({{ops()->sm_id, error_word}});
    EXPECT_EQ(open("sm_map").text, usual);
    EXPECT_EQ(open("work_distributor").error, -EIO);
    if (ops()->has_partitions) {
        lie({{NV_PGRAPH_PRI_CWD_PARTITION_CTL, error_word}});
        EXPECT_EQ(open("work_distributor").error, -EIO);
    }
    // more TPCs than there is room
    const u32 tpcs = NV_PGRAPH_PRI_CWD_FS_NUM_TPCS, most = 4 * ops()->gpc_tpc_words;
    const auto with = [&](u32 count) {
        return (fs & ~tpcs) | (count << __builtin_ctz(tpcs) & tpcs);
    };
    lie({{NV_PGRAPH_PRI_CWD_FS, with(most + 1)}});
    if (with(most + 1) >> __builtin_ctz(tpcs) != 0 && most < tpcs >> __builtin_ctz(tpcs)) {
        reads.clear();
        EXPECT_EQ(open("sm_map").error, -EIO);
        EXPECT_EQ(reads[ops()->gpc_tpc_id + 4 * ops()->gpc_tpc_words], 0);
        EXPECT_EQ(open("work_distributor").error, ops()->fitted ? -EIO : 0);
    }
    lie({{NV_PGRAPH_PRI_CWD_FS, with(0)}});
    EXPECT_EQ(open("sm_map").text, "# sm gpc tpc\n");
    EXPECT_EQ(open("work_distributor").error, 0);
}

/// Only words with a TPC are read for the map.
TEST_P(Sms, TakeAsManyWordsAsThereAreTpcs) {
    const auto rows = static_cast<u32>(std::ranges::count(open("sm_map").text, '\n')) - 1;
    const u32 tpcs = rows / ops()->sms_per_tpc;
    reads.clear();
    lie({});
    EXPECT_EQ(open("sm_map").error, 0);
    EXPECT_EQ(reads.size(), 1 + (tpcs + 3) / 4);
    EXPECT_EQ(reads[ops()->gpc_tpc_id + 4 * ((tpcs + 3) / 4)], 0);
}

INSTANTIATE_TEST_SUITE_P(Boards, Sms,
                         testing::Values("gtx980", "gtx1060-3gb", "titan-v", "a100", "h200",
                                         "b200"),
                         name_of_board);

} // namespace
} // namespace core
