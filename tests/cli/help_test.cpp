// SPDX-License-Identifier: MIT OR GPL-2.0
// Tests the texts that are made from a table: help, completion, man pages.
#include "lib/cli/help.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "lib/cli/completion.hpp"
#include "lib/cli/manual.hpp"
#include "lib/cli/message.hpp"

namespace {

using namespace nvdebug::cli;
using Words = std::vector<std::string>;

Program painter() {
    return {
        .name = "painter",
        .version = "1",
        .help = "Paints what there is, in as many colours as there are, until somebody asks it "
                "to stop or the paint is used up.",
        .verbs = {{"wall",
                   "paints a wall",
                   {"WALL"},
                   {{"--colour", "of the paint", "NAME", "-c", {"white", "blue"}},
                    {"--a-name-that-is-longer-than-its-column", "which it has, and which makes "
                                                                "a line of its own"},
                    {.name = "--secret", .help = "nothing", .hidden = true},
                    {.name = "--size", .help = "so many", .value = "N|N%", .heading = "Sizes:"},
                    {.name = "--socket",
                     .help = "where it listens",
                     .value = "PATH",
                     .place = Option::Place::sign}},
                   "Some notes\nof two lines.\n\n  one       a thing that is told beside its name, "
                   "at such a length that it "
                   "goes on below",
                   {{"painter wall north", "the north wall"}}},
                  {"copy",
                   "copies a picture",
                   {},
                   {{"--colour", "of the paint", "NAME", "-c", {"white", "blue"}}}},
                  {.name = "with",
                   .help = "paints with a program",
                   .words = {"COMMAND"},
                   .options = {{"--number", "of runs", "N", "-n"}, {"--quiet", "less", "", "-q"}},
                   .more = Verb::More::command}},
        .exit_status = "Exit status: 0.",
        .manual = "painter(1)"};
}

std::size_t longest_line(const std::string &text) {
    std::size_t longest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        longest = std::max(longest, line.size());
    return longest;
}

TEST(Help, FitsItsWidth) {
    const Program program = painter();
    for (const std::size_t width : {60u, 80u, 200u})
        for (const Verb *const verb : {static_cast<const Verb *>(nullptr), &program.verbs[0],
                                       &program.verbs[1], &program.verbs[2]})
            EXPECT_LE(longest_line(help_text(program, verb, width)), width);
    EXPECT_GT(longest_line(help_text(program, nullptr, 200)), 80u);
    // Help ends even if the terminal is too narrow.
    EXPECT_FALSE(help_text(program, &program.verbs[0], 0).empty());
}

TEST(Help, HasWhatTheTableHas) {
    const Program program = painter();
    const std::string text = help_text(program, &program.verbs[0], 100);
    for (const char *const part :
         {"Usage: painter wall [OPTION]... WALL\n", "Paints a wall.\n",
          "  -c, --colour NAME    of the paint: white (default), blue\n",
          "      --a-name-that-is-longer-than-its-column\n", "\n\nSizes:\n      --size N|N%",
          "--socket[=PATH]", "-h, --help", "-V, --version", "Some notes of two lines.",
          "\n  painter wall north\n      the north wall\n"})
        EXPECT_NE(text.find(part), text.npos) << part << text;
    EXPECT_EQ(text.find("--secret"), text.npos);
    const std::string all = help_text(program, nullptr, 100);
    for (const char *const part : {"painter COMMAND", "wall  paints a wall", "Manual: painter(1)"})
        EXPECT_NE(all.find(part), all.npos) << part << all;
    EXPECT_NE(help_text(program, &program.verbs[2], 80)
                  .find("painter with [OPTION]... COMMAND [ARGUMENT]..."),
              std::string::npos);
}

Words complete(const Words &words) {
    Words names;
    for (const std::string &line : completions(painter(), words))
        names.push_back(line.substr(0, line.find('\t')));
    return names;
}

TEST(Completion, VerbsOptionsAndValues) {
    EXPECT_EQ(complete({""}), (Words{"wall", "copy", "with", "help"}));
    EXPECT_EQ(complete({"w"}), (Words{"wall", "with"}));
    EXPECT_EQ(complete({"help", "c"}), Words{"copy"});
    EXPECT_EQ(complete({"-"}), (Words{"--help", "--version"}));
    EXPECT_EQ(complete({"wall", "--s"}), (Words{"--size", "--socket"}));
    EXPECT_EQ(complete({"wall", "--colour", ""}), (Words{"white", "blue"}));
    EXPECT_EQ(complete({"wall", "-c", "b"}), Words{"blue"});
    EXPECT_EQ(complete({"wall", "--colour=w"}), Words{"--colour=white"});
    EXPECT_EQ(complete({"-c", "blue", "w"}), (Words{"wall", "with"}));
    EXPECT_EQ(complete({"wall", "--", "--c"}), Words{});
    EXPECT_EQ(complete({"wall", "a"}), Words{});
    EXPECT_EQ(complete({"nothing", "-"}), Words{});
    EXPECT_EQ(complete({}), Words{});
    EXPECT_EQ(complete({"\xff", "--=", "-"}), Words{});
}

TEST(Completion, HandsOverWhereACommandBegins) {
    EXPECT_EQ(complete({"with", "ls"}), Words{"@1"});
    EXPECT_EQ(complete({"with", "-n", "3", "-q", "ls", "-l"}), Words{"@4"});
    EXPECT_EQ(complete({"with", "-qn", "3", "ls", ""}), Words{"@3"});
    EXPECT_EQ(complete({"with", "-n3", "--", "ls", ""}), Words{"@3"});
    EXPECT_EQ(complete({"with", "--n"}), Words{"--number"});
    EXPECT_EQ(complete({"with", "-n", ""}), Words{});
}

TEST(Manual, HasTheTablesPlaces) {
    const auto page = manual(painter(), "a\n@synopsis\n@commands\n@options\n@examples\nb\n");
    ASSERT_TRUE(page);
    for (const char *const part :
         {"a\n.Nm painter\n.Cm wall\n.Op Ar OPTION ...\n.Ar WALL\n",
          ".It Cm copy\nCopies a picture.\n", "Of\n.Cm wall , copy :\n",
          ".It Fl c , Fl Fl colour Ar NAME\nOf the paint.\n",
          ".It Fl Fl socket Ns Op = Ns Ar PATH\n", ".It Fl Fl size Ar N | N%\n",
          ".It Li painter wall north\n", "\nb\n"})
        EXPECT_NE(page->find(part), page->npos) << part << *page;
    EXPECT_EQ(page->find("secret"), page->npos);
}

TEST(Manual, APageWithProseHasEachOptionOnce) {
    Program program = painter();
    program.verbs = {{.name = "", .help = "", .options = {{"--size", "so many", "N", "-s"}}}};
    const std::string common = "@option --help\nPrints.\n@option --version\nPrints it.\n";
    const auto page = manual(program, "@option --size\nMany.\n" + common);
    ASSERT_TRUE(page) << page.error();
    EXPECT_TRUE(page->starts_with(".It Fl s , Fl Fl size Ar N\nMany.\n")) << *page;
    EXPECT_EQ(manual(program, common).error(), "the page lacks a line '@option --size'");
    EXPECT_FALSE(manual(program, "@option --size\n@option --size\n" + common));
    EXPECT_FALSE(manual(program, "@option --size\n@option --nothing\n" + common));
}

TEST(Message, ErrorsAreOneLineOfJson) {
    const std::string line = error_json("painter", "1", "usage", "no\n'\xff'");
    EXPECT_EQ(std::ranges::count(line, '\n'), 1);
    EXPECT_TRUE(line.starts_with(R"({"schema":"nvdebug/error","schema_version":")"));
    EXPECT_NE(line.find(R"("tool":"painter 1")"), line.npos);
    EXPECT_NE(line.find(R"("error":{"code":"usage","errno":null,"path":null,"message":"no\n')"),
              line.npos);
}

TEST(Message, ColumnsAreThoseOfTheEnvironment) {
    const auto with = [](const char *value) {
        setenv("COLUMNS", value, 1);
        const std::size_t columns = columns_of(-1);
        unsetenv("COLUMNS");
        return columns;
    };
    EXPECT_EQ(with("132"), 132u);
    for (const char *const text : {"", "0", "-3", "x", "99999999999", "80x"})
        EXPECT_EQ(with(text), 80u) << text;
    EXPECT_EQ(columns_of(-1), 80u);
}

} // namespace
