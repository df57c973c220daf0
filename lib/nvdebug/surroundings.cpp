// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/surroundings.hpp"

#include <filesystem>
#include <fstream>
#include <sys/utsname.h>

namespace nvdebug {

namespace {

namespace fs = std::filesystem;

bool exists(const std::string &path) {
    std::error_code error;
    return fs::exists(path, error);
}

/// Returns the release of the running kernel, even where /proc does not show it.
std::string kernel_release(const std::string &root) {
    std::string release;
    std::ifstream file(root + "/proc/sys/kernel/osrelease");
    if (std::getline(file, release) || !root.empty())
        return release;
    utsname names;
    return uname(&names) == 0 ? names.release : "";
}

/// Returns whether the kernel is WSL's. Releases of WSL1 have "Microsoft", and releases of WSL2
/// "microsoft-standard-WSL2".
bool is_wsl(const std::string &release) {
    return release.find("icrosoft") != std::string::npos;
}

} // namespace

std::vector<Obstacle> obstacles(const std::string &root) {
    std::vector<Obstacle> found;
    if (is_wsl(kernel_release(root)))
        found.push_back({Obstacle::Kind::wsl,
                         "this is the Windows Subsystem for Linux: programs reach the GPU through "
                         "/dev/dxg, which shows neither registers nor NVIDIA's Linux driver, so "
                         "nvdebug can show nothing of it",
                         "start Linux on the machine itself; 'nvdebugctl --from FILE' reads "
                         "captures here, too"});
    if (!exists(root + "/proc/self/status"))
        found.push_back({Obstacle::Kind::no_proc,
                         "/proc is not mounted here, so neither the files of the nvdebug module "
                         "nor processes and rights can be seen",
                         "mount -t proc proc /proc, or start this where /proc is mounted"});
    else if (!exists(root + "/proc/sys"))
        found.push_back({Obstacle::Kind::processes_only,
                         "/proc shows processes alone here (subset=pid), so neither the files of "
                         "the nvdebug module nor those of NVIDIA's driver can be seen",
                         "mount /proc without subset=pid; for a service: ProcSubset=all"});
    if (!exists(root + "/sys/bus"))
        found.push_back({Obstacle::Kind::no_sys,
                         "/sys is not mounted here, so which GPUs, drivers and modules there are "
                         "cannot be seen",
                         "mount -t sysfs sysfs /sys, or start this where /sys is mounted"});
    return found;
}

std::string first_obstacle(const std::string &root) {
    const std::vector<Obstacle> found = obstacles(root);
    return found.empty() ? "" : found.front().finding + "; " + found.front().fix;
}

} // namespace nvdebug
