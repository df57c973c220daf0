// SPDX-License-Identifier: MIT OR GPL-2.0
#include "machine_facts.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <sys/utsname.h>

#include "cli/side_by_side.hpp"
#include "hw/soc.h"
#include "left_over.hpp"
#include "nvdebug/gpu.hpp"
#include "shared_jobs.hpp"

namespace nvdebugctl {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNvidia = "0x10de";
constexpr std::string_view kDisplayClass = "0x03";
constexpr unsigned kCapSysAdmin = 21;
constexpr std::string_view kSecureBoot =
    "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
/// Four bytes of attributes stand before the variable's value.
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

/// Returns the only line of a small file, without blanks around it.
std::optional<std::string> word_of(const fs::path &path) {
    auto text = text_of(path);
    return text ? std::optional(trimmed(*text)) : std::nullopt;
}

/// Returns the text after `KEY:`. The file has one such key on each line.
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

/// Returns the word in brackets of a text such as `none [integrity] confidentiality`.
std::optional<std::string> chosen(const std::optional<std::string> &text) {
    if (!text)
        return std::nullopt;
    const auto open = text->find('['), close = text->find(']');
    if (open == std::string::npos || close == std::string::npos || close < open)
        return std::nullopt;
    return text->substr(open + 1, close - open - 1);
}

/// Returns the package of the kernel's headers. Distributions name it after the kernel's own
/// package; a kernel from another place has none.
std::optional<std::string> headers_package(const std::string &root, const std::string &release) {
    if (release.ends_with("-tegra"))
        return "nvidia-l4t-kernel-headers";
    std::error_code error;
    for (const char *const image : {"linux-image-", "linux-image-unsigned-"})
        if (fs::exists(root + "/usr/share/doc/" + image + release, error))
            return "linux-headers-" + release;
    return std::nullopt;
}

/// Returns the release of the running kernel, also if /proc does not show it.
std::string kernel_release(const std::string &root) {
    if (const auto release = word_of(root + "/proc/sys/kernel/osrelease"); release || !root.empty())
        return release.value_or("");
    utsname names;
    return uname(&names) == 0 ? names.release : "";
}

KernelFacts kernel_facts(const std::string &root) {
    KernelFacts facts;
    facts.release = kernel_release(root);
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

/// Returns the facts that sysfs has about every device.
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
        // The file has several strings, each with a zero after it.
        const std::string names = '\0' + text_of(device / "of_node/compatible").value_or("") + '\0';
        for (const auto &gpu : nvdebug_soc_gpus)
            if (const std::string name = gpu.compatible;
                names.find('\0' + name + '\0') != names.npos)
                gpus.push_back(device_facts(root, device, name));
    }
}

/// Assigns each /proc/gpuN to the GPU with its address. A GPU that is missing in /sys is added with
/// the facts of its folder.
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
    const auto usable = nvdebug::usable_gpus(*tree);
    if (!usable || usable->gpus.empty()) {
        facts.refused = usable ? "it has no GPU" : usable.error().sentence;
        return facts;
    }
    facts.not_shown = usable->left_out;
    const std::vector<nvdebug::Gpu> &gpus = usable->gpus;
    const auto engines =
        SideBySide(gpus).ask([](const nvdebug::Gpu &gpu) { return gpu.engines(); });
    if (std::ranges::none_of(engines, [](const auto &shown) { return shown.has_value(); }))
        facts.refused = engines.front().error().sentence;
    for (std::size_t n = 0; n < gpus.size(); n++) {
        if (!engines[n] && facts.refused.empty())
            facts.not_shown.push_back(gpus[n].folder() + ": " + engines[n].error().sentence);
        for (const std::string &sentence : describe_left_over(gpus[n]))
            // A file that makes no sense belongs to no GPU, so every GPU returns the same sentence
            // about it.
            if (std::ranges::none_of(facts.left_over, [&](const std::string &known) {
                    return known.ends_with(sentence);
                }))
                facts.left_over.push_back(gpus[n].folder() + ": " + sentence);
    }
    facts.jobs = measure_shared_jobs(gpus, std::chrono::seconds(1));
    return facts;
}

} // namespace

Machine gather_without_gpus(const std::string &root) {
    Machine machine;
    machine.kernel = kernel_facts(root);
    machine.module = module_facts(root, machine.kernel.release);
    machine.rights = rights_of(root);
    machine.obstacles = nvdebug::obstacles(root);
    return machine;
}

Machine gather(const std::string &root) {
    Machine machine = gather_without_gpus(root);
    machine.driver = driver_facts(root);
    add_pci(root, machine.gpus);
    add_integrated(root, machine.gpus);
    if (machine.module.loaded)
        add_folders(root, machine.gpus);
    return machine;
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

} // namespace nvdebugctl
