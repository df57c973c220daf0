// SPDX-License-Identifier: MIT OR GPL-2.0
#include "candidates.hpp"

#include <filesystem>
#include <fstream>

#include "lib/partition/gpus.hpp"

namespace nvtaskset {

std::vector<std::string> process_candidates(const std::string &) {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string pid = entry.path().filename();
        if (pid.find_first_not_of("0123456789") != pid.npos)
            continue;
        std::string command;
        std::getline(std::ifstream(entry.path() / "comm"), command);
        found.push_back(pid + "\t" + command);
    }
    return found;
}

std::vector<std::string> folder_candidates(const std::string &typed) {
    const std::size_t slash = typed.rfind('/');
    const std::string parent = slash == typed.npos ? "" : typed.substr(0, slash + 1);
    std::vector<std::string> found;
    std::error_code error;
    for (const auto &entry :
         std::filesystem::directory_iterator(parent.empty() ? "." : parent, error))
        if (entry.is_directory(error))
            found.push_back(parent + entry.path().filename().string() + "/");
    return found;
}

std::vector<std::string> gpu_candidates(const std::string &) {
    std::vector<std::string> all = {"all"};
    const auto found = Gpus::find();
    for (std::size_t n = 0; found && n < found->count(); n++)
        all.push_back(std::to_string(n) + "\t" + found->address(n));
    return all;
}

} // namespace nvtaskset
