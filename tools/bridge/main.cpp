// SPDX-License-Identifier: MIT OR GPL-2.0
// nvdebug-bridge: one process that shows a real GPU to QEMU. See docs/vm.md.
#include "bridged_gpu.hpp"
#include "requests.hpp"
#include "source.hpp"

#include "base/error.hpp"
#include "base/parse.hpp"
#include "transport/attach.hpp"
#include "transport/control_server.hpp"
#include "transport/event_loop.hpp"

#include "lib/base/inherited.hpp"
#include "lib/base/standard_output.hpp"

#include <getopt.h>

#include <cstring>
#include <iostream>
#include <limits>

namespace {

using namespace nvdebug::bridge;

constexpr const char *help =
    "Shows a real GPU to QEMU as a PCI device that can be read. See docs/vm.md.\n"
    "Usage: nvdebug-bridge [OPTION]...\n"
    "\n"
    "  --capture FILE     a GPU of a capture made with nvdebugctl --from driver\n"
    "  --live GPU         a GPU of NVIDIA's driver: 0, 1, ... by PCI address\n"
    "  --qemu-fd FD       socket whose other end x-pci-proxy-dev has\n"
    "  --vfio-user PATH   Unix socket to listen on for vfio-user-pci\n"
    "  --control PATH     Unix socket to listen on for requests\n"
    "  --help             print that, and exit\n";

constexpr int exit_usage = 1, exit_config = 2, exit_internal = 3;

struct Options {
    std::string capture, live;
    nvmodel::AttachOptions attach;
    std::string trouble;
    bool help = false;
};

Options parse(int argc, char **argv) {
    static constexpr option known[]{{"capture", required_argument, nullptr, 'C'},
                                    {"live", required_argument, nullptr, 'l'},
                                    {"qemu-fd", required_argument, nullptr, 'q'},
                                    {"vfio-user", required_argument, nullptr, 'u'},
                                    {"control", required_argument, nullptr, 'c'},
                                    {"help", no_argument, nullptr, 'h'},
                                    {}};
    Options options;
    opterr = 0;
    for (int letter; (letter = ::getopt_long(argc, argv, "h", known, nullptr)) != -1;) {
        const std::string value = optarg ? optarg : "";
        if (letter == 'C') {
            options.capture = value;
        } else if (letter == 'l') {
            options.live = value;
        } else if (letter == 'u') {
            options.attach.vfio_user = value;
        } else if (letter == 'c') {
            options.attach.control = value;
        } else if (letter == 'q') {
            const auto fd = nvmodel::parse_number(value);
            options.attach.qemu_fd =
                fd && *fd <= std::numeric_limits<int>::max() ? static_cast<int>(*fd) : -1;
        } else if (letter == 'h') {
            options.help = true;
        } else {
            options.trouble =
                std::string(argv[optind - 1]) + ": no such option, or its value is missing";
        }
    }
    if (options.help)
        return options;
    if (options.trouble.empty())
        options.trouble = trouble_with(options.attach);
    if (options.trouble.empty() && options.capture.empty() == options.live.empty())
        options.trouble = "one of --capture and --live is needed";
    return options;
}

/// @returns the exit status: what cannot be written is a failure.
int say(const std::string &text) {
    std::cout << text;
    const int error = nvdebug::base::finish_standard_output();
    if (error)
        std::cerr << "nvdebug-bridge: cannot write to standard output: " << std::strerror(error)
                  << "\n";
    return error ? exit_internal : 0;
}

int serve(const Options &options) {
    BridgedGpu gpu(options.live.empty()
                       ? open_capture(options.capture)
                       : open_live(nvdebug::driver::running_kernel(), options.live));
    Requests requests(gpu);
    const auto transport = nvmodel::attach(gpu, options.attach);
    nvmodel::ControlServer control(requests, options.attach.control);
    nvmodel::serve_until_qemu_goes(*transport, control);
    return say(gpu.report() + "\n");
}

} // namespace

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    nvdebug::base::survive_broken_pipes();
    try {
        const Options options = parse(argc, argv);
        if (options.trouble.empty())
            return options.help ? say(help) : serve(options);
        std::cerr << "nvdebug-bridge: " << options.trouble << " (see --help)\n";
        return exit_usage;
    } catch (const nvmodel::ConfigError &error) {
        std::cerr << "nvdebug-bridge: " << error.what() << "\n";
        return exit_config;
    } catch (const std::exception &error) {
        std::cerr << "nvdebug-bridge: " << error.what() << "\n";
        return exit_internal;
    }
}
