// SPDX-License-Identifier: MIT OR GPL-2.0
#include "map_file.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "apart.hpp"
#include "lib/partition/folder.hpp"
#include "lib/partition/kept_map.hpp"
#include "lib/partition/text.hpp"
#include "probe.hpp"

namespace nvtaskset {
namespace {

namespace fs = std::filesystem;

constexpr unsigned written_by_others = 022;

/// Keeps the map in a file. If that fails, the next nvtaskset probes, too.
void keep(const Gpu &gpu, const GpuMap &map) {
    const auto folder = Folder::open(maps_path(), true, written_by_others);
    if (!folder)
        return;
    const std::string name = uuid_text(gpu.uuid), fresh = name + "." + std::to_string(getpid());
    const int file = openat(folder->descriptor(), fresh.c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    const std::string text = map_text(map);
    const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (close(file) < 0 || !whole ||
        renameat(folder->descriptor(), fresh.c_str(), folder->descriptor(), name.c_str()) < 0)
        unlinkat(folder->descriptor(), fresh.c_str(), 0);
}

/// Probes in a child, so that CUDA and the changes of the environment end with it.
Outcome<GpuMap> probe_apart(const Gpu &gpu, const std::string &driver) {
    const std::string library = injection_path();
    if (access(library.c_str(), R_OK) < 0)
        return fail("the library that keeps programs to a partition is not installed: " + library,
                    Exit::not_supported);
    const auto text = apart("a kernel that finds the TPCs", [&]() -> Outcome<std::string> {
        const auto map = probe(gpu.uuid, gpu.pci_address, driver, library);
        return map ? Outcome<std::string>(map_text(*map)) : fail(map.error());
    });
    if (!text)
        return fail(text.error());
    const auto map = parse_map(*text);
    return map ? Outcome<GpuMap>(*map) : fail("the GPU's TPCs contradict each other", Exit::failed);
}

} // namespace

std::string injection_path() {
    constexpr const char *name = "libnvtaskset.so";
    std::error_code error;
    const fs::path tool = fs::read_symlink("/proc/self/exe", error);
    const fs::path beside = tool.parent_path() / name;
    if (!error && fs::exists(beside, error))
        return beside;
    // The program is in PREFIX/bin, and the library in PREFIX/lib/nvtaskset.
    return tool.parent_path().parent_path() / "lib/nvtaskset" / name;
}

Outcome<GpuMap> map_of(const Gpu &gpu, bool anew) {
    const auto driver = driver_version();
    if (!driver)
        return fail(driver.error());
    if (!anew)
        if (const auto map = kept_map(gpu.uuid, *driver))
            return *map;
    auto map = probe_apart(gpu, *driver);
    if (map)
        keep(gpu, *map);
    return map;
}

} // namespace nvtaskset
