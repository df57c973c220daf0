// SPDX-License-Identifier: MIT OR GPL-2.0
#include "visible.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "apart.hpp"
#include "lib/base/gpu_name.hpp"
#include "lib/partition/cuda_error.hpp"
#include "lib/partition/state.hpp"

namespace nvtaskset {
namespace {

namespace base = nvdebug::base;
using Numbers = std::vector<std::size_t>;

constexpr const char *devices_variable = "CUDA_VISIBLE_DEVICES",
                     *order_variable = "CUDA_DEVICE_ORDER";

std::optional<std::string> own_variable(const char *name) {
    const char *const text = std::getenv(name);
    return text ? std::optional<std::string>(text) : std::nullopt;
}

void set(const char *name, const std::optional<std::string> &text) {
    if (text)
        setenv(name, text->c_str(), 1);
    else
        unsetenv(name);
}

/// Returns the PCI addresses of CUDA's devices, each in a line. It changes the environment, so it
/// is called in a child process.
Outcome<std::string> ask_cuda(const Visibility &visibility) {
    set(devices_variable, visibility.devices);
    set(order_variable, visibility.order);
    for (const char *other : {injection_variable, page_variable, partitions_variable})
        unsetenv(other);
    const cuda::Library cuda;
    constexpr int no_device = 100;
    int devices = 0;
    if (!cuda.loaded())
        return fail("CUDA (libcuda.so.1, part of NVIDIA's driver) is not there",
                    Exit::not_supported);
    if (const int error = cuda.call("cuInit", 0U); error == no_device)
        return "";
    else if (error)
        return fail("CUDA cannot be used: cuInit: " + cuda::error_text(cuda, error), Exit::failed);
    if (const int error = cuda.call("cuDeviceGetCount", &devices))
        return fail("CUDA cannot be used: cuDeviceGetCount: " + cuda::error_text(cuda, error),
                    Exit::failed);
    std::string text;
    for (int n = 0; n < devices; n++) {
        std::array<char, 32> address{};
        if (cuda.call("cuDeviceGetPCIBusId", address.data(), static_cast<int>(address.size()), n) ==
            0)
            text += std::string(address.data()) + "\n";
    }
    return text;
}

void add(Numbers &to, std::size_t number) {
    if (!std::ranges::count(to, number))
        to.push_back(number);
}

/// Returns the numbers of the GPUs that CUDA shows in a child process.
Outcome<Numbers> asked_of_cuda(const Gpus &gpus, const Visibility &visibility) {
    const auto text = apart("asking CUDA for its GPUs", [&] { return ask_cuda(visibility); });
    // The error suggests -i, unless CUDA is missing, because then -i does not help either.
    if (!text)
        return fail("which GPUs CUDA_VISIBLE_DEVICES=" + *visibility.devices +
                        " leaves cannot be found out: " + text.error().sentence +
                        (text.error().sentence.starts_with("CUDA ") ? "" : "; name them with -i"),
                    text.error().exit);
    Numbers shown;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);)
        if (const auto address = base::parse_pci_address(line))
            for (std::size_t n = 0; n < gpus.count(); n++)
                if (base::is_address(*address, gpus.address(n)))
                    add(shown, n);
    return shown;
}

} // namespace

Visibility Visibility::own() {
    return {own_variable(devices_variable), own_variable(order_variable)};
}

Visibility Visibility::of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
    Visibility found;
    for (std::string entry; std::getline(file, entry, '\0');)
        for (const auto &[name, value] :
             {std::pair(devices_variable, &found.devices), std::pair(order_variable, &found.order)})
            if (entry.starts_with(std::string(name) + "="))
                *value = entry.substr(entry.find('=') + 1);
    return found;
}

Outcome<Numbers> visible_gpus(Gpus &gpus, const Visibility &visibility) {
    Numbers shown;
    if (!visibility.devices) {
        for (std::size_t n = 0; n < gpus.count(); n++)
            shown.push_back(n);
        return shown;
    }
    std::istringstream words(*visibility.devices);
    for (std::string word; std::getline(words, word, ',');) {
        if (word == "0" && gpus.count() == 1) {
            add(shown, 0);
            continue;
        }
        const bool uuid = word.starts_with("GPU-");
        // CUDA ignores the list from a word on that is no GPU.
        if (!uuid &&
            (word.empty() || word[0] == '-' || std::isalpha(static_cast<unsigned char>(word[0]))))
            break;
        const auto fit = uuid ? gpus.with_uuid(word) : std::vector<Gpu>();
        if (uuid && fit.size() != 1)
            break;
        // NVIDIA does not document how CUDA treats a GPU that is twice in the list.
        if (!uuid || std::ranges::count(shown, fit[0].number))
            return asked_of_cuda(gpus, visibility);
        add(shown, fit[0].number);
    }
    return shown;
}

} // namespace nvtaskset
