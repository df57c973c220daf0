// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpus.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "page.hpp"
#include "probe.hpp"

namespace nvtaskset {
namespace {

namespace fs = std::filesystem;

constexpr int probe_patience_ms = 120'000; // the first CUDA process after boot may take long
constexpr std::size_t map_bytes_max = 1 << 20;

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

fs::path maps_folder() {
    if (const char *const cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
        return fs::path(cache) / "nvtaskset";
    const char *const home = std::getenv("HOME");
    return home && *home == '/' ? fs::path(home) / ".cache/nvtaskset" : fs::path();
}

fs::path map_path(const Gpu &gpu) {
    const fs::path folder = maps_folder();
    return folder.empty() ? folder : folder / uuid_text(gpu.uuid);
}

/** No matter if it fails: then the next one probes, too. */
void keep(const Gpu &gpu, const GpuMap &map) {
    const fs::path path = map_path(gpu);
    std::error_code error;
    if (path.empty() || (fs::create_directories(path.parent_path(), error), error))
        return;
    const fs::path fresh = path.string() + "." + std::to_string(getpid());
    {
        std::ofstream file(fresh);
        file << map_text(map) << std::flush;
        if (!file)
            error = std::make_error_code(std::errc::io_error);
    }
    if (!error)
        fs::rename(fresh, path, error);
    if (error)
        fs::remove(fresh, error);
}

/** In a child: CUDA and what the probe puts into the environment end with it. */
Outcome<GpuMap> probe_apart(const Gpu &gpu, const std::string &driver) {
    const std::string library = injection_path();
    if (access(library.c_str(), R_OK) < 0)
        return fail("the library that keeps programs to a partition is missing: " + library);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return fail("no pipe to a process that asks the GPU");
    const pid_t child = fork();
    if (child < 0) {
        close(ends[0]);
        close(ends[1]);
        return fail("no process that asks the GPU");
    }
    if (child == 0) {
        close(ends[0]);
        const auto map = probe(gpu.uuid, gpu.pci_address, driver, library);
        const std::string text = map ? map_text(*map) : map.error();
        for (std::size_t done = 0; done < text.size();) {
            const ssize_t n = write(ends[1], text.data() + done, text.size() - done);
            if (n <= 0)
                break;
            done += static_cast<std::size_t>(n);
        }
        std::_Exit(map ? 0 : 1);
    }
    close(ends[1]);
    std::string text;
    bool late = false;
    for (char part[4096]; text.size() < map_bytes_max;) {
        pollfd ready{ends[0], POLLIN, 0};
        const int polled = poll(&ready, 1, probe_patience_ms);
        if (polled < 0 && errno == EINTR)
            continue;
        late = polled == 0;
        const ssize_t n = late ? 0 : read(ends[0], part, sizeof(part));
        if (n <= 0)
            break;
        text.append(part, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    if (late)
        kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (late)
        return fail("a kernel that asks which TPCs there are did not end in two minutes");
    if (WIFSIGNALED(status) || (WEXITSTATUS(status) && text.empty()))
        return fail("the process that asks the GPU ended unexpectedly (status " +
                    std::to_string(status) + ")");
    if (WEXITSTATUS(status))
        return fail(text);
    const auto map = parse_map(text);
    return map ? Outcome<GpuMap>(*map) : fail("the GPU's TPCs make no sense");
}

} // namespace

Outcome<std::string> driver_version() {
    const std::string text = read_file(driver_folder() + "/version");
    std::istringstream words(text);
    for (std::string word; words >> word;)
        if (std::ranges::count(word, '.') && word.find_first_not_of("0123456789.") == word.npos)
            return word;
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

std::string injection_path() {
    constexpr const char *name = "libnvtaskset.so";
    std::error_code error;
    const fs::path tool = fs::read_symlink("/proc/self/exe", error);
    const fs::path beside = tool.parent_path() / name;
    if (!error && fs::exists(beside, error))
        return beside;
    // PREFIX/bin and PREFIX/lib/nvtaskset
    return tool.parent_path().parent_path() / "lib/nvtaskset" / name;
}

Outcome<GpuMap> map_of(const Gpu &gpu, bool anew) {
    const auto driver = driver_version();
    if (!driver)
        return fail(driver.error());
    if (!anew)
        if (const auto map = parse_map(read_file(map_path(gpu)));
            map && map->uuid == gpu.uuid && map->driver == *driver)
            return *map;
    auto map = probe_apart(gpu, *driver);
    if (map)
        keep(gpu, *map);
    return map;
}

} // namespace nvtaskset
