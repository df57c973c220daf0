// SPDX-License-Identifier: MIT OR GPL-2.0
// Parses command lines by a table.
#include "lib/cli/parse.hpp"

#include <gtest/gtest.h>

namespace {

using namespace nvdebug::cli;
using Words = std::vector<std::string>;

/// Returns a program without verbs, like nvqos.
Program keeper() {
    return {.name = "keeper",
            .version = "1",
            .help = "Keeps.",
            .verbs = {{.name = "",
                       .help = "",
                       .words = {"GOAL"},
                       .options = {{"--epoch", "how often", "TIME", "-e"},
                                   {"--gpu", "which", "N", "-g", {}, true},
                                   {"--scheme", "how", "NAME", "-s", {"first", "second"}},
                                   {.name = "--socket",
                                    .help = "where",
                                    .value = "PATH",
                                    .short_name = "-S",
                                    .place = Option::Place::sign},
                                   {"--json", "as JSON", "", "-j"},
                                   {"--quiet", "nothing", "", "-q"}},
                       .more = Verb::More::any}},
            .exit_status = "0.",
            .manual = ""};
}

/// Returns a program that runs another program, like nvtaskset.
Program starter() {
    return {.name = "starter",
            .version = "1",
            .help = "Starts.",
            .verbs = {{.name = "",
                       .help = "",
                       .options = {{.name = "--pid",
                                    .help = "of that",
                                    .value = "PID",
                                    .short_name = "-p",
                                    .place = Option::Place::later},
                                   {"--list", "all", "", "-l"},
                                   {"--tpcs", "these", "LIST", "-t"}},
                       .more = Verb::More::command}},
            .exit_status = "0.",
            .manual = "",
            .has_help_word = false};
}

/// Returns a program with verbs, like nvstgm.
Program analyst() {
    return {.name = "analyst",
            .version = "1",
            .help = "Looks.",
            .verbs = {{"check",
                       "looks",
                       {"SET"},
                       {{"--json", "as JSON", "", "-j"}, {"--offset", "when", "TIME"}}},
                      {"draw", "draws", {}, {{"--sets", "so many", "N", "-n"}}}},
            .exit_status = "0.",
            .manual = ""};
}

Parsed good(const Program &program, Words words) {
    Parsed parsed = parse(program, std::move(words));
    EXPECT_EQ(parsed.wrong, std::nullopt);
    return parsed;
}

std::string wrong(const Program &program, Words words) {
    return parse(program, std::move(words)).wrong.value_or("");
}

TEST(Parse, ValuesFollowTheirOptionInFourWays) {
    const Program program = keeper();
    for (const Words &words : {Words{"--epoch", "2s"}, {"--epoch=2s"}, {"-e", "2s"}, {"-e2s"}})
        EXPECT_EQ(good(program, words).arguments.text("--epoch"), "2s");
    EXPECT_EQ(good(program, {"--epoch=a=b"}).arguments.text("--epoch"), "a=b");
    EXPECT_EQ(good(program, {"--epoch", "-"}).arguments.text("--epoch"), "-");
    EXPECT_EQ(good(program, {"--epoch", "-4"}).arguments.text("--epoch"), "-4");
    EXPECT_EQ(good(program, {"--epoch=-j"}).arguments.text("--epoch"), "-j");
}

TEST(Parse, OptionsAndWordsMix) {
    const Program program = keeper();
    const auto arguments = good(program, {"a", "-jq", "b", "-e", "1s", "c"}).arguments;
    EXPECT_EQ(arguments.words, (Words{"a", "b", "c"}));
    EXPECT_TRUE(arguments.has("--json") && arguments.has("--quiet"));
    EXPECT_EQ(good(program, {"-jqe1s"}).arguments.text("--epoch"), "1s");
    EXPECT_EQ(good(program, {"--", "-j", "--", "--epoch"}).arguments.words,
              (Words{"-j", "--", "--epoch"}));
    EXPECT_EQ(good(program, {"-", ""}).arguments.words, (Words{"-", ""}));
}

TEST(Parse, AValueThatMayBeLeftOutStandsBehindASign) {
    const Program program = keeper();
    const auto without = good(program, {"--socket", "a"}).arguments;
    EXPECT_TRUE(without.has("--socket"));
    EXPECT_EQ(without.text("--socket", "x"), "");
    EXPECT_EQ(without.words, Words{"a"});
    EXPECT_EQ(good(program, {"--socket=/p"}).arguments.text("--socket"), "/p");
    EXPECT_EQ(good(program, {"-S/p"}).arguments.text("--socket"), "/p");
    EXPECT_EQ(wrong(program, {"--socket="}), "--socket takes a value: PATH");
}

TEST(Parse, RepeatedValuesKeepTheirOrder) {
    EXPECT_EQ(good(keeper(), {"-g", "1", "a", "--gpu=0"}).arguments.all("--gpu"),
              (Words{"1", "0"}));
    EXPECT_EQ(wrong(keeper(), {"-e1s", "--epoch", "2s"}), "--epoch is given twice");
    EXPECT_EQ(wrong(keeper(), {"-j", "--json"}), "");
}

TEST(Parse, ACommandEndsTheOptions) {
    const Program program = starter();
    const auto arguments = good(program, {"-t", "0", "sh", "-l", "--", "--tpcs"}).arguments;
    EXPECT_EQ(arguments.words, (Words{"sh", "-l", "--", "--tpcs"}));
    EXPECT_FALSE(arguments.has("--list"));
    EXPECT_EQ(good(program, {"-t0", "--", "-l"}).arguments.words, Words{"-l"});
    EXPECT_EQ(good(program, {"help"}).arguments.words, Words{"help"});
    // Words behind the command belong to it, even behind an unknown option.
    EXPECT_FALSE(parse(program, {"--foo", "sh", "--list"}).arguments.has("--list"));
}

TEST(Parse, ALaterValueIsTheFirstWordBehindOptions) {
    const Program program = starter();
    for (const Words &words : {Words{"-p", "47", "-t", "0"},
                               {"-p", "-t", "0", "47"},
                               {"-t", "0", "-p", "47"},
                               {"-t0", "--pid=47"},
                               {"-pt", "0", "47"}}) {
        const auto arguments = good(program, words).arguments;
        EXPECT_EQ(arguments.text("--pid"), "47");
        EXPECT_EQ(arguments.text("--tpcs"), "0");
        EXPECT_TRUE(arguments.words.empty());
    }
    EXPECT_EQ(wrong(program, {"-p"}), "--pid takes a value: PID");
    EXPECT_EQ(wrong(program, {"-p", "--", "47"}), "--pid takes a value: PID");
    EXPECT_EQ(good(program, {"-p", "47", "sh", "-l"}).arguments.words, (Words{"sh", "-l"}));
}

TEST(Parse, AMissingValueIsNotTheNextOption) {
    const Program program = keeper();
    for (const Words &words : {Words{"--epoch"},
                               {"--epoch", "--json"},
                               {"-e", "-j"},
                               {"--epoch="},
                               {"--epoch", ""},
                               {"--epoch", "--"},
                               {"-e", "--gpu=1"}})
        EXPECT_EQ(wrong(program, words), "--epoch takes a value: TIME") << words.back();
    EXPECT_EQ(wrong(program, {"--json=1"}), "--json takes no value");
    EXPECT_EQ(wrong(program, {"--help=1"}), "--help takes no value");
}

TEST(Parse, UnknownOptionsAreGuessed) {
    const Program program = keeper();
    EXPECT_EQ(wrong(program, {"--epcoh", "1s"}),
              "there is no option --epcoh (did you mean --epoch?); 'keeper --help' lists them");
    EXPECT_EQ(wrong(program, {"--epcoh=1s"}),
              "there is no option --epcoh (did you mean --epoch?); 'keeper --help' lists them");
    EXPECT_EQ(wrong(program, {"-json"}),
              "there is no option -json (did you mean --json?); 'keeper --help' lists them");
    EXPECT_EQ(wrong(program, {"-jx"}), "there is no option -x of -jx; 'keeper --help' lists them");
    EXPECT_EQ(wrong(program, {"-x"}), "there is no option -x; 'keeper --help' lists them");
    EXPECT_EQ(wrong(program, {"--versoin"}),
              "there is no option --versoin (did you mean --version?); 'keeper --help' lists them");
}

TEST(Parse, ChoicesAreChecked) {
    EXPECT_EQ(wrong(keeper(), {"-s", "fisrt"}),
              "--scheme is one of first, second, not 'fisrt' (did you mean 'first'?)");
    EXPECT_EQ(good(keeper(), {"-s", "SECOND"}).arguments.text("--scheme"), "second");
    EXPECT_EQ(wrong(keeper(), {"-s", "x"}), "--scheme is one of first, second, not 'x'");
}

TEST(Parse, HostileWordsMakeOneSentence) {
    const std::string lengthy(100'000, 'x');
    for (const Program &program : {keeper(), starter(), analyst()})
        for (const std::string &word :
             {std::string("--="), std::string("--=x"), std::string("-="), std::string("---"),
              std::string("--\x1b[2J"), std::string("-\xff"), std::string("--\xff\xfe=1"),
              "--" + lengthy, "-" + lengthy, std::string("--a\nb"), std::string("-\0x", 3)}) {
            const Parsed parsed = parse(program, {word});
            ASSERT_TRUE(parsed.wrong) << word.substr(0, 20);
            EXPECT_TRUE(parsed.wrong->starts_with("there is no option")) << *parsed.wrong;
            EXPECT_LT(parsed.wrong->size(), 300u);
            EXPECT_EQ(parsed.wrong->find_first_of("\n\x1b"), std::string::npos);
        }
    EXPECT_EQ(good(keeper(), {lengthy}).arguments.words, Words{lengthy});
    EXPECT_LT(wrong(analyst(), {lengthy}).size(), 300u);
    EXPECT_EQ(wrong(analyst(), {""}), "there is no command ''; 'analyst --help' lists them");
}

TEST(Parse, HelpAndVersionAreAnswersWhereNothingIsWrongBefore) {
    for (const Program &program : {keeper(), starter(), analyst()}) {
        for (const char *const word : {"-h", "--help"})
            EXPECT_EQ(good(program, {word}).asks, Parsed::Asks::help);
        for (const char *const word : {"-V", "--version"})
            EXPECT_EQ(good(program, {word}).asks, Parsed::Asks::version);
    }
    EXPECT_EQ(good(keeper(), {"a", "--help", "--foo"}).asks, Parsed::Asks::help);
    EXPECT_NE(wrong(keeper(), {"--foo", "--help"}), "");
    EXPECT_EQ(good(starter(), {"sh", "--help"}).asks, Parsed::Asks::answer);
    EXPECT_EQ(good(keeper(), {"help"}).asks, Parsed::Asks::help);
    EXPECT_EQ(good(keeper(), {"help", "--help"}).asks, Parsed::Asks::help);
    EXPECT_EQ(wrong(keeper(), {"help", "a"}), "'help' does not take 'a'");
}

TEST(Parse, FindsTheVerbBehindOptions) {
    const Program program = analyst();
    for (const Words &words :
         {Words{"check", "a", "-j"}, {"-j", "check", "a"}, {"--offset", "1", "check", "-j", "a"}}) {
        const Parsed parsed = good(program, words);
        ASSERT_TRUE(parsed.verb);
        EXPECT_EQ(parsed.verb->name, "check");
        EXPECT_EQ(parsed.arguments.words, Words{"a"});
        EXPECT_TRUE(parsed.json);
    }
    EXPECT_EQ(good(program, {"help", "draw"}).verb, &program.verbs[1]);
    EXPECT_EQ(good(program, {"draw", "-h"}).verb, &program.verbs[1]);
    EXPECT_EQ(good(program, {"-h"}).verb, nullptr);
}

TEST(Parse, UnknownVerbsAreGuessed) {
    const Program program = analyst();
    const std::string see = "; 'analyst --help' lists them";
    EXPECT_EQ(wrong(program, {"chek"}), "there is no command 'chek' (did you mean 'check'?)" + see);
    EXPECT_EQ(wrong(program, {"help", "drwa"}),
              "there is no command 'drwa' (did you mean 'draw'?)" + see);
    EXPECT_EQ(wrong(program, {}), "a command is missing" + see);
    EXPECT_EQ(wrong(program, {"-j"}), "a command is missing" + see);
    EXPECT_EQ(wrong(program, {"help", "draw", "x"}),
              "'help' takes one command, and not 'x' behind it");
}

TEST(Parse, CountsWords) {
    const Program program = analyst();
    EXPECT_EQ(wrong(program, {"check"}), "'check' takes SET; 'analyst check --help' says more");
    EXPECT_EQ(wrong(program, {"check", "a", "b"}),
              "'check' does not take 'b'; 'analyst check --help' says more");
    EXPECT_EQ(wrong(program, {"draw", "a"}),
              "'draw' does not take 'a'; 'analyst draw --help' says more");
    EXPECT_EQ(wrong(program, {"draw", "--offset", "1"}),
              "there is no option --offset; 'analyst draw --help' lists them");
}

TEST(Parse, JsonIsSeenWhateverElseIsWrong) {
    for (const Words &words : {Words{"-j", "--foo"},
                               {"--foo", "-j"},
                               {"--foo", "-qj"},
                               {"--epoch", "--json"},
                               {"-s", "x", "--json"}})
        EXPECT_TRUE(parse(keeper(), words).json && parse(keeper(), words).wrong) << words[0];
    EXPECT_TRUE(parse(analyst(), {"chek", "-j"}).json);
    EXPECT_FALSE(parse(keeper(), {"--", "-j"}).json);
}

TEST(Arguments, NumbersAndTimesAreSentencesOrValues) {
    const Program program = keeper();
    const auto arguments = good(program, {"-g7", "-e", "2"}).arguments;
    EXPECT_EQ(arguments.number("--gpu", 0, 0, 9), 7);
    EXPECT_EQ(arguments.number("--scheme", 3, 0, 9), 3);
    EXPECT_EQ(arguments.number("--gpu", 0, 0, 6).error(),
              "--gpu takes a whole number from 0 to 6, not '7'");
    EXPECT_EQ(arguments.time_ns("--epoch", 0, {.bare = "s"}), 2'000'000'000u);
    EXPECT_FALSE(arguments.time_ns("--epoch", 0, {}));
}

} // namespace
