// SPDX-License-Identifier: MIT OR GPL-2.0
#include "sudo.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace nvdebug::base {
namespace {

std::string quoted_for_shell(const std::string &word) {
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("/._-+@%:,=").find(c) != std::string_view::npos;
    };
    if (std::ranges::all_of(word, is_plain))
        return word;
    std::string quoted = "'";
    for (const char c : word)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

} // namespace

std::string name_for_root(const std::string &program, const std::string &executable,
                          std::string_view path) {
    // The static program has another ending: nvqos-static.
    if (!std::filesystem::path(executable).filename().string().starts_with(program))
        return program;
    while (!path.empty()) {
        const std::string_view folder = path.substr(0, path.find(':'));
        path.remove_prefix(std::min(folder.size() + 1, path.size()));
        if (access((std::string(folder) + "/" + program).c_str(), X_OK) == 0)
            return program;
    }
    return quoted_for_shell(executable);
}

std::string name_for_root(const std::string &program) {
    std::error_code unknown;
    return name_for_root(program,
                         std::filesystem::read_symlink("/proc/self/exe", unknown).string());
}

} // namespace nvdebug::base
