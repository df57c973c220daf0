// SPDX-License-Identifier: MIT OR GPL-2.0
// The file `engines`, when registers of the engines have unusual words.
#include "views.hpp"

extern "C" {
#include "chips/chips.h"
#include "hw/pbdma.h"
#include "hw/pfifo.h"
#include "hw/ptop.h"
#include "hw/runlist.h"
}

#include <map>
#include <set>
#include <sstream>
#include <vector>

namespace core {
namespace {

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
    /// Returns the columns of GR0's line: engine, runlist, status, current, next, busy, faulted,
    /// reload and channel, then the columns of the PBDMAs.
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
    const std::string off = ampere ? "0" : "-"; // before Ampere only copy engines have faults
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

/// A status that changes between two reads is read again, four times at most. An idle engine is
/// read once.
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

TEST_P(Engines, ShowUnreadableRegisters) {
    std::map<u32, u32> values = idle();
    values[status] = error_word;
    lie(values);
    std::vector<std::string> all = line();
    EXPECT_EQ(std::vector<std::string>(all.begin() + 2, all.begin() + 9),
              (std::vector<std::string>{"unreadable", "-", "-", "-", "-", "-", "-"}));
    EXPECT_EQ(all.at(10).substr(0, 7), "invalid");
    // The status of a PBDMA cannot be read; its number is still shown.
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
    // The channel of a PBDMA cannot be read.
    values[pbdma[0]] = 1U << 13 | tsg() | 5;
    values[list->pbdma[0].base + NV_PPBDMA_CHANNEL] = error_word;
    lie(values);
    EXPECT_EQ(line().at(10).substr(0, 10), "unreadable");
    // No register can be read.
    machine.on_read = [](u32 offset) { return offset ? std::optional(error_word) : std::nullopt; };
    EXPECT_EQ(open("engines").error, -EIO);
    machine.on_read = [](u32) { return std::optional(~0U); };
    EXPECT_EQ(open("engines").error, -ENODEV);
}

/// A register that cannot be read at the first look can be read at the next looks.
TEST_P(Engines, AreReadAgainAfterAFailedLook) {
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

/// From Ampere on, an engine's channels have registers of their own.
TEST_P(Engines, ShowChannelsFromTheirOwnRegisters) {
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
    // There is one such register for each PBDMA.
    const u32 pbdmas = std::exchange(gpu()->topology.runlist[0].pbdmas, 1);
    reads.clear();
    machine.expected.clear();
    EXPECT_EQ(line().at(8), "-");
    EXPECT_EQ(reads[reg + 4] + std::ranges::count(machine.expected, reg + 4), 0);
    gpu()->topology.runlist[0].pbdmas = pbdmas;
}

/// All registers are announced before the first of them is read. The first look announces the
/// registers that show whether the engine is used, and then its channels; each further look
/// announces all registers at once.
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

/// The file can be read if the registers of the engine can be read, or the registers of one PBDMA.
TEST_P(Engines, AreShownIfSomeRegistersCanBeRead) {
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

/// No engine has a known register, and no PBDMA can be read.
TEST_P(Engines, FailIfNoRegisterCanBeRead) {
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
    EXPECT_EQ(channel(bit | 0x123, 0), "-"); // the channel that was on it last
    EXPECT_EQ(channel(0x123, valid), bit ? "-" : "291");
}

/// An engine has no register of its own, and its type has no name.
TEST_P(Engines, ShowUnknownTypesAndMissingRegisters) {
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

} // namespace
} // namespace core
