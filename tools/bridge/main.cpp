// SPDX-License-Identifier: MIT OR GPL-2.0
// nvdebug-bridge: one process that shows a real GPU to QEMU. See docs/vm.md.
#include "bridged_gpu.hpp"
#include "requests.hpp"
#include "source.hpp"

#include "base/error.hpp"
#include "transport/attach.hpp"
#include "transport/control_server.hpp"
#include "transport/event_loop.hpp"

#include "lib/base/exit_status.hpp"
#include "lib/base/inherited.hpp"
#include "lib/cli/main.hpp"
#include "lib/cli/message.hpp"

#include <cstring>
#include <limits>

namespace {

using namespace nvdebug::bridge;

namespace cli = nvdebug::cli;

namespace exit_status = nvdebug::base::exit_status;

const cli::Program &program() {
    static const cli::Program all{
        .name = "nvdebug-bridge",
        .version = NVDEBUG_VERSION,
        .help = "Shows a real GPU to QEMU as a PCI device that can be read. See docs/vm.md.",
        .verbs =
            {{.name = "",
              .help = "",
              .options = {{"--capture", "a GPU of a capture made with nvdebugctl --from driver",
                           "FILE"},
                          {"--live", "a GPU of NVIDIA's driver: 0, 1, ... by PCI address", "GPU"},
                          {"--qemu-fd", "socket whose other end x-pci-proxy-dev has", "FD"},
                          {"--vfio-user", "Unix socket to listen on for vfio-user-pci", "PATH"},
                          {"--control", "Unix socket to listen on for requests", "PATH"}},
              .usage = {{"nvdebug-bridge [OPTION]...", ""}}}},
        .exit_status = "Exit status: 0 after QEMU has gone; 1: wrong usage, or a capture or GPU "
                       "that cannot be shown; 5: it failed, and may work later.",
        .manual = ""};
    return all;
}

struct Options {
    std::string capture, live;
    nvmodel::AttachOptions attach;
};

/// Returns an error of the command line; empty: there is none.
std::string read(const cli::Arguments &arguments, Options &options) {
    options.capture = arguments.text("--capture");
    options.live = arguments.text("--live");
    options.attach.vfio_user = arguments.text("--vfio-user");
    options.attach.control = arguments.text("--control");
    const auto fd = arguments.number("--qemu-fd", -1, 0, std::numeric_limits<int>::max());
    if (!fd)
        return fd.error();
    options.attach.qemu_fd = static_cast<int>(*fd);
    if (options.capture.empty() == options.live.empty())
        return "either --capture or --live is needed";
    return trouble_with(options.attach);
}

int serve(const Options &options) {
    BridgedGpu gpu(options.live.empty()
                       ? open_capture(options.capture)
                       : open_live(nvdebug::driver::running_kernel(), options.live));
    Requests requests(gpu);
    const auto transport = nvmodel::attach(gpu, options.attach);
    nvmodel::ControlServer control(requests, options.attach.control);
    nvmodel::serve_until_qemu_goes(*transport, control);
    if (const int error = cli::write_out(gpu.report() + "\n")) {
        cli::say(program().name, std::string("cannot write to stdout: ") + std::strerror(error));
        return exit_status::failed;
    }
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    nvdebug::base::make_inheritance_usable();
    nvdebug::base::survive_broken_pipes();
    try {
        return cli::run(program(), {argv + 1, argv + argc}, [](const cli::Parsed &parsed) {
            Options options;
            const std::string wrong = read(parsed.arguments, options);
            return wrong.empty() ? serve(options)
                                 : cli::refuse(program(), false, exit_status::bad_usage,
                                               wrong + "; see 'nvdebug-bridge "
                                                       "--help'");
        });
    } catch (const nvmodel::ConfigError &error) {
        return cli::refuse(program(), false, exit_status::bad_usage, error.what());
    } catch (const std::exception &error) {
        return cli::refuse(program(), false, exit_status::failed, error.what());
    }
}
