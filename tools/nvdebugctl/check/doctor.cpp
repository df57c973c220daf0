// SPDX-License-Identifier: MIT OR GPL-2.0
#include "doctor.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "state/refusal.hpp"
#include "state/shared_jobs.hpp"

namespace nvdebugctl {

namespace {

using Findings = std::vector<Finding>;
using nvdebug::Obstacle;

/// Tells this project's module from another one of the same name: only this project's module has
/// the parameter.
bool is_ours(const Machine &machine) {
    return parameter(machine, "pram_window") != nullptr;
}

std::string how_to_install(const KernelFacts &kernel) {
    if (kernel.headers)
        return "install the package nvdebug-dkms, or run 'sudo make load' in the source tree";
    if (kernel.headers_package)
        return fmt::format("apt-get install {}, then install the package nvdebug-dkms",
                           *kernel.headers_package);
    return fmt::format(
        "install the headers of kernel {0} from where that kernel is from (they make "
        "/lib/modules/{0}/build), then the package nvdebug-dkms",
        kernel.release);
}

/// Returns whether NVIDIA's driver shows the GPUs' state, so that the module is not needed.
bool driver_suffices(const Machine &machine) {
    return machine.driver && machine.driver->refused.empty();
}

/// Returns whether findings about the module alone need no action.
bool needs_no_module(const Machine &machine) {
    return driver_suffices(machine) && !machine.module.loaded;
}

/// Adds the obstacles of this machine. Returns false if nothing else can be judged (WSL).
bool check_obstacles(const Machine &machine, Findings &findings) {
    for (const Obstacle &obstacle : machine.obstacles)
        findings.push_back(
            {obstacle.kind == Obstacle::Kind::wsl      ? "system"
             : obstacle.kind == Obstacle::Kind::no_sys ? "sys"
                                                       : "proc",
             obstacle.kind == Obstacle::Kind::wsl ? Verdict::trouble : Verdict::unknown,
             obstacle.finding, obstacle.fix});
    return !machine.has(Obstacle::Kind::wsl);
}

void check_driver(const Machine &machine, Findings &findings) {
    if (!machine.driver)
        return;
    if (driver_suffices(machine))
        findings.push_back(
            {"driver", Verdict::ok,
             fmt::format("{} shows lists, contexts, engines and processes, and changes what "
                         "processes have on the GPU; the module is not needed for that",
                         machine.driver->source),
             ""});
    else
        findings.push_back({"driver", Verdict::attention,
                            "NVIDIA's driver shows no state: " + machine.driver->refused, ""});
    for (const std::string &sentence : machine.driver->not_shown)
        findings.push_back({"driver", Verdict::attention, sentence, ""});
}

void check_left_over(const Machine &machine, Findings &findings) {
    if (machine.driver)
        for (const std::string &sentence : machine.driver->left_over)
            findings.push_back({"tasks", Verdict::attention, sentence, ""});
}

/// Returns JobTimes::together(); below 0: it is not known.
double together_of(const nvdebug::MeasuredJob &job) {
    return job.times ? job.times->together().value_or(-1) : -1;
}

/// Adds the jobs that share several GPUs and wait for these, because each GPU takes turns by itself.
void check_jobs(const Machine &machine, Findings &findings) {
    /// qos::enough_together: a job that runs together for a larger part of its time needs no windows.
    constexpr double enough = 0.85;
    if (!machine.driver)
        return;
    const std::vector<nvdebug::MeasuredJob> &jobs = machine.driver->jobs;
    for (const SharedGpus &shared : shared_gpus(jobs)) {
        std::vector<std::string> names, parts;
        bool waits = false;
        for (const std::size_t n : shared.jobs) {
            const double together = together_of(jobs[n]);
            names.push_back(name_of(jobs[n]));
            parts.push_back(together < 0 ? "not known" : fmt::format("{:.0f} %", 100 * together));
            waits = waits || (together >= 0 && together < enough);
        }
        if (waits)
            findings.push_back(
                {"jobs", Verdict::attention,
                 fmt::format("{} share GPUs {} without windows: together {}, the part of its time "
                             "in which all GPUs of a job run it",
                             fmt::join(names, " and "), fold_ids(shared.gpus),
                             fmt::join(parts, " and ")),
                 "give them goals with nvqos, which can let a job have all of its GPUs at once "
                 "(docs/gangs.md); or give each GPUs of its own"});
    }
}

void check_module(const Machine &machine, Findings &findings) {
    const ModuleFacts &module = machine.module;
    if (module.loaded && is_ours(machine)) {
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
    if (needs_no_module(machine)) {
        findings.push_back(
            {"module", Verdict::ok,
             "nvdebug is not loaded; it would add controls of single channels and of whole "
             "runlists, and translation of GPU addresses",
             "only for these: " + (module.installed_file ? "sudo modprobe nvdebug"
                                                         : how_to_install(machine.kernel))});
        return;
    }
    constexpr Verdict missing = Verdict::trouble;
    if (module.installed_file) {
        findings.push_back({"module", missing,
                            fmt::format("nvdebug is installed for kernel {} ({}) but not loaded",
                                        machine.kernel.release, *module.installed_file),
                            "sudo modprobe nvdebug; if it is refused, the reason is in the lines "
                            "below or in 'sudo dmesg'"});
        return;
    }
    findings.push_back({"module", missing,
                        fmt::format("nvdebug is not loaded, and not installed for kernel {}",
                                    machine.kernel.release),
                        how_to_install(machine.kernel)});
}

void check_signature(const Machine &machine, Findings &findings) {
    const KernelFacts &kernel = machine.kernel;
    const bool locked = kernel.lockdown && *kernel.lockdown != "none";
    if (needs_no_module(machine))
        return;
    if (!kernel.signatures_enforced.value_or(false) && !locked) {
        findings.push_back(
            {"signature", Verdict::ok, "this kernel loads modules that are not signed", ""});
        return;
    }
    const std::string why = kernel.secure_boot.value_or(false) ? "Secure Boot is on: " : "";
    const std::string rule = why + "this kernel loads only modules signed with a key it trusts";
    if (machine.module.loaded)
        findings.push_back({"signature", Verdict::ok, rule + ", and loaded nvdebug", ""});
    else
        findings.push_back({"signature", Verdict::attention, rule,
                            "enrol the key that dkms signs with: sudo mokutil --import "
                            "/var/lib/dkms/mok.pub, reboot, confirm (docs/install.md)"});
}

void check_lockdown(const Machine &machine, Findings &findings) {
    if (needs_no_module(machine))
        return;
    if (!machine.kernel.lockdown) {
        findings.push_back({"lockdown", Verdict::unknown,
                            "it is not known whether the kernel is locked down: there is no "
                            "/sys/kernel/security/lockdown",
                            "mount -t securityfs none /sys/kernel/security; a kernel without that "
                            "feature has no such file either"});
        return;
    }
    if (*machine.kernel.lockdown == "none") {
        findings.push_back({"lockdown", Verdict::ok, "the kernel is not locked down", ""});
        return;
    }
    findings.push_back(
        {"lockdown", Verdict::attention,
         fmt::format(
             "kernel lockdown is in force ({}): controls, translate and what needs the PRAMIN "
             "window moved are refused",
             *machine.kernel.lockdown),
         "a locked-down kernel stays so until reboot: turn Secure Boot off, or boot without "
         "lockdown=, where policy allows"});
}

void check_parameters(const Machine &machine, Findings &findings) {
    if (!is_ours(machine))
        return;
    if (is_set(machine, "read_only"))
        findings.push_back({"read_only", Verdict::attention,
                            "the module was loaded with read_only=1: "
                            "controls are refused",
                            "reload it without, if you mean to control"});
    const std::string *window = parameter(machine, "pram_window");
    if (window && *window == "never")
        findings.push_back(
            {"pram_window", Verdict::attention,
             "the module was loaded with pram_window=never: memory that no BAR shows "
             "cannot be read",
             "reload it with pram_window=auto if files fail with EOPNOTSUPP"});
}

bool may_read_state(const Machine &machine) {
    const Rights &rights = machine.rights;
    if (rights.root || is_set(machine, "state_all"))
        return true;
    const std::string *group = parameter(machine, "state_gid");
    return group && std::any_of(rights.groups.begin(), rights.groups.end(),
                                [&](std::uint32_t id) { return std::to_string(id) == *group; });
}

void check_rights(const Machine &machine, Findings &findings) {
    const std::string refused = rights_lacking(machine.rights);
    // NVIDIA's driver shows state only to processes that may also control.
    if (needs_no_module(machine) && refused.empty())
        findings.push_back({"rights", Verdict::ok, "you may read and control", ""});
    else if (!may_read_state(machine))
        findings.push_back({"rights", Verdict::attention,
                            "scheduling state (runlists, contexts, engines) is not readable for "
                            "you, topology is" +
                                (refused.empty() ? "" : "; " + refused),
                            "run as root, or load the module with state_gid=GID of a group of "
                            "yours to read"});
    else if (!refused.empty())
        findings.push_back({"rights", Verdict::attention, "you may read; " + refused,
                            "run controls as root outside of containers"});
    else if (const auto refusal = controls_refused(machine))
        findings.push_back(
            {"rights", Verdict::ok, "you may read; controls are refused: " + *refusal, ""});
    else
        findings.push_back({"rights", Verdict::ok, "you may read and control", ""});
}

Finding driver_finding(const Machine &machine, const GpuFacts &gpu) {
    if (!gpu.driver)
        return {
            gpu.name, Verdict::ok,
            "no driver is bound: what the runlists show was left by firmware or by a driver that "
            "was unloaded",
            ""};
    if (*gpu.driver == "vfio-pci")
        return {gpu.name, Verdict::attention,
                "vfio-pci: user space (a VM) drives it; 'tsg switch' is refused, and what a guest "
                "keeps "
                "in its own memory cannot be read",
                ""};
    if (gpu.firmware && !machine.module.loaded)
        return {gpu.name, Verdict::ok,
                fmt::format("driver {}, with GSP firmware {}", *gpu.driver, *gpu.firmware), ""};
    if (gpu.firmware)
        return {gpu.name, Verdict::attention,
                fmt::format(
                    "driver {}, with GSP firmware {}: the firmware submits runlists on its own, "
                    "and may undo what the module changes",
                    *gpu.driver, *gpu.firmware),
                "let the firmware change it ('nvdebugctl task', or --from driver); or, where the "
                "driver allows it (before Blackwell, not with the open modules): options nvidia "
                "NVreg_EnableGpuFirmware=0"};
    return {gpu.name, Verdict::ok, fmt::format("driver {}, without GSP firmware", *gpu.driver), ""};
}

void check_chip(const Machine &machine, const GpuFacts &gpu, Findings &findings) {
    if (!is_ours(machine) || machine.has(Obstacle::Kind::processes_only))
        return;
    if (!gpu.info) {
        findings.push_back({gpu.name, Verdict::trouble,
                            fmt::format("the module does not show this GPU ({})", gpu.id),
                            "the reason is in 'sudo dmesg | grep nvdebug': asleep, off the bus, or "
                            "not identified"});
        return;
    }
    if (!gpu.info->chip) {
        findings.push_back(
            {gpu.name, Verdict::trouble,
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
        findings.push_back({gpu.name, Verdict::ok, chip + ", every feature works", ""});
    else
        findings.push_back({gpu.name, Verdict::ok, chip + "; without " + missing, ""});
}

void check_window(const Machine &machine, const GpuFacts &gpu, Findings &findings) {
    const std::string *window = parameter(machine, "pram_window");
    // Integrated GPUs have no video memory, so the window would show nothing.
    if (gpu.info && gpu.info->platform_device)
        return;
    if (gpu.driver && window && *window == "auto")
        findings.push_back(
            {gpu.name, Verdict::attention,
             fmt::format(
                 "driver {} is bound, so the PRAMIN window is not moved: lists and contexts "
                 "in video memory that no BAR shows fail with EOPNOTSUPP",
                 *gpu.driver),
             "where they do, look while no driver is bound (docs/hardware.md, Known limits)"});
}

void check_power(const GpuFacts &gpu, Findings &findings) {
    if (gpu.power && *gpu.power == "suspended")
        findings.push_back({gpu.name, Verdict::attention,
                            "it is suspended to save power: live files fail with ENODEV until "
                            "something uses it",
                            fmt::format("echo on | sudo tee {}/power/control", gpu.device)});
}

} // namespace

Findings findings_about(const Machine &machine) {
    Findings findings;
    if (!check_obstacles(machine, findings))
        return findings;
    const bool sees_sys = !machine.has(Obstacle::Kind::no_sys);
    const bool has_no_gpu = machine.gpus.empty() && sees_sys;
    if (has_no_gpu)
        findings.push_back({"gpus", Verdict::trouble,
                            "this machine has no NVIDIA GPU, neither on PCI nor an integrated one "
                            "that the module supports",
                            "'nvdebugctl --from FILE' reads captures; the project's vm/run has "
                            "modelled GPUs"});
    // Rights come before installation, because often a user only has to become root.
    if (!machine.has(Obstacle::Kind::no_proc) && !has_no_gpu)
        check_rights(machine, findings);
    check_driver(machine, findings);
    check_left_over(machine, findings);
    check_jobs(machine, findings);
    // The module does nothing on a machine without a GPU, so it is judged there only if it is
    // loaded.
    if (sees_sys && (!has_no_gpu || machine.module.loaded)) {
        check_module(machine, findings);
        check_signature(machine, findings);
        check_lockdown(machine, findings);
        check_parameters(machine, findings);
    }
    for (const GpuFacts &gpu : machine.gpus) {
        check_chip(machine, gpu, findings);
        check_window(machine, gpu, findings);
        findings.push_back(driver_finding(machine, gpu));
        check_power(gpu, findings);
    }
    return findings;
}

namespace {

Outcome<Document> examine(Context &) {
    const std::vector<Finding> findings = findings_about(gather(""));
    Document document;
    Json rows = Json::array();
    for (const Finding &finding : findings)
        rows.push_back({{"subject", finding.subject},
                        {"verdict", name_of(finding.verdict)},
                        {"finding", finding.answer},
                        {"fix", finding.fix.empty() ? Json() : Json(finding.fix)}});
    document.data = {{"findings", rows}};
    document.rows = std::move(rows);
    if (std::ranges::count(findings, Verdict::trouble, &Finding::verdict))
        document.exit = refused;
    return document;
}

void show(const Json &data, Page &page) {
    for (const Json &finding : data["findings"]) {
        const std::string verdict = finding["verdict"];
        std::string line =
            verdict + std::string(verdict.size() < 11 ? 11 - verdict.size() : 1, ' ');
        line +=
            finding["subject"].get<std::string>() + ": " + finding["finding"].get<std::string>();
        page.line(verdict == "ok" ? line : page.warning(line), 11);
        if (!finding["fix"].is_null())
            page.line(std::string(11, ' ') + "fix: " + finding["fix"].get<std::string>());
    }
}

} // namespace

std::vector<Command> doctor_commands() {
    const std::vector<Column> columns = {
        {"subject", "what it is about; a GPU by its PCI address or platform device", "string"},
        {"verdict",
         "ok; unknown: this machine does not show it; attention: part of it does not work "
         "like this; trouble: nothing works until it is mended",
         "ok|unknown|attention|trouble"},
        {"finding", "what was found", "string"},
        {"fix", "what to do; null: nothing", "string?"}};
    return {
        {.object = "doctor",
         .verb = "",
         .help = "is everything in place? GPUs, rights, driver, module, signature, lockdown",
         .scope = Scope::nothing,
         .columns = columns,
         .fields = {{"findings",
                     "in the order in which to mend things: what is easiest to do first",
                     "[object]", fields_of(columns)}},
         .notes = {"Exit status 2 if there is trouble. It looks at the machine, not at captures.",
                   "If two jobs share several GPUs, it records their turns for a second, and names "
                   "jobs whose GPUs rarely run them at the same time (docs/gangs.md)."},
         .examples = {{"nvdebugctl doctor", "before asking for help"}},
         .run = examine,
         .text = show},
    };
}

} // namespace nvdebugctl
