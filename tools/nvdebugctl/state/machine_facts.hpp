// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Facts of this machine about module, kernel, rights and GPUs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nvdebug/info.hpp"
#include "nvdebug/surroundings.hpp"

namespace nvdebugctl {

struct ModuleFacts {
    bool loaded = false;
    /// By values of /sys/module/nvdebug/parameters; a module of another make has others.
    std::map<std::string, std::string> parameters;
    std::optional<std::string> version;
    /// Built for the running kernel and known to modprobe: its place below /lib/modules/RELEASE.
    std::optional<std::string> installed_file;
};

struct KernelFacts {
    std::string release;
    bool headers = false; ///< /lib/modules/RELEASE/build leads somewhere
    /// The package that has them, where the kernel itself is of a package; empty: not known.
    std::optional<std::string> headers_package;
    std::optional<std::string>
        lockdown;                    ///< `none`, `integrity`, `confidentiality`; empty: no such LSM
    std::optional<bool> secure_boot; ///< empty: not an EFI machine, or not readable
    std::optional<bool> signatures_enforced; ///< module.sig_enforce
};

/// Of the process that asks.
struct Rights {
    bool root = false;
    bool sys_admin = false;      ///< CAP_SYS_ADMIN is effective
    bool user_namespace = false; ///< not the initial one: capabilities in it do not count
    std::vector<std::uint32_t> groups;
};

struct GpuFacts {
    std::string name;   ///< PCI address, or name of the platform device (integrated GPUs)
    std::string device; ///< its folder in /sys; empty: it has none
    std::string id;     ///< PCI vendor and device id, or what the device tree calls it
    std::optional<std::string> driver;
    std::optional<std::string> power;    ///< runtime PM: `active`, `suspended`, …
    std::optional<std::string> firmware; ///< GSP's, as NVIDIA's driver reports: empty without one
    std::optional<std::uint32_t> index;  ///< of its folder, if it has one
    std::optional<nvdebug::Info> info;
};

/// NVIDIA's driver as a source: nvdebug::Tree::driver().
struct DriverFacts {
    std::string source;  ///< `NVIDIA's driver 580.159.04`; empty: it cannot be asked
    std::string refused; ///< why it shows no GPU's state; empty: it does
    std::vector<std::string> left_over = {}; ///< describe_left_over() of all GPUs
};

/// Facts about the machine, not judged.
struct Machine {
    std::vector<nvdebug::Obstacle> obstacles; ///< what is hidden from this process

    bool has(nvdebug::Obstacle::Kind kind) const {
        return std::ranges::find(obstacles, kind, &nvdebug::Obstacle::kind) != obstacles.end();
    }

    ModuleFacts module;
    KernelFacts kernel;
    Rights rights;
    std::optional<DriverFacts> driver; ///< empty: it is not loaded
    std::vector<GpuFacts> gpus; ///< NVIDIA's display devices on PCI by address, integrated ones
};

/// @param root is put before every path: empty for the machine itself.
[[nodiscard]] Machine gather(const std::string &root);

/// Returns the same without GPUs and driver, of which none is accessed.
[[nodiscard]] Machine gather_without_gpus(const std::string &root);

/// The driver that may undo what the module writes to this GPU; empty: none is known.
[[nodiscard]] std::optional<std::string> controls_undone(const std::string &root,
                                                         const std::string &pci_address);

} // namespace nvdebugctl
