// SPDX-License-Identifier: MIT OR GPL-2.0
// A program that works without a verb, and also has verbs with names.
#include <gtest/gtest.h>

#include <algorithm>

#include "lib/cli/completion.hpp"
#include "lib/cli/help.hpp"
#include "lib/cli/manual.hpp"
#include "lib/cli/parse.hpp"

namespace {

using namespace nvdebug::cli;

const Program &goal_keeper() {
    static const Program program{
        .name = "keeper",
        .version = "1",
        .help = "Keep goals.",
        .verbs = {{.name = "",
                   .help = "",
                   .words = {"GOAL"},
                   .options = {{"--file", "goals of a file", "FILE"},
                               {"--json", "as JSON", "", "-j"}},
                   .more = Verb::More::any,
                   .candidates =
                       [](const std::string &) {
                           return std::vector<std::string>{"share:", "stated:"};
                       }},
                  {.name = "status",
                   .help = "what there is",
                   .options = {{"--json", "as JSON", "", "-j"}, {"--at", "there", "PATH"}}},
                  {.name = "list", .help = "who there is"}},
        .exit_status = "Exit status: 0."};
    return program;
}

std::string verb_of(const std::vector<std::string> &words) {
    const Parsed parsed = parse(goal_keeper(), words);
    EXPECT_FALSE(parsed.wrong) << *parsed.wrong;
    return parsed.verb ? parsed.verb->name : "none";
}

std::vector<std::string> offered(const std::vector<std::string> &words) {
    std::vector<std::string> found;
    for (const std::string &line : completions(goal_keeper(), words))
        found.push_back(line.substr(0, line.find('\t')));
    return found;
}

TEST(UnnamedVerb, IsMeantWhereNoOtherOneIsTyped) {
    EXPECT_EQ(verb_of({}), "");
    EXPECT_EQ(verb_of({"share:30%"}), "");
    EXPECT_EQ(verb_of({"--file", "list"}), "") << "that is a value";
    EXPECT_EQ(verb_of({"--", "list"}), "") << "that is a word";
    EXPECT_EQ(verb_of({""}), "");
    EXPECT_EQ(verb_of({"status", "-j"}), "status");
    EXPECT_EQ(verb_of({"-j", "status", "--at=x"}), "status");
    EXPECT_EQ(parse(goal_keeper(), {"share:30%", "list"}).arguments.words.size(), 2U);
}

TEST(UnnamedVerb, HasOptionsOfItsOwn) {
    EXPECT_TRUE(parse(goal_keeper(), {"status", "--file", "x"}).wrong);
    EXPECT_TRUE(parse(goal_keeper(), {"share:30%", "--at", "x"}).wrong);
    EXPECT_TRUE(parse(goal_keeper(), {"list", "x"}).wrong);
}

TEST(UnnamedVerb, HasHelpWithTheOthers) {
    const std::string all = help_text(goal_keeper(), nullptr, 80);
    EXPECT_EQ(all, help_text(goal_keeper(), parse(goal_keeper(), {"--help"}).verb, 80));
    for (const char *const part : {"Usage: keeper [OPTION]... [GOAL]...\n", "--file", "Commands:\n",
                                   "  status  what there is\n", "Exit status"})
        EXPECT_NE(all.find(part), all.npos) << part << all;
    const Parsed parsed = parse(goal_keeper(), {"help", "status"});
    ASSERT_TRUE(parsed.verb && !parsed.wrong);
    const std::string status = help_text(goal_keeper(), parsed.verb, 80);
    EXPECT_NE(status.find("keeper status [OPTION]..."), status.npos) << status;
    EXPECT_EQ(status.find("--file"), status.npos);
    EXPECT_TRUE(parse(goal_keeper(), {"help", ""}).wrong);
}

TEST(UnnamedVerb, IsCompletedWithTheOthers) {
    EXPECT_EQ(offered({""}), (std::vector<std::string>{"share:", "stated:", "status", "list"}));
    EXPECT_EQ(offered({"stat"}), (std::vector<std::string>{"stated:", "status"}));
    EXPECT_EQ(offered({"share:30%", "l"}), std::vector<std::string>{}) << "it stands first";
    EXPECT_EQ(offered({"--f"}), std::vector<std::string>{"--file"});
    EXPECT_EQ(offered({"--file", ""}), std::vector<std::string>{}) << "files";
    EXPECT_EQ(offered({"status", "--a"}), std::vector<std::string>{"--at"});
    EXPECT_EQ(offered({"help", "s"}), std::vector<std::string>{"status"});
}

TEST(UnnamedVerb, IsNoCommandOfTheManual) {
    const auto page = manual(goal_keeper(), "@commands\n");
    ASSERT_TRUE(page);
    EXPECT_EQ(page->find(".It Cm \n"), page->npos);
    EXPECT_NE(page->find(".It Cm status\n"), page->npos);
}

} // namespace
