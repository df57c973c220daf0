// SPDX-License-Identifier: MIT OR GPL-2.0
#include "hook_program.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/container_device.hpp"
#include "lib/base/input_file.hpp"
#include "lib/base/new_file.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/words.hpp"

namespace nvdebug::kubernetes {
namespace {

constexpr const char *usual_program = "/usr/bin/nvqos";
constexpr mode_t of_program = 0755;
constexpr std::size_t longest_program = 256 << 20;

/// Writes a program that appears whole. Returns 0, or the errno.
int write_program(const std::string &path, const std::string &bytes) {
    auto file = base::NewFile::make(path);
    if (!file)
        return file.error();
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t sent = ::write(file->descriptor(), bytes.data() + done, bytes.size() - done);
        if (sent < 0 && errno != EINTR)
            return errno;
        done += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
    }
    return ::fchmod(file->descriptor(), of_program) ? errno : file->appear();
}

} // namespace

std::vector<cli::Option> options_of_hook() {
    return {{"--nvqos", fmt::format("the program nvqos of the node (default: {})", usual_program),
             "PATH"},
            {"--copy-nvqos", "copies this program to the path of --nvqos first", "PATH"}};
}

Outcome<std::string> path_of(const cli::Arguments &arguments, const std::string &option,
                             const std::string &otherwise) {
    std::string path = arguments.text(option, otherwise);
    if (!path.starts_with('/'))
        return fail(
            base::exit_status::bad_usage,
            fmt::format("{} takes a path from the root on, not {}", option, base::quote(path)));
    return path;
}

Outcome<std::string> hook_program(const cli::Arguments &arguments) {
    auto program = path_of(arguments, "--nvqos", usual_program);
    if (!program || !arguments.has("--copy-nvqos"))
        return program;
    const auto source = path_of(arguments, "--copy-nvqos", "");
    if (!source)
        return source;
    const auto bytes = base::read_whole(*source, longest_program);
    if (!bytes)
        return fail(of_file(bytes.error().error), bytes.error().sentence);
    struct stat about {};
    const bool is_there = ::stat(program->c_str(), &about) == 0 &&
                          (about.st_mode & ALLPERMS) == of_program &&
                          base::read_whole(*program, longest_program) == *bytes;
    if (const int error = is_there ? 0 : write_program(*program, *bytes))
        return fail(of_file(error),
                    fmt::format("cannot write {}: {}; --nvqos names another path",
                                base::printable(*program), ::strerrordesc_np(error)));
    if (const auto expected = base::expect_private(*program); !expected)
        return fail(base::exit_status::refused, expected.error());
    return program;
}

} // namespace nvdebug::kubernetes
