// SPDX-License-Identifier: MIT OR GPL-2.0
// The effects of disable_channel and enable_channel, and the texts that they accept and refuse.
// tests/module/kselftest/proc_control.c has the way that a file takes a write, because that is the
// kernel's.
#include "bench.hpp"
#include "text.hpp"

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace core {
namespace {

constexpr unsigned most_targets = 256;
const std::array<std::string, 2> controls{"disable_channel", "enable_channel"};

struct Channel {
    unsigned runlist;
    unsigned id;
    auto operator<=>(const Channel &) const = default;
};
/// The state of channels: true if the channel is enabled.
using State = std::map<Channel, bool>;

class Targets : public OnBoard {
  protected:
    void SetUp() override {
        bench.machine.restart("mixed");
        find_enabled();
    }
    void find_enabled() {
        enabled.clear();
        for (const auto &[channel, on] : state())
            if (on)
                enabled.push_back(channel);
        ASSERT_GE(enabled.size(), 2U);
    }
    /// Returns the runlists that have files, because engines are on them.
    [[nodiscard]] std::vector<unsigned> runlists() {
        std::vector<unsigned> all;
        for (const nvmodel::RunlistRow &row : bench.machine.model().board().runlists)
            if (bench.has("runlist" + std::to_string(row.id) + "_brief"))
                all.push_back(row.id);
        return all;
    }
    /// Returns the state that the GPU has.
    State state() {
        State all;
        for (const nvmodel::ChannelProgress &one : bench.machine.model().progress())
            all[{one.runlist, one.channel}] = one.enabled;
        return all;
    }
    /// Returns the state that the files show.
    State shown() {
        State all;
        for (const unsigned runlist : runlists())
            for (Box &box :
                 of_kind(boxes(bench.text("runlist" + std::to_string(runlist) + "_brief")),
                         "Channel Info"))
                all[{runlist, *box.number}] = box.fields["Enabled"] == "1";
        return all;
    }
    /// Returns the target for this channel, with its number as it is written in `id`.
    std::string target(const Channel &channel, const std::string &id) {
        return bench.ids_per_runlist() ? std::to_string(channel.runlist) + ":" + id : id;
    }
    std::string target(const Channel &channel) {
        return target(channel, std::to_string(channel.id));
    }
    void take(bool enable, const std::string &text) {
        EXPECT_EQ(bench.write(controls[enable], text).error, 0) << text;
    }
    void set(const Channel &channel, bool on) { take(on, target(channel)); }
    void expect_only(State before, const std::vector<Channel> &changed, bool on) {
        for (const Channel &channel : changed)
            before[channel] = on;
        EXPECT_EQ(state(), before);
    }
    /// Writes the text to both controls, while the first channel has the opposite state. Each write
    /// fails with one of these errors and changes nothing.
    void refuse(const std::string &text, const std::vector<int> &errors) {
        for (const bool enable : {false, true}) {
            set(enabled[0], !enable);
            const State before = state();
            const int error = bench.write(controls[enable], text).error;
            EXPECT_TRUE(std::ranges::count(errors, error)) << "\"" << text << "\": " << error;
            EXPECT_EQ(state(), before) << "\"" << text << "\"";
        }
        set(enabled[0], true);
    }
    /// Replaces each '@' by the first channel's target, and expects a refusal.
    void refuse_with(std::string text, const std::vector<int> &errors) {
        for (std::size_t at = 0; (at = text.find('@', at)) != std::string::npos;)
            text.replace(at, 1, target(enabled[0]));
        refuse(text, errors);
    }
    /// Writes a target that no runlist holds. It may succeed if the hardware has such a channel,
    /// but it changes no channel of a list.
    void expect_nobody(const std::string &text) {
        const State before = state();
        const int error = bench.write("disable_channel", text).error;
        EXPECT_TRUE(!error || (error == -EINVAL && text.find(':') != std::string::npos)) << text;
        EXPECT_EQ(state(), before) << text;
    }
    [[nodiscard]] std::vector<unsigned> holders(unsigned id) {
        std::vector<unsigned> found;
        for (const auto &[channel, on] : state())
            if (channel.id == id)
                found.push_back(channel.runlist);
        return found;
    }

    std::vector<Channel> enabled;
};

// --- Effects ---

TEST_P(Targets, AreDisabledAndEnabled) {
    for (const Channel &channel : enabled) {
        const State before = state();
        for (const bool on : {false, true}) {
            set(channel, on);
            expect_only(before, {channel}, on);
            EXPECT_EQ(shown(), state());
            set(channel, on); // again
            expect_only(before, {channel}, on);
        }
    }
}

TEST_P(Targets, MayBeSeveralInOneWrite) {
    std::string text;
    for (const Channel &channel : enabled)
        text += target(channel) + "\n";
    const State before = state();
    for (const bool on : {false, true}) {
        take(on, text);
        expect_only(before, enabled, on);
    }
}

// --- Accepted texts ---

TEST_P(Targets, AreDecimalOrHexadecimal) {
    const Channel &channel = *std::ranges::max_element(enabled, {}, &Channel::id);
    const State before = state();
    for (const char *const format : {"%u", "%#x", "0x%X", "0X%x", "0x0000%x"}) {
        std::array<char, 32> id{};
        std::snprintf(id.data(), id.size(), format, channel.id);
        for (const bool on : {false, true}) {
            take(on, target(channel, id.data()));
            expect_only(before, {channel}, on);
        }
    }
    const std::string runlist = std::to_string(channel.runlist);
    take(false, runlist + ":" + std::to_string(channel.id));
    expect_only(before, {channel}, false);
    take(true, hex(channel.runlist) + ":" + hex(channel.id) + "\n");
    expect_only(before, {channel}, true);
    // A leading zero is refused, because the number could be octal or decimal.
    refuse(target(channel, "0" + std::to_string(channel.id)), {-EINVAL});
}

TEST_P(Targets, AreSeparatedByBlanksAndNewlines) {
    const std::string first = target(enabled[0]), second = target(enabled[1]);
    const State before = state();
    for (const std::string &text :
         {first + " " + second, first + "\n" + second, first + "\n" + second + "\n",
          "  " + first + "   " + second + "  ", "\n" + first + "\n\n" + second + " \n "})
        for (const bool on : {false, true}) {
            take(on, text);
            expect_only(before, {enabled[0], enabled[1]}, on);
        }
}

/// The write fails and changes nothing, or it succeeds and is done.
TEST_P(Targets, SignOrTabIsRefusedOrTaken) {
    const State before = state();
    for (const std::string &text :
         {"+" + target(enabled[0]), target(enabled[0]) + "\t", "\t" + target(enabled[0])}) {
        const int error = bench.write("disable_channel", text).error;
        EXPECT_TRUE(!error || error == -EINVAL) << text;
        expect_only(before, {enabled[0]}, error != 0);
        set(enabled[0], true);
    }
}

TEST_P(Targets, MayBe256InOneWrite) {
    std::string text;
    for (unsigned i = 0; i < most_targets; i++)
        text += target(enabled[0]) + " ";
    const State before = state();
    take(false, text);
    expect_only(before, {enabled[0]}, false);
    refuse(text + target(enabled[0]), {-E2BIG});
}

// --- Refused texts ---

TEST_P(Targets, JunkIsRefused) {
    for (const char *const text :
         {"",      " ",         "\n",    " \n \n  ", "x",    "@x",    "@ x", "x @",  "@,@",
          "@;",    "@.0",       "--@",   "@ -",      ":",    "@:",    ":@",  "0:",   ":0",
          "0:0:0", "0x",        "@ 0x",  "08",       "@ 0:", "all",   "*",   "0 :0", "0: 0",
          "1e1",   "@ @ @ @ y", "@\r\n", "0xg",      "@\n#", "\"@\"", "-1",  "-@",   "@ -1"})
        refuse_with(text, {-EINVAL});
    const std::string zero(1, '\0'), one = target(enabled[0]);
    for (const std::string &text : {one + zero, one + zero + " " + one, zero})
        refuse(text, {-EINVAL});
}

/// Each number would be this channel's if one of its bits were lost.
TEST_P(Targets, TooLargeNumbersAreRefused) {
    const Channel channel = enabled[0];
    std::array<char, 40> with_a_bit{};
    std::snprintf(with_a_bit.data(), with_a_bit.size(), "0x1%016x", channel.id);
    for (const std::string &id :
         {std::string("100000000000000000000"),
          std::to_string(bench.machine.model().board().channels),
          std::to_string((std::uint64_t{1} << 32) + channel.id), std::string(with_a_bit.data()),
          std::string("18446744073709551615"), hex((std::uint64_t{1} << 31) + channel.id)}) {
        const std::string large = target(channel, id);
        for (const std::string &text : {large, large + " @", "@\n" + large + "\n",
                                        std::to_string(channel.runlist) + ":" + id})
            refuse_with(text, {-ERANGE});
    }
    refuse_with("100000000000000000000:0", {-ERANGE});
    refuse_with("@ 0:100000000000000000000", {-ERANGE});
}

TEST_P(Targets, LastIdIsInRange) {
    const unsigned last = bench.machine.model().board().channels - 1;
    ASSERT_TRUE(holders(last).empty());
    expect_nobody(target(enabled[0], std::to_string(last)));
}

/// There is no such runlist, or the runlist holds no such channel.
TEST_P(Targets, WrongRunlistChangesNothing) {
    const Channel channel = enabled[0];
    const std::string id = std::to_string(channel.id);
    const std::vector<unsigned> held = holders(channel.id);
    const std::vector<unsigned> all = runlists();
    for (const unsigned runlist : all) {
        if (std::ranges::count(held, runlist))
            continue;
        const std::string other = std::to_string(runlist) + ":" + id;
        if (bench.ids_per_runlist()) {
            expect_nobody(other);
            continue;
        }
        refuse_with(other, {-EINVAL});
        refuse_with("@ " + other, {-EINVAL});
    }
    for (unsigned runlist = 0; runlist <= all.back() + 1; runlist++)
        if (!std::ranges::count(all, runlist))
            refuse(std::to_string(runlist) + ":" + id, {-EINVAL});
    refuse_with("@ 1000:" + id, {-EINVAL});
    // Both errors are right, because there is no such runlist and its number is large.
    refuse(std::to_string((std::uint64_t{1} << 32) + channel.runlist) + ":" + id,
           {-EINVAL, -ERANGE});
}

/// An id without a runlist is accepted if exactly one runlist holds it.
TEST_P(Targets, AmbiguousIdIsRefused) {
    if (bench.ids_per_runlist())
        bench.machine.restart("same-ids");
    find_enabled();
    std::size_t one = 0, several = 0;
    for (const Channel &channel : enabled) {
        const std::string id = std::to_string(channel.id);
        const bool alone = holders(channel.id).size() == 1;
        (alone ? one : several)++;
        if (!alone) {
            refuse(id, {-EINVAL});
            continue;
        }
        const State before = state();
        for (const bool on : {false, true}) {
            take(on, id);
            expect_only(before, {channel}, on);
        }
    }
    EXPECT_GT(one, 0U);
    EXPECT_EQ(several > 0, bench.ids_per_runlist());
    if (!bench.ids_per_runlist())
        return;
    unsigned free = 0;
    while (!holders(free).empty())
        free++;
    refuse_with(std::to_string(free), {-EINVAL});
    refuse_with("@ " + std::to_string(free), {-EINVAL});
}

INSTANTIATE_TEST_SUITE_P(All, Targets, testing::ValuesIn(cards), name_of_board);

} // namespace
} // namespace core
