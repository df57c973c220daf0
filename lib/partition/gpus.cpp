// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpus.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <tuple>

#include "lib/base/gpu_name.hpp"
#include "nvdebug/surroundings.hpp"
#include "text.hpp"
#include "variables.hpp"

namespace nvtaskset {
namespace {

namespace fs = std::filesystem;
namespace base = nvdebug::base;

/// Where NVIDIA's driver describes itself; tests have another place.
std::string driver_folder() {
    const char *const folder = variable("NVTASKSET_DRIVER_FOLDER");
    return folder ? folder : "/proc/driver/nvidia";
}

/// Linux' description of a PCI device; tests have another place.
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

/// `GPU UUID: \t GPU-…`
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

std::string information(const std::string &pci_address) {
    return read_file(driver_folder() + "/gpus/" + pci_address + "/information");
}

bool is_asleep(const std::string &pci_address) {
    return first_word(read_file(device_folder(pci_address) + "/power/runtime_status")) ==
           "suspended";
}

std::string described(std::size_t number, const std::string &pci_address) {
    return "GPU " + std::to_string(number) + " (" + pci_address + ")";
}

/// Returns what keeps this process from seeing GPUs, to be put before a sentence that there are
/// none.
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

const Outcome<Gpu> &Gpus::at(std::size_t number) {
    auto &read = read_[number];
    if (!read) {
        const std::string text = information(addresses_[number]);
        if (const auto uuid = parse_uuid(field(text, "GPU UUID")))
            read = Gpu{number, addresses_[number], *uuid, field(text, "Model")};
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
        if (is_asleep(addresses_[n]))
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

std::vector<Gpu> Gpus::with_uuid(const std::string &begin) {
    const auto name = base::parse_gpu_name(begin);
    std::vector<Gpu> fit;
    for (const bool asleep : {false, true})
        for (std::size_t n = 0; n < count() && (!asleep || fit.empty()); n++)
            if (is_asleep(addresses_[n]) == asleep)
                if (const auto &gpu = at(n); gpu && base::begins_uuid(name, uuid_text(gpu->uuid))) {
                    fit.push_back(*gpu);
                    // A whole UUID is one GPU's: the files of the others are not read.
                    if (name.uuid.size() == uuid_text(gpu->uuid).size())
                        return fit;
                }
    return fit;
}

std::optional<Uuid> uuid_of(const std::string &pci_address) {
    return is_asleep(pci_address) ? std::nullopt
                                  : parse_uuid(field(information(pci_address), "GPU UUID"));
}

Outcome<Selection> select(Gpus &gpus, const std::string &words) {
    Selection chosen;
    for (std::size_t begin = 0; begin <= words.size();) {
        const std::size_t end = std::min(words.find(',', begin), words.size());
        const std::string word = words.substr(begin, end - begin);
        begin = end + 1;
        if (word.empty())
            return fail("'" + words + "' is no list of GPUs: a name is empty", Exit::bad_usage);
        if (word == "all") {
            chosen = gpus.all();
            if (chosen.gpus.empty())
                return fail(chosen.left_out.front());
            continue;
        }
        const auto name = base::parse_gpu_name(word);
        if (name.mig)
            return fail("'" + word + "' is a part of a GPU (MIG), which cannot be partitioned",
                        Exit::not_supported);
        std::vector<Gpu> fit = name.uuid.empty() ? std::vector<Gpu>() : gpus.with_uuid(word);
        for (std::size_t n = 0; n < gpus.count(); n++)
            if (name.index == n ||
                (name.address && base::is_address(*name.address, gpus.address(n)))) {
                const auto &gpu = gpus.at(n);
                if (!gpu)
                    return fail(gpu.error());
                fit.push_back(*gpu);
            }
        if (fit.size() != 1)
            return fail((fit.empty() ? "there is no GPU '" : "more than one GPU is '") + word +
                            "': here are 0 to " + std::to_string(gpus.count() - 1) +
                            " ('nvtaskset --list')",
                        Exit::bad_usage);
        if (std::ranges::none_of(chosen.gpus,
                                 [&](const Gpu &gpu) { return gpu.number == fit[0].number; }))
            chosen.gpus.push_back(fit[0]);
    }
    return chosen;
}

} // namespace nvtaskset
