// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Facts about this machine: its module, kernel, rights and GPUs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/info.hpp"
#include "nvdebug/jobs.hpp"
#include "nvdebug/surroundings.hpp"

namespace nvdebugctl {

struct ModuleFacts {
    bool loaded = false;
    /// The values of /sys/module/nvdebug/parameters by their names. Another project's module has
    /// others.
    std::map<std::string, std::string> parameters;
    std::optional<std::string> version;
    /// Path below /lib/modules/RELEASE of the module that modprobe knows for the running kernel.
    std::optional<std::string> installed_file;
};

struct KernelFacts {
    std::string release;
    bool headers = false; ///< /lib/modules/RELEASE/build exists
    /// The package that has the headers, if the kernel itself comes from a package; empty: not
    /// known.
    std::optional<std::string> headers_package;
    std::optional<std::string>
        lockdown; ///< `none`, `integrity`, `confidentiality`; empty: the kernel has no such LSM
    std::optional<bool> secure_boot;         ///< empty: no EFI machine, or not readable
    std::optional<bool> signatures_enforced; ///< module.sig_enforce
};

/// The rights of this process.
struct Rights {
    bool root = false;
    bool sys_admin = false;      ///< CAP_SYS_ADMIN is effective
    bool user_namespace = false; ///< it is not the initial one, so capabilities in it do not count
    std::vector<std::uint32_t> groups;
};

struct GpuFacts {
    std::string name;   ///< PCI address, or name of the platform device of an integrated GPU
    std::string device; ///< folder of the device in /sys; empty: none
    std::string id;     ///< PCI vendor and device id, or the name in the device tree
    std::optional<std::string> driver;
    std::optional<std::string> power; ///< runtime PM: `active`, `suspended`, …
    /// Version of GSP's firmware, from NVIDIA's driver; empty: none runs.
    std::optional<std::string> firmware;
    std::optional<std::uint32_t> index; ///< N of its /proc/gpuN; empty: none
    std::optional<nvdebug::Info> info;
};

/// NVIDIA's driver as a source, see nvdebug::Tree::driver().
struct DriverFacts {
    std::string source;  ///< `NVIDIA's driver 580.159.04`; empty: the driver cannot be asked
    std::string refused; ///< why the driver shows no GPU's state; empty: it does show state
    std::vector<std::string> not_shown = {}; ///< why it shows no state of some GPUs, if of others
    std::vector<std::string> left_over = {}; ///< the sentences of describe_left_over() for all GPUs
    std::vector<nvdebug::MeasuredJob> jobs = {}; ///< measure_shared_jobs() of a second
};

/// The facts about the machine. check/doctor.hpp judges them.
struct Machine {
    std::vector<nvdebug::Obstacle> obstacles; ///< obstacles that hide something from this process

    bool has(nvdebug::Obstacle::Kind kind) const {
        return std::ranges::find(obstacles, kind, &nvdebug::Obstacle::kind) != obstacles.end();
    }

    ModuleFacts module;
    KernelFacts kernel;
    Rights rights;
    std::optional<DriverFacts> driver; ///< empty: the driver is not loaded
    /// NVIDIA's display devices on PCI by address, then integrated GPUs.
    std::vector<GpuFacts> gpus;
};

/// Gathers the facts.
/// @param root is put before every path; empty: this machine
[[nodiscard]] Machine gather(const std::string &root);

/// Gathers the facts without the GPUs and the driver, and accesses neither.
[[nodiscard]] Machine gather_without_gpus(const std::string &root);

/// Returns a sentence if GSP's firmware may undo what the module writes to this GPU; empty: no such
/// firmware is known.
[[nodiscard]] std::optional<std::string> controls_undone(const std::string &root,
                                                         const std::string &pci_address);

} // namespace nvdebugctl
