// SPDX-License-Identifier: MIT OR GPL-2.0
#include "doctor.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "command.hpp"
#include "json.hpp"
#include "nvdebug/gpu.hpp"
#include "page.hpp"

namespace nvdebugctl {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNvidia = "0x10de";
constexpr std::string_view kDisplayClass = "0x03";
/** Integrated GPUs that the module knows, as device trees call them. */
constexpr std::array kIntegrated = {"nvidia,gp10b", "nvidia,gv11b", "nvidia,ga10b"};
constexpr unsigned kCapSysAdmin = 21;
constexpr std::string_view kSecureBoot =
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
/** The variable's value comes after four bytes of attributes. */
constexpr std::size_t kEfiAttributes = 4;

std::optional<std::string> text_of(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string trimmed(std::string text) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
    text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), blank));
    text.erase(std::find_if_not(text.rbegin(), text.rend(), blank).base(), text.end());
    return text;
}

/** The only line of a small file. */
std::optional<std::string> word_of(const fs::path &path) {
    auto text = text_of(path);
    return text ? std::optional(trimmed(*text)) : std::nullopt;
}

/** What follows `KEY:` in a file of such lines. */
std::optional<std::string> value_of(const std::string &text, std::string_view key) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':')
            return trimmed(line.substr(key.size() + 1));
    return std::nullopt;
}

