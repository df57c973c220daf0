// SPDX-License-Identifier: MIT OR GPL-2.0
#include "map_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.hpp"
#include "text.hpp"

namespace nvtaskset {
namespace {

namespace fs = std::filesystem;

constexpr int probe_patience_ms = 120'000; // the first CUDA process after boot may take long
constexpr std::size_t map_bytes_max = 1 << 20;

std::string read_file(const fs::path &path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
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
