// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/cli/main.hpp"

#include <cerrno>
#include <cstring>
#include <iostream>
#include <iterator>
#include <unistd.h>

#include "completion_scripts.hpp"
#include "lib/base/exit_status.hpp"
#include "lib/base/words.hpp"
#include "lib/cli/completion.hpp"
#include "lib/cli/help.hpp"
#include "lib/cli/manual.hpp"
#include "lib/cli/message.hpp"

namespace nvdebug::cli {
namespace {

using base::exit_status::bad_usage;
using base::exit_status::failed;

/// Returns the kind of error that an exit status stands for, as documents name it.
const char *code_of(int status) {
    switch (status) {
    case bad_usage:
        return "usage";
    case base::exit_status::refused:
        return "invalid";
    case base::exit_status::not_supported:
        return "unsupported";
    default:
        return "io";
    }
}

int answer(const Program &program, const std::string &text) {
    const int error = write_out(text);
    if (error && error != EPIPE)
        say(program.name, std::string("cannot write to stdout: ") + std::strerror(error));
    return error ? failed : base::exit_status::done;
}

/// Carries out `PROGRAM completion SHELL`.
int print_script(const Program &program, const std::vector<std::string> &words) {
    std::vector<std::string> shells;
    for (const ShellScript &one : shell_scripts) {
        shells.emplace_back(one.shell);
        if (words.size() != 2 || words[1] != one.shell)
            continue;
        constexpr std::string_view place = "@program@";
        std::string script = one.script;
        for (std::size_t at = 0; (at = script.find(place, at)) != script.npos;)
            script.replace(at, place.size(), program.name);
        return answer(program, script);
    }
    const std::string typed =
        words.size() == 2 ? ", not " + base::quote(words[1]) + base::guess(words[1], shells) : "";
    return refuse(program, false, bad_usage,
                  "completion takes the name of a shell, " + base::listed(shells, " or ") + typed);
}

} // namespace

int refuse(const Program &program, bool json, int status, const std::string &sentence) {
    say(program.name, sentence);
    if (json)
        static_cast<void>(
            write_out(error_json(program.name, program.version, code_of(status), sentence)));
    return status;
}

int run(const Program &program, const std::vector<std::string> &words,
        const std::function<int(const Parsed &)> &perform) {
    if (!words.empty() && words[0] == "__complete") {
        std::string lines;
        for (const std::string &line : completions(program, {words.begin() + 1, words.end()}))
            lines += line + "\n";
        return answer(program, lines);
    }
    if (!words.empty() && words[0] == "__manual") {
        const auto page = manual(program, {std::istreambuf_iterator<char>(std::cin), {}});
        return page ? answer(program, *page) : refuse(program, false, bad_usage, page.error());
    }
    if (!words.empty() && words[0] == "completion" && program.has_help_word)
        return print_script(program, words);
    const Parsed parsed = parse(program, words);
    if (parsed.wrong)
        return refuse(program, parsed.json, bad_usage, *parsed.wrong);
    if (parsed.asks == Parsed::Asks::help)
        return answer(program, help_text(program, parsed.verb, columns_of(STDOUT_FILENO)));
    if (parsed.asks == Parsed::Asks::version)
        return answer(program, program.name + " " + program.version + "\n");
    return perform(parsed);
}

} // namespace nvdebug::cli
