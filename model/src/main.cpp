// SPDX-License-Identifier: MIT OR GPL-2.0
// nvdebug-model: a process that models one GPU. See docs/model.md.
#include "base/error.hpp"
#include "base/parse.hpp"
#include "board/board.hpp"
#include "control/catalog.hpp"
#include "control/requests.hpp"
#include "device/gpu.hpp"
#include "transport/attach.hpp"
#include "transport/control_server.hpp"
#include "transport/event_loop.hpp"
#include "workload/workload.hpp"

#include <getopt.h>

#include <exception>
#include <iostream>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace nvmodel;

constexpr int exit_usage = 1;
constexpr int exit_config = 2;
constexpr int exit_internal = 3;

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Options {
    std::string board;
    std::string workload = "idle";
    std::string data = NVDEBUG_MODEL_DATA;
    AttachOptions attach;
    std::optional<SystemMemoryRange> sysmem;
    std::vector<std::string> faults;
    int action = 0; // an option that does something else than serving
};

int parse_fd(const std::string &text) {
    const auto fd = parse_number(text);
    if (!fd || *fd > std::numeric_limits<int>::max())
        throw UsageError("--qemu-fd: expected a file descriptor");
    return static_cast<int>(*fd);
}

/// Parses "BASE:SIZE".
SystemMemoryRange parse_range(std::string_view text) {
    const auto colon = text.find(':');
    const auto base = parse_number(text.substr(0, colon));
    const auto size = parse_number(colon == std::string_view::npos ? "" : text.substr(colon + 1));
    if (!base || !size || *size == 0 || *base + *size < *base)
        throw UsageError("--sysmem: expected BASE:SIZE");
    return {*base, *size};
}

void check_fault(const std::string &text) {
    try {
        Faults().add(split_words(text));
    } catch (const ConfigError &error) {
        throw UsageError(error.what());
    }
}

void list_data(const Catalog &catalog) {
    std::cout << "boards:\n";
    for (const std::string &name : catalog.boards())
        std::cout << "  " << name << "  " << load_board(catalog.board(name)).title << "\n";
    std::cout << "workloads:\n";
    for (const std::string &name : catalog.workloads())
        std::cout << "  " << name << "  " << load_workload(catalog.workload(name)).title << "\n";
}

int serve(const Options &options) {
    const Catalog catalog(options.data);
    Board board = load_board(catalog.board(options.board));
    if (!options.attach.vfio_user.empty())
        board.show_real_bars();
    Gpu gpu(std::move(board), load_workload(catalog.workload(options.workload)), options.sysmem);
    for (const std::string &fault : options.faults)
        gpu.faults().add(split_words(fault));
    Requests requests(gpu, catalog);
    const auto transport = attach(gpu, options.attach);
    ControlServer control(requests, options.attach.control);
    serve_until_qemu_goes(*transport, control);
    return 0;
}

constexpr const char *help =
    "A model of an NVIDIA GPU, as a PCI device for QEMU. See docs/model.md.\n"
    "Usage: nvdebug-model [OPTION]...\n"
    "\n"
    "  --board NAME|FILE      board: a name (see --list), or a file with a /\n"
    "  --workload NAME|FILE   workload: a name, or a file with a / (default: idle)\n"
    "  --qemu-fd FD           socket whose other end x-pci-proxy-dev has\n"
    "  --vfio-user PATH       Unix socket to listen on for vfio-user-pci\n"
    "  --control PATH         Unix socket to listen on for requests\n"
    "  --sysmem BASE:SIZE     guest memory that is the model's to use\n"
    "  --fault SPEC           scripted fault, as the control request; repeatable\n"
    "  --data FOLDER          folder with boards/ and workloads/\n"
    "                         (default: " NVDEBUG_MODEL_DATA ")\n"
    "  --list                 list boards and workloads, and exit\n"
    "  --version, --help      print that, and exit\n";

/// Takes an option by its letter in parse(). Throws UsageError.
void take(Options &options, int letter, const std::string &value) {
    switch (letter) {
    case 'b':
        options.board = value;
        break;
    case 'w':
        options.workload = value;
        break;
    case 'q':
        options.attach.qemu_fd = parse_fd(value);
        break;
    case 'u':
        options.attach.vfio_user = value;
        break;
    case 'c':
        options.attach.control = value;
        break;
    case 's':
        options.sysmem = parse_range(value);
        break;
    case 'f':
        check_fault(value);
        options.faults.push_back(value);
        break;
    case 'd':
        options.data = value;
        break;
    default:
        options.action = letter;
    }
}

/// Parses the command line. Throws UsageError.
Options parse(int argc, char **argv) {
    static constexpr option known[]{{"board", required_argument, nullptr, 'b'},
                                    {"workload", required_argument, nullptr, 'w'},
                                    {"qemu-fd", required_argument, nullptr, 'q'},
                                    {"vfio-user", required_argument, nullptr, 'u'},
                                    {"control", required_argument, nullptr, 'c'},
                                    {"sysmem", required_argument, nullptr, 's'},
                                    {"fault", required_argument, nullptr, 'f'},
                                    {"data", required_argument, nullptr, 'd'},
                                    {"list", no_argument, nullptr, 'l'},
                                    {"version", no_argument, nullptr, 'v'},
                                    {"help", no_argument, nullptr, 'h'},
                                    {}};
    Options options;
    opterr = 0;
    for (int letter; (letter = ::getopt_long(argc, argv, "h", known, nullptr)) != -1;) {
        if (letter == '?')
            throw UsageError(std::string(argv[optind - 1]) +
                             ": no such option, or its value is missing");
        take(options, letter, optarg != nullptr ? optarg : "");
    }
    if (optind < argc)
        throw UsageError(std::string(argv[optind]) + ": not an option");
    return options;
}

/// Throws UsageError for options that serve() cannot carry out.
void check(const Options &options) {
    if (options.board.empty())
        throw UsageError("--board is needed");
    if (const std::string trouble = trouble_with(options.attach); !trouble.empty())
        throw UsageError(trouble);
}

int run(int argc, char **argv) {
    const Options options = parse(argc, argv);
    switch (options.action) {
    case 'h':
        std::cout << help;
        return 0;
    case 'v':
        std::cout << "nvdebug-model " NVDEBUG_MODEL_VERSION "\n";
        return 0;
    case 'l':
        list_data(Catalog(options.data));
        return 0;
    default:
        check(options);
        return serve(options);
    }
}

} // namespace

int main(int argc, char **argv) {
    try {
        return run(argc, argv);
    } catch (const UsageError &error) {
        std::cerr << "nvdebug-model: " << error.what() << " (see --help)\n";
        return exit_usage;
    } catch (const ConfigError &error) {
        std::cerr << "nvdebug-model: " << error.what() << "\n";
        return exit_config;
    } catch (const std::exception &error) {
        std::cerr << "nvdebug-model: " << error.what() << "\n";
        return exit_internal;
    }
}
