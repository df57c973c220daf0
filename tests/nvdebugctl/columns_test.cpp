// SPDX-License-Identifier: MIT OR GPL-2.0
// Names of columns: what a table shows can be typed back.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/command_line.hpp"
#include "cli/context.hpp"
#include "cli/page.hpp"
#include "commands.hpp"

using namespace nvdebugctl;

namespace {

/// The columns that `--columns @p typed` chooses, or the error that refuses it.
struct Chosen {
    std::vector<std::string> columns;
    std::string error;
};

Chosen choose(const Command &command, const std::string &typed) {
    static const std::vector<Object> objects = all_objects();
    std::vector<std::string> words = {command.object};
    if (!command.verb.empty())
        words.push_back(command.verb);
    words.insert(words.end(), {"--columns", typed});
    Invocation invocation;
    const auto parsed = parse_command_line(objects, words, invocation);
    return {invocation.columns, parsed ? "" : parsed.error().error.sentence};
}

const Command &command(std::string_view object, std::string_view verb) {
    static const std::vector<Object> objects = all_objects();
    return *find_command(*find_object(objects, object), verb);
}

} // namespace

TEST(Columns, EachHeadingChoosesItsColumn) {
    std::size_t tried = 0;
    for (const Object &object : all_objects())
        for (const Command &command : object.commands)
            for (const Column &column : command.columns) {
                const std::string heading = heading_of(column);
                // The heading with blanks, as a broken heading shows it.
                std::string blanks = heading;
                std::ranges::replace(blanks, '_', ' ');
                std::string lower = heading;
                std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
                    return static_cast<char>(std::tolower(letter));
                });
                for (const std::string &typed : {heading, blanks, lower, column.name}) {
                    EXPECT_EQ(choose(command, typed).columns, std::vector{column.name})
                        << command.name() << " " << typed;
                    tried++;
                }
            }
    EXPECT_GT(tried, 100u);
}

TEST(Columns, AnUnambiguousBeginningChoosesAColumn) {
    const Command &list = command("tsg", "list");
    using Names = std::vector<std::string>;
    EXPECT_EQ(choose(list, "share").columns, Names{"share_percent"}) << "the name without its unit";
    EXPECT_EQ(choose(list, "expected").columns, Names{"share_percent"});
    EXPECT_EQ(choose(list, "TIMES").columns, Names{"timeslice_us"});
    EXPECT_EQ(choose(list, "tsg,Timeslice").columns, (Names{"tsg", "timeslice_us"}));
}

TEST(Columns, UnknownWordsAreRefusedWithAGuess) {
    const Command &list = command("tsg", "list");
    EXPECT_NE(choose(list, "t").error.find("; it may be tsg, timeslice_us"), std::string::npos)
        << choose(list, "t").error;
    EXPECT_NE(choose(list, "timeslcie_us").error.find("did you mean 'timeslice_us'?"),
              std::string::npos);
    for (const char *typed : {"bogus", "tsg,", ",tsg", " "}) {
        const Chosen chosen = choose(list, typed);
        EXPECT_NE(chosen.error.find("--columns help' lists them"), std::string::npos) << typed;
    }
}
