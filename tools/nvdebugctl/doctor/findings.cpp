// SPDX-License-Identifier: MIT OR GPL-2.0
#include "doctor/findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace nvdebugctl::doctor {
namespace {

using Findings = std::vector<Finding>;

const std::string *parameter(const Facts &facts, const std::string &name) {
    const auto found = facts.module.parameters.find(name);
    return found == facts.module.parameters.end() ? nullptr : &found->second;
}

bool is_set(const Facts &facts, const std::string &name) {
    const std::string *value = parameter(facts, name);
    return value && *value == "Y";
}

/** A parameter that no other module of this name has. */
bool is_ours(const Facts &facts) {
    return parameter(facts, "pram_window") != nullptr;
}

void judge_module(const Facts &facts, Findings &findings) {
    const ModuleFacts &module = facts.module;
    if (module.loaded && is_ours(facts)) {
        findings.push_back({"module", Verdict::ok,
                            module.version ? fmt::format("nvdebug {} is loaded", *module.version)
                                           : "nvdebug is loaded",
                            ""});
        return;
    }
    if (module.loaded) {
        findings.push_back({"module", Verdict::trouble,
                            "another module named nvdebug is loaded, which is not this project's",
                            "sudo rmmod nvdebug, then load this one"});
        return;
    }
    if (module.installed_file) {
        findings.push_back(
            {"module", Verdict::trouble,
             fmt::format("nvdebug is installed for kernel {} ({}) but not loaded",
                         facts.kernel.release, *module.installed_file),
             "sudo modprobe nvdebug; if it is refused, the lines below and 'sudo dmesg' "
             "say why"});
        return;
    }
    findings.push_back(
        {"module", Verdict::trouble,
         fmt::format("nvdebug is not loaded, and not installed for kernel {}",
                     facts.kernel.release),
         facts.kernel.headers
             ? "install the package nvdebug-dkms, or run 'sudo make load' in the source tree"
             : fmt::format(
                   "install the kernel's headers (Debian: apt-get install linux-headers-{}), "
                   "then the package nvdebug-dkms",
                   facts.kernel.release)});
}

void judge_signature(const Facts &facts, Findings &findings) {
    const KernelFacts &kernel = facts.kernel;
    const bool locked = kernel.lockdown && *kernel.lockdown != "none";
    if (!kernel.signatures_enforced.value_or(false) && !locked) {
        findings.push_back(
            {"signature", Verdict::ok, "this kernel loads modules that are not signed", ""});
        return;
    }
    const std::string why = kernel.secure_boot.value_or(false) ? "Secure Boot is on: " : "";
    const std::string rule = why + "this kernel loads only modules signed with a key it trusts";
    if (facts.module.loaded)
        findings.push_back({"signature", Verdict::ok, rule + ", and loaded nvdebug", ""});
    else
        findings.push_back({"signature", Verdict::attention, rule,
                            "enrol the key that dkms signs with: sudo mokutil --import "
                            "/var/lib/dkms/mok.pub, reboot, confirm (docs/install.md)"});
}

void judge_lockdown(const Facts &facts, Findings &findings) {
    if (!facts.kernel.lockdown) {
        findings.push_back({"lockdown", Verdict::unknown,
                            "whether the kernel is locked down cannot be told: there is no "
                            "/sys/kernel/security/lockdown",
                            "mount -t securityfs none /sys/kernel/security; a kernel without that "
                            "feature has no such file either"});
        return;
    }
    if (*facts.kernel.lockdown == "none") {
        findings.push_back({"lockdown", Verdict::ok, "the kernel is not locked down", ""});
        return;
    }
    findings.push_back(
        {"lockdown", Verdict::attention,
         fmt::format(
             "kernel lockdown is in force ({}): controls, translate and what needs the PRAMIN "
             "window moved are refused",
             *facts.kernel.lockdown),
         "a locked-down kernel stays so until reboot: turn Secure Boot off, or boot without "
         "lockdown=, where policy allows"});
}

void judge_parameters(const Facts &facts, Findings &findings) {
    if (!is_ours(facts))
        return;
    if (is_set(facts, "read_only"))
        findings.push_back({"read_only", Verdict::attention,
                            "the module was loaded with read_only=1: "
                            "controls are refused",
                            "reload it without, if you mean to control"});
    const std::string *window = parameter(facts, "pram_window");
    if (window && *window == "never")
        findings.push_back(
            {"pram_window", Verdict::attention,
             "the module was loaded with pram_window=never: memory that no BAR shows "
             "cannot be read",
             "reload it with pram_window=auto if files fail with EOPNOTSUPP"});
    if (window && *window == "always")
        findings.push_back(
            {"pram_window", Verdict::attention,
             "the module was loaded with pram_window=always: it moves the PRAMIN window also "
             "while a driver is bound, whose page tables may then go to another place",
             "reload it without, unless you know that the driver leaves the window alone"});
}

bool may_read_state(const Facts &facts) {
    const Rights &rights = facts.rights;
    if (rights.root || is_set(facts, "state_all"))
        return true;
    const std::string *group = parameter(facts, "state_gid");
    return group && std::any_of(rights.groups.begin(), rights.groups.end(),
                                [&](std::uint32_t id) { return std::to_string(id) == *group; });
}

/** Why this process may not control, but for what the module and the kernel forbid everybody. */
std::string no_control(const Rights &rights) {
    if (rights.user_namespace)
        return "controls need CAP_SYS_ADMIN outside of this user namespace (container)";
    return rights.sys_admin ? "" : "controls need CAP_SYS_ADMIN";
}

void judge_rights(const Facts &facts, Findings &findings) {
    const std::string refused = no_control(facts.rights);
    if (!may_read_state(facts))
        findings.push_back({"rights", Verdict::attention,
                            "scheduling state (runlists, contexts, engines) is not readable for "
                            "you, topology is" +
                                (refused.empty() ? "" : "; " + refused),
                            "run as root, or load the module with state_gid=GID of a group of "
                            "yours to read"});
    else if (!refused.empty())
        findings.push_back({"rights", Verdict::attention, "you may read; " + refused,
                            "run controls as root outside of containers"});
    else
        findings.push_back({"rights", Verdict::ok,
                            "you have the rights to read and to control, where nothing above "
                            "forbids it to all",
                            ""});
}

Finding driver_finding(const GpuFacts &gpu) {
    if (!gpu.driver)
        return {gpu.pci_address, Verdict::ok,
                "no driver is bound: runlists are what firmware, or a driver that has gone, left",
                ""};
    if (*gpu.driver == "vfio-pci")
        return {gpu.pci_address, Verdict::attention,
                "vfio-pci: user space (a VM) drives it; 'tsg switch' is refused, and what a guest "
                "keeps "
                "in its own memory cannot be read",
                ""};
    if (gpu.firmware)
        return {gpu.pci_address, Verdict::attention,
                fmt::format(
                    "driver {}, with GSP firmware {}: the firmware submits runlists on its own, "
                    "and may undo controls",
                    *gpu.driver, *gpu.firmware),
                "where the driver allows it (before Blackwell, not with the open modules): "
                "options nvidia NVreg_EnableGpuFirmware=0"};
    return {gpu.pci_address, Verdict::ok,
            fmt::format("driver {}, without GSP firmware", *gpu.driver), ""};
}

void judge_chip(const Facts &facts, const GpuFacts &gpu, Findings &findings) {
    if (!is_ours(facts))
        return;
    if (!gpu.info) {
        findings.push_back({gpu.pci_address, Verdict::trouble,
                            fmt::format("the module does not show this GPU ({})", gpu.pci_id),
                            "'sudo dmesg | grep nvdebug' says why: asleep, off the bus, or not "
                            "identified"});
        return;
    }
    if (!gpu.info->chip) {
        findings.push_back(
            {gpu.pci_address, Verdict::trouble,
             fmt::format("gpu{}: chip {:#x} is unknown to this module", *gpu.index,
                         gpu.info->chip_id.value_or(0)),
             "a newer nvdebug may know it (docs/hardware.md lists what is supported)"});
        return;
    }
    std::string missing;
    for (const nvdebug::Feature &feature : gpu.info->features)
        if (!feature.available)
            missing +=
                fmt::format("{}{} ({})", missing.empty() ? "" : ", ", feature.name, feature.reason);
    const std::string chip = fmt::format("gpu{}: {} ({})", *gpu.index, *gpu.info->chip,
                                         gpu.info->generation.value_or("?"));
    if (missing.empty())
        findings.push_back({gpu.pci_address, Verdict::ok, chip + ", every feature works", ""});
    else
        findings.push_back({gpu.pci_address, Verdict::ok, chip + "; without " + missing, ""});
}

void judge_window(const Facts &facts, const GpuFacts &gpu, Findings &findings) {
    const std::string *window = parameter(facts, "pram_window");
    if (gpu.driver && window && *window == "auto")
        findings.push_back(
            {gpu.pci_address, Verdict::attention,
             fmt::format("driver {} is bound, so the PRAMIN window is not moved: lists and contexts "
                         "in video memory that no BAR shows fail with EOPNOTSUPP",
                         *gpu.driver),
             "where they do, look while no driver is bound (docs/hardware.md, Known limits)"});
}

void judge_power(const GpuFacts &gpu, Findings &findings) {
    if (gpu.power && *gpu.power == "suspended")
        findings.push_back({gpu.pci_address, Verdict::attention,
                            "it is suspended to save power: live files fail with ENODEV until "
                            "something uses it",
                            fmt::format("echo on | sudo tee /sys/bus/pci/devices/{}/power/control",
                                        gpu.pci_address)});
}

} // namespace

Findings judge(const Facts &facts) {
    Findings findings;
    judge_module(facts, findings);
    judge_signature(facts, findings);
    judge_lockdown(facts, findings);
    judge_parameters(facts, findings);
    judge_rights(facts, findings);
    if (facts.gpus.empty())
        findings.push_back({"gpus", Verdict::trouble,
                            "no NVIDIA GPU on the PCI bus of this machine",
                            "'nvdebugctl --from FILE' reads captures; the project's vm/run has "
                            "modelled GPUs"});
    for (const GpuFacts &gpu : facts.gpus) {
        judge_chip(facts, gpu, findings);
        judge_window(facts, gpu, findings);
        findings.push_back(driver_finding(gpu));
        judge_power(gpu, findings);
    }
    return findings;
}

const char *name_of(Verdict verdict) {
    switch (verdict) {
    case Verdict::ok:
        return "ok";
    case Verdict::unknown:
        return "unknown";
    case Verdict::attention:
        return "attention";
    case Verdict::trouble:
        return "trouble";
    }
    return "?";
}

} // namespace nvdebugctl::doctor
