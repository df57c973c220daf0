// SPDX-License-Identifier: MIT OR GPL-2.0
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "lib/base/inherited.hpp"
#include "lib/base/printable.hpp"
#include "scenarios.hpp"

namespace {

const char usage[] = "usage: quota-engine <SCENARIOS >OUTCOMES: a JSON object in each line; "
                     "docs/quotas.md has the format";

int fail(const std::string &sentence) {
    std::fprintf(stderr, "quota-engine: %s\n", nvdebug::base::printable(sentence).c_str());
    return 1;
}

/** Reads scenarios, and writes each outcome as soon as it is known. */
int run() {
    std::string line;
    for (std::size_t number = 1; std::getline(std::cin, line); number++) {
        try {
            const quotas::NamedScenario scenario = quotas::parse_scenario(line);
            const std::string text =
                quotas::text_of(scenario, engine::run(scenario.scenario)) + "\n";
            errno = 0;
            if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
                std::fflush(stdout))
                return fail(std::string("stdout cannot be written: ") +
                            std::strerror(errno ? errno : EIO));
        } catch (const nvdebug::base::Wrong &error) {
            return fail("line " + std::to_string(number) + " of stdin: " + error.sentence);
        }
    }
    return std::cin.bad() ? fail("stdin cannot be read") : 0;
}

} // namespace

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    nvdebug::base::survive_broken_pipes();
    if (argc == 2 && (std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h"))
        return std::puts(usage) < 0;
    if (argc != 1)
        return fail(usage);
    try {
        return run();
    } catch (const std::bad_alloc &) {
        return fail("out of memory");
    }
}
