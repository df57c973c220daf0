// SPDX-License-Identifier: MIT OR GPL-2.0
// nvdebug-model: one process that is one GPU. See docs/model.md.
#include "base/error.hpp"
#include "base/parse.hpp"
#include "board/board.hpp"
#include "control/catalog.hpp"
#include "control/requests.hpp"
#include "device/gpu.hpp"
#include "transport/control_server.hpp"
#include "transport/event_loop.hpp"
#include "transport/proxy.hpp"
#include "transport/vfio_user.hpp"
#include "workload/workload.hpp"

#include <CLI/CLI.hpp>

#include <sys/socket.h>

#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace nvmodel;

constexpr int exit_usage = 1;
constexpr int exit_config = 2;
constexpr int exit_internal = 3;

struct Options {
    std::string board;
    std::string workload = "idle";
    std::string data = NVDEBUG_MODEL_DATA;
    int qemu_fd = -1;
    std::string vfio_user;
    std::string control;
    std::optional<SystemMemoryRange> sysmem;
    std::vector<std::string> faults;
    bool list = false;
};

/// "BASE:SIZE".
std::optional<SystemMemoryRange> parse_range(const std::string &text) {
    const auto colon = text.find(':');
    if (colon == std::string::npos)
        return std::nullopt;
    const auto base = parse_number(std::string_view(text).substr(0, colon));
    const auto size = parse_number(std::string_view(text).substr(colon + 1));
    if (!base || !size || *size == 0 || *base + *size < *base)
        return std::nullopt;
    return SystemMemoryRange{*base, *size};
}

void list_data(const Catalog &catalog) {
    std::cout << "boards:\n";
    for (const std::string &name : catalog.boards())
        std::cout << "  " << name << "  " << load_board(catalog.board(name)).title << "\n";
    std::cout << "workloads:\n";
    for (const std::string &name : catalog.workloads())
        std::cout << "  " << name << "  " << load_workload(catalog.workload(name)).title << "\n";
}

bool is_stream_socket(int fd) {
    int type = 0;
    socklen_t length = sizeof(type);
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

std::unique_ptr<Transport> make_transport(Gpu &gpu, const Options &options) {
    if (!options.vfio_user.empty())
        return std::make_unique<VfioUser>(gpu, options.vfio_user);
    return std::make_unique<Proxy>(gpu, UniqueFd(options.qemu_fd));
}

int serve(const Options &options) {
    const Catalog catalog(options.data);
    Board board = load_board(catalog.board(options.board));
    if (!options.vfio_user.empty())
        board.show_real_bars();
    Gpu gpu(std::move(board), load_workload(catalog.workload(options.workload)), options.sysmem);
    for (const std::string &fault : options.faults)
        gpu.faults().add(split_words(fault));
    Requests requests(gpu, catalog);
    const auto transport = make_transport(gpu, options);
    ControlServer control(requests, options.control);
    serve_until_qemu_goes(*transport, control);
    return 0;
}

/// Adds all options. `sysmem` receives the text of --sysmem.
void define(CLI::App &app, Options &options, std::string &sysmem) {
    app.set_version_flag("--version", "nvdebug-model " NVDEBUG_MODEL_VERSION);
    app.add_option("--board", options.board, "board: a name (see --list), or a file with a /");
    app.add_option("--workload", options.workload, "workload: a name, or a file with a /")
        ->capture_default_str();
    app.add_option("--qemu-fd", options.qemu_fd, "socket whose other end x-pci-proxy-dev has");
    app.add_option("--vfio-user", options.vfio_user, "Unix socket to listen on for vfio-user-pci");
    app.add_option("--control", options.control, "Unix socket to listen on for requests");
    app.add_option("--sysmem", sysmem, "BASE:SIZE of guest memory that is the model's to use");
    app.add_option("--fault", options.faults, "scripted fault, as the control request; repeatable")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--data", options.data, "folder with boards/ and workloads/")
        ->capture_default_str();
    app.add_flag("--list", options.list, "list boards and workloads, and exit");
}

/// What is wrong with the options, or nothing.
std::optional<std::string> complaint(Options &options, const std::string &sysmem) {
    if (options.list)
        return std::nullopt;
    if (options.board.empty())
        return "--board is needed";
    if (options.control.empty())
        return "--control is needed";
    if ((options.qemu_fd >= 0) == !options.vfio_user.empty())
        return "one of --qemu-fd and --vfio-user is needed";
    if (options.qemu_fd >= 0 && !is_stream_socket(options.qemu_fd))
        return "--qemu-fd must be an open stream socket";
    if (!sysmem.empty()) {
        options.sysmem = parse_range(sysmem);
        if (!options.sysmem)
            return "--sysmem: expected BASE:SIZE";
    }
    try {
        for (const std::string &fault : options.faults)
            Faults().add(split_words(fault));
    } catch (const ConfigError &error) {
        return error.what();
    }
    return std::nullopt;
}

int run(int argc, char **argv) {
    Options options;
    std::string sysmem;
    CLI::App app("A model of an NVIDIA GPU, as a PCI device for QEMU. See docs/model.md.",
                 "nvdebug-model");
    define(app, options, sysmem);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? 0 : exit_usage;
    }
    if (const auto why = complaint(options, sysmem)) {
        std::cerr << "nvdebug-model: " << *why << " (see --help)\n";
        return exit_usage;
    }
    if (options.list) {
        list_data(Catalog(options.data));
        return 0;
    }
    return serve(options);
}

} // namespace

int main(int argc, char **argv) {
    try {
        return run(argc, argv);
    } catch (const ConfigError &error) {
        std::cerr << "nvdebug-model: " << error.what() << "\n";
        return exit_config;
    } catch (const std::exception &error) {
        std::cerr << "nvdebug-model: " << error.what() << "\n";
        return exit_internal;
    }
}
