// SPDX-License-Identifier: MIT OR GPL-2.0
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include "answer.hpp"
#include "lib/base/inherited.hpp"
#include "lib/base/printable.hpp"

namespace {

const char usage[] =
    "usage: lab/quotas/replay CASES.json (or - for stdin); docs/quotas.md has the format";

void say(const std::string &sentence) {
    std::fprintf(stderr, "replay: %s\n", nvdebug::base::printable(sentence).c_str());
}

int fail(const std::string &sentence) {
    say(sentence);
    return 1;
}

/** Reads a file. Returns false with errno set if it cannot be read. */
bool read(const std::string &path, std::string &text) {
    std::ifstream file;
    errno = 0;
    if (path != "-")
        file.open(path, std::ios::binary);
    std::istream &stream = path == "-" ? std::cin : file;
    std::string part(std::size_t{1} << 20, '\0');
    while (stream && text.size() <= quotas::limit::file_bytes) {
        stream.read(part.data(), static_cast<std::streamsize>(part.size()));
        text.append(part, 0, static_cast<std::size_t>(stream.gcount()));
    }
    return !stream.bad() && (!text.empty() || !errno);
}

int run(const std::string &path) {
    std::string text;
    if (!read(path, text))
        return fail(path + " cannot be read: " + std::strerror(errno ? errno : EIO));
    std::string all = "[";
    try {
        const std::vector<quotas::Case> cases = quotas::parse(text);
        for (std::size_t n = 0; n < cases.size(); n++) {
            quotas::Replayed found;
            std::string missing = cases[n].unsupported;
            if (missing.empty())
                found = quotas::replay(cases[n]);
            if (!found.failure.empty())
                missing = "[" + std::to_string(n) + "]: " + found.failure;
            if (!missing.empty())
                say(path + ": " + missing + "; the epochs of this case are null");
            all += (n ? ",\n" : "") +
                   quotas::answer(cases[n], missing.empty() ? &found.epochs : nullptr);
        }
    } catch (const nvdebug::base::Wrong &error) {
        return fail(path + ": " + error.sentence);
    }
    all += "]\n";
    errno = 0;
    if (std::fwrite(all.data(), 1, all.size(), stdout) != all.size() || std::fflush(stdout))
        return fail(std::string("stdout cannot be written: ") + std::strerror(errno ? errno : EIO));
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    nvdebug::base::survive_broken_pipes();
    if (argc == 2 && (std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h"))
        return std::puts(usage) < 0;
    if (argc != 2)
        return fail(usage);
    try {
        return run(argv[1]);
    } catch (const std::bad_alloc &) {
        return fail("out of memory");
    }
}
