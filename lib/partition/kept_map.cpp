// SPDX-License-Identifier: MIT OR GPL-2.0
#include "kept_map.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "folder.hpp"
#include "lib/base/private_path.hpp"
#include "text.hpp"
#include "variables.hpp"

namespace nvtaskset {

namespace fs = std::filesystem;
using nvdebug::base::is_private;

std::string maps_path() {
    if (geteuid() == 0)
        return runtime_path();
    std::error_code error;
    if (const char *const cache = variable("XDG_CACHE_HOME"); cache && *cache == '/') {
        fs::create_directories(cache, error);
        if (is_private(cache))
            return std::string(cache) + "/nvtaskset";
    } else if (const char *const home = variable("HOME"); home && *home == '/') {
        const std::string path = std::string(home) + "/.cache";
        if (is_private(home)) {
            fs::create_directory(path, error);
            if (is_private(path))
                return path + "/nvtaskset";
        }
    }
    return runtime_path();
}

std::optional<GpuMap> kept_map(const Uuid &uuid, const std::string &driver) {
    constexpr off_t map_bytes_max = 1 << 20;
    const std::string folder = maps_path();
    if (!is_private(folder))
        return std::nullopt;
    const int file = open((folder + "/" + uuid_text(uuid)).c_str(),
                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat found {};
    std::string text;
    if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
        (found.st_uid == geteuid() || found.st_uid == 0) && found.st_size <= map_bytes_max) {
        text.resize(static_cast<std::size_t>(found.st_size));
        const ssize_t n = read(file, text.data(), text.size());
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    }
    if (file >= 0)
        close(file);
    auto map = parse_map(text);
    return map && map->uuid == uuid && map->driver == driver ? std::move(map) : std::nullopt;
}

} // namespace nvtaskset
