// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpus.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "text.hpp"

namespace nvtaskset {
namespace {

namespace fs = std::filesystem;

/** Where the driver tells of itself; tests have another place. */
std::string driver_folder() {
    const char *const folder = std::getenv("NVTASKSET_DRIVER_FOLDER");
    return folder ? folder : "/proc/driver/nvidia";
}

std::string read_file(const fs::path &path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string first_word(const std::string &text) {
    return text.substr(0, text.find_first_of(" \n"));
}

/** `GPU UUID: \t GPU-…` */
std::string field(const std::string &text, std::string_view key) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(key))
            continue;
        const std::size_t begin = line.find_first_not_of(": \t", key.size());
        return begin == line.npos ? "" : line.substr(begin);
    }
    return "";
}

} // namespace

Outcome<std::string> driver_version() {
    const std::string text = read_file(driver_folder() + "/version");
    std::istringstream words(text);
    for (std::string word; words >> word;)
        if (std::ranges::count(word, '.') && word.find_first_not_of("0123456789.") == word.npos)
            return word + "@" + first_word(read_file("/proc/sys/kernel/random/boot_id"));
    return fail("NVIDIA's driver is not loaded (" + driver_folder() + "/version)");
}

Outcome<std::vector<Gpu>> gpus() {
    std::vector<Gpu> found;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(driver_folder() + "/gpus", error)) {
        const std::string text = read_file(entry.path() / "information");
        const auto uuid = parse_uuid(field(text, "GPU UUID"));
        if (!uuid)
            return fail("NVIDIA's driver does not say the UUID of the GPU at " +
                        entry.path().filename().string());
        found.push_back({*uuid, entry.path().filename().string(), field(text, "Model")});
    }
    if (found.empty())
        return fail("NVIDIA's driver has no GPU here (" + driver_folder() + "/gpus)");
    std::ranges::sort(found, {}, &Gpu::pci_address);
    return found;
}

Outcome<std::vector<Gpu>> select(const std::vector<Gpu> &all, const std::string &words) {
    if (words == "all")
        return all;
    std::vector<Gpu> chosen;
    std::istringstream parts(words);
    for (std::string word; std::getline(parts, word, ',');) {
        std::vector<Gpu> fit;
        for (std::size_t n = 0; n < all.size(); n++)
            if (word == std::to_string(n) || all[n].pci_address.ends_with(word) ||
                (word.starts_with("GPU-") && uuid_text(all[n].uuid).starts_with(word)))
                fit.push_back(all[n]);
        // A number is not the end of an address.
        if (fit.size() > 1 && word.find_first_not_of("0123456789") == word.npos)
            fit = {all[std::stoul(word)]};
        if (fit.size() != 1)
            return fail((fit.empty() ? "there is no GPU '" : "more than one GPU is '") + word +
                        "': here are 0 to " + std::to_string(all.size() - 1) + " ('nvtaskset --list')");
        if (std::ranges::none_of(chosen, [&](const Gpu &gpu) { return gpu.uuid == fit[0].uuid; }))
            chosen.push_back(fit[0]);
    }
    if (chosen.empty())
        return fail("no GPU is named");
    return chosen;
}

} // namespace nvtaskset