std::vector<fs::path> entries_of(const fs::path &folder) {
    std::error_code error;
    std::vector<fs::path> paths;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
        paths.push_back(it->path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

std::optional<std::string> link_name(const fs::path &link) {
    std::error_code error;
    const fs::path target = fs::read_symlink(link, error);
    return error ? std::nullopt : std::optional(target.filename().string());
}

std::optional<std::string> installed_module(const std::string &root, const std::string &release) {
    std::ifstream dependencies(root + "/lib/modules/" + release + "/modules.dep");
    for (std::string line; std::getline(dependencies, line);) {
        const std::string file = line.substr(0, line.find(':'));
        if (fs::path(file).filename().string().starts_with("nvdebug.ko"))
            return file;
    }
    return std::nullopt;
}

ModuleFacts module_facts(const std::string &root, const std::string &release) {
    ModuleFacts facts;
    const fs::path folder = root + "/sys/module/nvdebug";
    std::error_code error;
    facts.loaded = fs::is_directory(folder, error);
    facts.version = word_of(folder / "version");
    for (const fs::path &parameter : entries_of(folder / "parameters"))
        if (auto value = word_of(parameter))
            facts.parameters[parameter.filename()] = *value;
    facts.installed_file = installed_module(root, release);
    return facts;
}

/** `none [integrity] confidentiality`: the word in brackets. */
std::optional<std::string> chosen(const std::optional<std::string> &text) {
    if (!text)
        return std::nullopt;
    const auto open = text->find('['), close = text->find(']');
    if (open == std::string::npos || close == std::string::npos || close < open)
        return std::nullopt;
    return text->substr(open + 1, close - open - 1);
}

/** Distributions name the package of a kernel's headers after it; any other kernel has none. */
std::optional<std::string> headers_package(const std::string &root, const std::string &release) {
    if (release.ends_with("-tegra"))
        return "nvidia-l4t-kernel-headers";
    std::error_code error;
    for (const char *const image : {"linux-image-", "linux-image-unsigned-"})
        if (fs::exists(root + "/usr/share/doc/" + image + release, error))
            return "linux-headers-" + release;
    return std::nullopt;
}

KernelFacts kernel_facts(const std::string &root) {
    KernelFacts facts;
    facts.release = word_of(root + "/proc/sys/kernel/osrelease").value_or("");
    std::error_code error;
    facts.headers = fs::exists(root + "/lib/modules/" + facts.release + "/build", error);
    facts.headers_package = headers_package(root, facts.release);
    facts.lockdown = chosen(word_of(root + "/sys/kernel/security/lockdown"));
    if (const auto variable = text_of(root + std::string(kSecureBoot));
        variable && variable->size() > kEfiAttributes)
        facts.secure_boot = (*variable)[kEfiAttributes] == 1;
    if (const auto enforced = word_of(root + "/sys/module/module/parameters/sig_enforce"))
        facts.signatures_enforced = *enforced == "Y";
    return facts;
}

Rights rights_of(const std::string &root) {
    Rights rights;
    const std::string status = text_of(root + "/proc/self/status").value_or("");
    std::istringstream uids(value_of(status, "Uid").value_or(""));
    std::uint32_t real, effective;
    rights.root = uids >> real >> effective && effective == 0;
    const std::string mask = value_of(status, "CapEff").value_or("");
    std::uint64_t capabilities = 0;
    std::from_chars(mask.data(), mask.data() + mask.size(), capabilities, 16);
    rights.sys_admin = capabilities >> kCapSysAdmin & 1;
    std::istringstream groups(value_of(status, "Groups").value_or("") + " " +
                              value_of(status, "Gid").value_or(""));
    rights.groups.assign(std::istream_iterator<std::uint32_t>(groups), {});
    // The initial user namespace maps every id to itself.
    std::istringstream map(text_of(root + "/proc/self/uid_map").value_or("0 0 4294967295"));
    std::uint64_t inside = 0, outside = 0, count = 0;
    map >> inside >> outside >> count;
    rights.user_namespace = inside != 0 || outside != 0 || count != 4294967295;
    return rights;
}

std::optional<std::string> gsp_firmware(const std::string &root, const std::string &address) {
    const auto text = text_of(root + "/proc/driver/nvidia/gpus/" + address + "/information");
    if (!text)
        return std::nullopt;
    auto firmware = value_of(*text, "GPU Firmware");
    return firmware && *firmware != "N/A" ? firmware : std::nullopt;
}

/** What every device says of itself. */
GpuFacts device_facts(const std::string &root, const fs::path &device, std::string id) {
    return {.name = device.filename(),
            .device = device.string().substr(root.size()),
            .id = std::move(id),
            .driver = link_name(device / "driver"),
            .power = word_of(device / "power/runtime_status")};
}

void add_pci(const std::string &root, std::vector<GpuFacts> &gpus) {
    for (const fs::path &device : entries_of(root + "/sys/bus/pci/devices")) {
        const std::string vendor = word_of(device / "vendor").value_or("");
        if (vendor != kNvidia || !word_of(device / "class").value_or("").starts_with(kDisplayClass))
            continue;
        const std::string id = word_of(device / "device").value_or("0x????");
        GpuFacts &gpu = gpus.emplace_back(
            device_facts(root, device, "10de:" + id.substr(std::min<std::size_t>(2, id.size()))));
        gpu.firmware = gsp_firmware(root, gpu.name);
    }
}

void add_integrated(const std::string &root, std::vector<GpuFacts> &gpus) {
    for (const fs::path &device : entries_of(root + "/sys/bus/platform/devices")) {
        // Strings with a zero after each.
        const std::string names = '\0' + text_of(device / "of_node/compatible").value_or("") + '\0';
        for (const std::string known : kIntegrated)
            if (names.find('\0' + known + '\0') != names.npos)
                gpus.push_back(device_facts(root, device, known));
    }
}

/** Which folder belongs to which GPU. One that /sys does not show is known by its folder alone. */
void add_folders(const std::string &root, std::vector<GpuFacts> &gpus) {
    const auto tree = nvdebug::Tree::folder(root + "/proc");
    if (!tree)
        return;
    const auto folders = nvdebug::gpus(*tree);
    if (!folders)
        return;
    for (const nvdebug::Gpu &folder : *folders) {
        auto info = folder.info();
        if (!info)
            continue;
        const auto &name = info->pci_address ? info->pci_address : info->platform_device;
        if (!name)
            continue;
        auto gpu = std::ranges::find(gpus, *name, &GpuFacts::name);
        if (gpu == gpus.end())
            gpu =
                gpus.insert(gpus.end(), {.name = *name,
                                         .id = info->compatible.value_or(info->pci_id.value_or("")),
                                         .driver = info->driver});
        gpu->index = folder.index();
        gpu->info = std::move(*info);
    }
}

std::optional<DriverFacts> driver_facts(const std::string &root) {
    std::error_code error;
    if (!fs::is_directory(root + "/sys/module/nvidia", error))
        return std::nullopt;
    const auto tree = nvdebug::Tree::driver();
    if (!tree)
        return DriverFacts{"", tree.error().sentence};
    DriverFacts facts;
    facts.source = tree->facts().at("source");
    const auto gpus = nvdebug::gpus(*tree);
    if (!gpus || gpus->empty())
        facts.refused = gpus ? "it has no GPU" : gpus.error().sentence;
    else if (const auto engines = gpus->front().engines(); !engines)
        facts.refused = engines.error().sentence;
    return facts;
}

} // namespace

Machine gather(const std::string &root) {
    Machine machine;
    machine.kernel = kernel_facts(root);
    machine.module = module_facts(root, machine.kernel.release);
    machine.rights = rights_of(root);
    machine.driver = driver_facts(root);
    add_pci(root, machine.gpus);
    add_integrated(root, machine.gpus);
    if (machine.module.loaded)
        add_folders(root, machine.gpus);
    return machine;
}

namespace {

using Findings = std::vector<Finding>;

const std::string *parameter(const Machine &machine, const std::string &name) {
    const auto found = machine.module.parameters.find(name);
    return found == machine.module.parameters.end() ? nullptr : &found->second;
}

bool is_set(const Machine &machine, const std::string &name) {
    const std::string *value = parameter(machine, name);
    return value && *value == "Y";
}

/** A parameter that no other module of this name has. */
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

/** Without the module. */
bool is_readable(const Machine &machine) {
    return machine.driver && machine.driver->refused.empty();
}

void judge_driver(const Machine &machine, Findings &findings) {
    if (!machine.driver)
        return;
    if (is_readable(machine))
        findings.push_back({"driver", Verdict::ok,
                            fmt::format("{} shows state without the module: --from driver",
                                        machine.driver->source),
                            ""});
    else
        findings.push_back({"driver", Verdict::attention,
                            "NVIDIA's driver shows no state: " + machine.driver->refused, ""});
}

void judge_module(const Machine &machine, Findings &findings) {
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
    // Where NVIDIA's driver shows the same, only controls are missing.
    const Verdict missing = is_readable(machine) ? Verdict::attention : Verdict::trouble;
    if (module.installed_file) {
        findings.push_back(
            {"module", missing,
             fmt::format("nvdebug is installed for kernel {} ({}) but not loaded",
                         machine.kernel.release, *module.installed_file),
             "sudo modprobe nvdebug; if it is refused, the lines below and 'sudo dmesg' "
             "say why"});
        return;
    }
    findings.push_back({"module", missing,
                        fmt::format("nvdebug is not loaded, and not installed for kernel {}",
                                    machine.kernel.release),
                        how_to_install(machine.kernel)});
}

void judge_signature(const Machine &machine, Findings &findings) {
    const KernelFacts &kernel = machine.kernel;
    const bool locked = kernel.lockdown && *kernel.lockdown != "none";
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

void judge_lockdown(const Machine &machine, Findings &findings) {
    if (!machine.kernel.lockdown) {
        findings.push_back({"lockdown", Verdict::unknown,
                            "whether the kernel is locked down cannot be told: there is no "
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

void judge_parameters(const Machine &machine, Findings &findings) {
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
    if (window && *window == "always")
        findings.push_back(
            {"pram_window", Verdict::attention,
             "the module was loaded with pram_window=always: it moves the PRAMIN window also "
             "while a driver is bound, whose page tables may then go to another place",
             "reload it without, unless you know that the driver leaves the window alone"});
}

bool may_read_state(const Machine &machine) {
    const Rights &rights = machine.rights;
    if (rights.root || is_set(machine, "state_all"))
        return true;
    const std::string *group = parameter(machine, "state_gid");
    return group && std::any_of(rights.groups.begin(), rights.groups.end(),
                                [&](std::uint32_t id) { return std::to_string(id) == *group; });
}

/** Why this process may not control, but for what the module and the kernel forbid everybody. */
std::string no_control(const Rights &rights) {
    if (rights.user_namespace)
        return "controls need CAP_SYS_ADMIN outside of this user namespace (container)";
    return rights.sys_admin ? "" : "controls need CAP_SYS_ADMIN";
}

/** Why every control is refused, and what to do; empty: they are not. */
std::optional<std::string> refusal(const Machine &machine) {
    if (is_set(machine, "read_only"))
        return "the module was loaded with read_only=1; load it again without";
    const auto &lockdown = machine.kernel.lockdown;
    if (lockdown && *lockdown != "none")
        return fmt::format("kernel lockdown is in force ({}), until a reboot without it",
                           *lockdown);
    if (const std::string rights = no_control(machine.rights); !rights.empty())
        return rights + "; run this as root";
    return std::nullopt;
}

void judge_rights(const Machine &machine, Findings &findings) {
    const std::string refused = no_control(machine.rights);
    if (!may_read_state(machine))
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
                            "you may read, and you may control unless a line above refuses it",
                            ""});
}

Finding driver_finding(const GpuFacts &gpu) {
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
    if (gpu.firmware)
        return {gpu.name, Verdict::attention,
                fmt::format(
                    "driver {}, with GSP firmware {}: the firmware submits runlists on its own, "
                    "and may undo controls",
                    *gpu.driver, *gpu.firmware),
                "where the driver allows it (before Blackwell, not with the open modules): "
                "options nvidia NVreg_EnableGpuFirmware=0"};
    return {gpu.name, Verdict::ok, fmt::format("driver {}, without GSP firmware", *gpu.driver), ""};
}

void judge_chip(const Machine &machine, const GpuFacts &gpu, Findings &findings) {
    if (!is_ours(machine))
        return;
    if (!gpu.info) {
        findings.push_back({gpu.name, Verdict::trouble,
                            fmt::format("the module does not show this GPU ({})", gpu.id),
                            "'sudo dmesg | grep nvdebug' says why: asleep, off the bus, or not "
                            "identified"});
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

void judge_window(const Machine &machine, const GpuFacts &gpu, Findings &findings) {
    const std::string *window = parameter(machine, "pram_window");
    if (gpu.driver && window && *window == "auto")
        findings.push_back(
            {gpu.name, Verdict::attention,
             fmt::format(
                 "driver {} is bound, so the PRAMIN window is not moved: lists and contexts "
                 "in video memory that no BAR shows fail with EOPNOTSUPP",
                 *gpu.driver),
             "where they do, look while no driver is bound (docs/hardware.md, Known limits)"});
}

void judge_power(const GpuFacts &gpu, Findings &findings) {
    if (gpu.power && *gpu.power == "suspended")
        findings.push_back({gpu.name, Verdict::attention,
                            "it is suspended to save power: live files fail with ENODEV until "
                            "something uses it",
                            fmt::format("echo on | sudo tee {}/power/control", gpu.device)});
}

} // namespace

Findings judge(const Machine &machine) {
    Findings findings;
    judge_module(machine, findings);
    judge_driver(machine, findings);
    judge_signature(machine, findings);
    judge_lockdown(machine, findings);
    judge_parameters(machine, findings);
    judge_rights(machine, findings);
    if (machine.gpus.empty())
        findings.push_back({"gpus", Verdict::trouble,
                            "this machine has no NVIDIA GPU that the module knows, neither on PCI "
                            "nor integrated",
                            "'nvdebugctl --from FILE' reads captures; the project's vm/run has "
                            "modelled GPUs"});
    for (const GpuFacts &gpu : machine.gpus) {
        judge_chip(machine, gpu, findings);
        judge_window(machine, gpu, findings);
        findings.push_back(driver_finding(gpu));
        judge_power(gpu, findings);
    }
    return findings;
}

std::optional<std::string> controls_undone(const std::string &root,
                                           const std::string &pci_address) {
    const auto firmware = gsp_firmware(root, pci_address);
    if (!firmware)
        return std::nullopt;
    return fmt::format("GSP firmware {} runs this GPU and may undo what the module writes; with "
                       "--from driver the firmware is asked to do it",
                       *firmware);
}

std::optional<std::string> controls_refused(const std::string &root) {
    Machine machine;
    machine.kernel = kernel_facts(root);
    machine.module = module_facts(root, machine.kernel.release);
    machine.rights = rights_of(root);
    return refusal(machine);
}

namespace {

Outcome<Document> examine(Context &) {
    const std::vector<Finding> findings = judge(gather(""));
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
        document.exit = failed;
    return document;
}

void show(const Json &data, Page &page) {
    for (const Json &finding : data["findings"]) {
        const std::string verdict = finding["verdict"];
        std::string line =
            verdict + std::string(verdict.size() < 11 ? 11 - verdict.size() : 1, ' ');
        line +=
            finding["subject"].get<std::string>() + ": " + finding["finding"].get<std::string>();
        page.line(verdict == "ok" ? line : page.warning(line));
        if (!finding["fix"].is_null())
            page.line(std::string(11, ' ') + "fix: " + finding["fix"].get<std::string>());
    }
}

} // namespace

std::vector<Command> doctor_commands() {
    const std::vector<Column> columns = {
        {"subject", "what it is about; a GPU by its PCI address or platform device", "string"},
        {"verdict",
         "ok; unknown: this machine does not say; attention: part of it does not work "
         "like this; trouble: nothing works until it is mended",
         "ok|unknown|attention|trouble"},
        {"finding", "what was found", "string"},
        {"fix", "what to do; null: nothing", "string?"}};
    return {
        {.object = "doctor",
         .verb = "",
         .help = "is everything in place? module, signature, lockdown, rights, driver, chips",
         .scope = Scope::nothing,
         .columns = columns,
         .fields = {{"findings", "in the order in which to mend things", "[object]",
                     fields_of(columns)}},
         .notes = {"Exit status 2 if there is trouble. It looks at the machine, not at captures."},
         .examples = {{"nvdebugctl doctor", "before asking anybody else"}},
         .run = examine,
         .text = show},
    };
}

} // namespace nvdebugctl
