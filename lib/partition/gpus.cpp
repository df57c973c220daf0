// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpus.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <tuple>

#include "nvdebug/surroundings.hpp"
#include "text.hpp"
#include "variables.hpp"

namespace nvtaskset {
namespace {

namespace fs = std::filesystem;
namespace base = nvdebug::base;

/// Returns the folder in which NVIDIA's driver describes itself. Tests set another one.
std::string driver_folder() {
    const char *const folder = variable("NVTASKSET_DRIVER_FOLDER");
    return folder ? folder : "/proc/driver/nvidia";
}

/// Returns the folder in which Linux describes a PCI device. Tests set another one.
std::string device_folder(const std::string &pci_address) {
    const char *const folder = variable("NVTASKSET_SYS_FOLDER");
    return std::string(folder ? folder : "/sys") + "/bus/pci/devices/" + pci_address;
}

std::string read_file(const fs::path &path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string first_word(const std::string &text) {
    return text.substr(0, text.find_first_of(" \n"));
}

/// Returns the value of a field in a text with lines as `GPU UUID: \t GPU-…`.
std::string field(const std::string &text, std::string_view key) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(key))
            continue;
        const std::size_t begin = line.find_first_not_of(": \t", key.size());
        return begin == line.npos ? "" : line.substr(begin);
    }
    return "";
}

std::optional<unsigned> number_in(const std::string &text) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end != text.data() ? std::optional(number) : std::nullopt;
}

std::string information(const std::string &pci_address) {
    return read_file(driver_folder() + "/gpus/" + pci_address + "/information");
}

bool sleeps(const std::string &pci_address) {
    return first_word(read_file(device_folder(pci_address) + "/power/runtime_status")) ==
           "suspended";
}

std::string described(std::size_t number, const std::string &pci_address) {
    return "GPU " + std::to_string(number) + " (" + pci_address + ")";
}

/// Returns the obstacle that hides GPUs from this process, for the begin of an error.
std::string hidden() {
    const auto found = nvdebug::obstacles();
    return found.empty() ? "" : found.front().finding + ": ";
}

} // namespace

Outcome<std::string> driver_version() {
    const std::string text = read_file(driver_folder() + "/version");
    std::istringstream words(text);
    for (std::string word; words >> word;)
        if (std::ranges::count(word, '.') && word.find_first_not_of("0123456789.") == word.npos)
            return word + "@" + first_word(read_file("/proc/sys/kernel/random/boot_id"));
    return fail(hidden() + "NVIDIA's driver is not loaded (" + driver_folder() + "/version)",
                Exit::not_supported);
}

Outcome<Gpus> Gpus::find() {
    const std::string folder = driver_folder() + "/gpus";
    std::vector<std::string> addresses;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        addresses.push_back(at->path().filename().string());
    if (addresses.empty())
        return fail(hidden() + "NVIDIA's driver has no GPU here (" + folder + ")",
                    Exit::not_supported);
    std::ranges::sort(addresses, {}, [](const std::string &text) {
        const auto address = base::parse_pci_address(text).value_or(base::PciAddress{});
        return std::tuple(address.domain.value_or(0), address.bus, address.device, text);
    });
    return Gpus(std::move(addresses));
}

bool Gpus::is_asleep(std::size_t number) const {
    return sleeps(addresses_[number]);
}

const Outcome<Gpu> &Gpus::at(std::size_t number) {
    auto &read = read_[number];
    if (!read) {
        const std::string text = information(addresses_[number]);
        if (const auto uuid = parse_uuid(field(text, "GPU UUID")))
            read = Gpu{number, addresses_[number], *uuid, field(text, "Model"),
                       number_in(field(text, "Device Minor"))};
        else
            read =
                fail("NVIDIA's driver shows no UUID of " + described(number, addresses_[number]) +
                         ": no program has used it since it was set up, or it does not work",
                     Exit::failed);
    }
    return *read;
}

Selection Gpus::awake() {
    Selection found;
    for (std::size_t n = 0; n < count(); n++)
        if (is_asleep(n))
            found.left_out.push_back(described(n, addresses_[n]) + " is asleep, and left so");
        else if (const auto &gpu = at(n))
            found.gpus.push_back(*gpu);
        else
            found.left_out.push_back(gpu.error().sentence + "; it is left out");
    return found;
}

Selection Gpus::some(const std::vector<std::size_t> &numbers) {
    Selection found;
    for (const std::size_t n : numbers)
        if (const auto &gpu = at(n))
            found.gpus.push_back(*gpu);
        else
            found.left_out.push_back(gpu.error().sentence + "; it is left out");
    return found;
}

Selection Gpus::all() {
    std::vector<std::size_t> numbers(count());
    std::iota(numbers.begin(), numbers.end(), 0);
    return some(numbers);
}

/// The facts of GPUs for base::find_gpus(), from the driver's files.
class Gpus::Facts : public base::GpuSet {
  public:
    explicit Facts(Gpus &gpus) : gpus_(gpus) {}
    std::size_t count() const override { return gpus_.count(); }
    std::string address(std::size_t n) const override { return gpus_.address(n); }
    bool is_asleep(std::size_t n) const override { return gpus_.is_asleep(n); }
    std::optional<std::string> uuid(std::size_t n) const override {
        const auto &gpu = gpus_.at(n);
        return gpu ? std::optional(uuid_text(gpu->uuid)) : std::nullopt;
    }
    std::optional<unsigned> device_minor(std::size_t n) const override {
        const auto &gpu = gpus_.at(n);
        return gpu ? gpu->minor : std::nullopt;
    }

  private:
    Gpus &gpus_;
};

tl::expected<std::vector<std::size_t>, std::string>
Gpus::find(const std::vector<base::GpuName> &names) {
    return base::find_gpus(names, Facts(*this));
}

std::vector<Gpu> Gpus::with_uuid(const std::string &begin) {
    std::vector<Gpu> fit;
    const auto name = base::parse_gpu_name(begin);
    for (const std::size_t n :
         name.uuid.empty() ? std::vector<std::size_t>() : base::places_of(name, Facts(*this)))
        fit.push_back(*at(n));
    return fit;
}

std::optional<Uuid> uuid_of(const std::string &pci_address) {
    return sleeps(pci_address) ? std::nullopt
                               : parse_uuid(field(information(pci_address), "GPU UUID"));
}

Outcome<Selection> select(Gpus &gpus, const std::string &words) {
    const auto names = base::parse_gpu_names(words);
    if (!names)
        return fail(names.error(),
                    base::parse_gpu_name(words).mig ? Exit::not_supported : Exit::bad_usage);
    const auto found = gpus.find(*names);
    if (!found)
        return fail(found.error() + " ('nvtaskset --list')", Exit::bad_usage);
    // `all` means the GPUs that work.
    if (std::ranges::any_of(*names, &base::GpuName::all)) {
        Selection chosen = gpus.some(*found);
        if (chosen.gpus.empty())
            return fail(chosen.left_out.front());
        return chosen;
    }
    Selection chosen;
    for (const std::size_t n : *found)
        if (const auto &gpu = gpus.at(n))
            chosen.gpus.push_back(*gpu);
        else
            return fail(gpu.error());
    return chosen;
}

} // namespace nvtaskset
