// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device_plugin.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

#include "device_plugin_folder.hpp"
#include "device_plugin_service.hpp"
#include "device_plugin_stock.hpp"
#include "hook_program.hpp"
#include "lib/base/container_device.hpp"
#include "lib/base/nvqos_client.hpp"
#include "lib/base/printable.hpp"

namespace nvdebug::kubernetes {
namespace {

using base::exit_status::bad_usage;
using base::exit_status::done;

struct Options {
    std::string socket, kubelet, sysfs;
    unsigned units = usual_units;
    Gifts gifts;
};

Outcome<Options> read_options(const cli::Arguments &arguments) {
    Options options;
    const struct {
        const char *option, *otherwise;
        std::string &to;
    } paths[] = {
        {"--socket", base::usual_nvqos_socket, options.socket},
        {"--kubelet", "/var/lib/kubelet/device-plugins", options.kubelet},
        {"--cdi-folder", base::device_folder, options.gifts.cdi_folder},
        {"--sysfs", "/sys", options.sysfs},
    };
    for (const auto &one : paths) {
        auto path = path_of(arguments, one.option, one.otherwise);
        if (!path)
            return tl::unexpected(path.error());
        one.to = std::move(*path);
    }
    if (const auto address = base::socket_address(options.socket); !address)
        return fail(bad_usage, "--socket: " + address.error().sentence);
    options.gifts.socket = options.socket;
    const auto units = arguments.number("--units", usual_units, 1, most_units);
    if (!units)
        return fail(bad_usage, units.error());
    options.units = static_cast<unsigned>(*units);
    const std::string visible = arguments.text("--visible-devices", "envvar");
    options.gifts.visible = visible == "cdi"    ? Gifts::Visible::cdi
                            : visible == "none" ? Gifts::Visible::none
                                                : Gifts::Visible::envvar;
    return options;
}

/// Returns the NUMA node of a PCI device; empty: the machine has only one, or the file is missing.
std::optional<std::int64_t> numa_node_of(const std::string &sysfs, const std::string &address) {
    std::ifstream file(fmt::format("{}/bus/pci/devices/{}/numa_node", sysfs, address));
    std::int64_t node = -1;
    return file >> node && node >= 0 ? std::optional(node) : std::nullopt;
}

/// Fails if the folder is missing or cannot be written to: neither ends without a person.
Outcome<void> expect_folder(const std::string &folder) {
    // With the dot, another kind of file fails by its kind and not by its mode.
    if (::access((folder + "/.").c_str(), R_OK | W_OK | X_OK) == 0)
        return {};
    return fail(of_file(errno),
                fmt::format("{}: {}; a kubelet with device plugins makes it, --kubelet names "
                            "another folder, and root alone may write to it",
                            base::printable(folder), ::strerrordesc_np(errno)));
}

/// Keeps the plugin registered until a signal comes.
Exit serve_kubelet(Registration &registration, FolderWatch &watch,
                   const std::atomic<int> &streams) {
    using Clock = std::chrono::steady_clock;
    constexpr int until_next_try_ms = 1000, until_next_look_ms = 5000;
    // A kubelet that knows the plugin reads its list all the time.
    constexpr std::chrono::seconds longest_without_stream{10};
    Logged logged;
    Clock::time_point streamed;
    for (;;) {
        if (const auto kept = registration.keep(); kept)
            logged.clear();
        else
            logged(kept.error().sentence);
        if (streams > 0)
            streamed = Clock::now();
        const bool is_registered = registration.is_registered();
        if (is_registered && Clock::now() - std::max(streamed, registration.registered_since()) >
                                 longest_without_stream) {
            log("kubelet does not read the list of units: the plugin registers again");
            registration.forget();
            continue;
        }
        if (!watch.wait(is_registered ? until_next_look_ms : until_next_try_ms))
            return done;
    }
}

} // namespace

cli::Verb device_plugin_verb() {
    return {
        .name = "device-plugin",
        .help = "offers each percent of each GPU's time as nvdebug.io/gpu-percent",
        .options =
            options_of_hook() +
            std::vector<cli::Option>{
                {"--socket",
                 fmt::format("the socket of nvqos, here and on the node (default: {})",
                             base::usual_nvqos_socket),
                 "PATH"},
                {"--units",
                 fmt::format("percent of each GPU, 1 to {} (default: {})", most_units, usual_units),
                 "N"},
                {.name = "--visible-devices",
                 .help = "how a container gets its GPU: by the variable NVIDIA_VISIBLE_DEVICES, by "
                         "NVIDIA's CDI device, or not at all",
                 .value = "HOW",
                 .choices = {"envvar", "cdi", "none"}},
                {"--cdi-folder",
                 fmt::format("where container runtimes look for devices (default: {})",
                             base::device_folder),
                 "FOLDER"},
                {"--kubelet",
                 "kubelet's folder of device plugins (default: /var/lib/kubelet/device-plugins)",
                 "FOLDER"},
                {.name = "--sysfs", .help = "in place of /sys", .value = "FOLDER", .hidden = true}},
        .examples = {{"nvdebug-device-plugin device-plugin", "as the DaemonSet runs it"}},
        .usage = {{"nvdebug-device-plugin device-plugin [OPTION]...", ""}}};
}

Outcome<Exit> run_device_plugin(const cli::Arguments &arguments) {
    auto options = read_options(arguments);
    if (!options)
        return tl::unexpected(options.error());
    auto program = hook_program(arguments);
    if (!program)
        return tl::unexpected(program.error());
    options->gifts.nvqos = std::move(*program);
    if (const auto expected = expect_folder(options->kubelet); !expected)
        return tl::unexpected(expected.error());
    auto watch = FolderWatch::open(options->kubelet);
    if (!watch)
        return tl::unexpected(watch.error());
    remove_unused_devices(options->gifts.cdi_folder);
    Stock stock(options->units,
                [&](const std::string &address) { return numa_node_of(options->sysfs, address); });
    std::atomic<int> streams = 0;
    const auto service = make_service(stock, options->gifts, streams);
    Registration registration(options->kubelet, *service);
    if (const auto kept = registration.keep();
        !kept && kept.error().exit != base::exit_status::failed)
        return tl::unexpected(kept.error());
    Logged logged_of_nvqos;
    const NvqosFollower follower(options->socket, [&](const Outcome<NvqosState> &state) {
        for (const std::string &sentence : stock.take(state))
            log(sentence);
        // The sentence about each GPU has the reason.
        if (state)
            logged_of_nvqos.clear();
        else if (stock.gpus().empty())
            logged_of_nvqos(state.error().sentence);
    });
    return serve_kubelet(registration, **watch, streams);
}

} // namespace nvdebug::kubernetes
