// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dra.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "dra_service.hpp"
#include "dra_upkeep.hpp"
#include "grpc_socket.hpp"
#include "hook_program.hpp"
#include "lib/base/container_device.hpp"
#include "lib/base/ending_signals.hpp"
#include "lib/base/nvqos_client.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/words.hpp"

namespace nvdebug::kubernetes {
namespace {

namespace fs = std::filesystem;

constexpr const char *usual_kubelet = "/var/lib/kubelet";
constexpr std::int64_t usual_percent = 95, most_percent = 99;

struct DraOptions {
    std::string node, kubelet;
    ApiPlace api = ApiPlace::in_cluster();
    ClaimSettings claims;
    SliceSettings slice;
    ReportSettings report;
    bool removes_slice = false;
};

tl::unexpected<Failure> wrong_usage(std::string sentence) {
    return fail(base::exit_status::bad_usage, std::move(sentence));
}

Outcome<void> read_paths(const cli::Arguments &arguments, DraOptions &options) {
    const struct {
        const char *option;
        std::string otherwise;
        std::string &to;
    } paths[] = {
        {"--socket", base::usual_nvqos_socket, options.claims.socket},
        {"--kubelet", usual_kubelet, options.kubelet},
        {"--cdi-folder", base::device_folder, options.claims.files.folder},
        {"--token-file", options.api.token_file, options.api.token_file},
        {"--ca-file", options.api.ca_file, options.api.ca_file},
        {"--sysfs", options.slice.machine.sys, options.slice.machine.sys},
        {"--procfs", options.slice.machine.proc, options.slice.machine.proc},
    };
    for (const auto &one : paths) {
        auto path = path_of(arguments, one.option, one.otherwise);
        if (!path)
            return tl::unexpected(path.error());
        one.to = std::move(*path);
    }
    if (const auto address = base::socket_address(options.claims.socket); !address)
        return wrong_usage("--socket: " + address.error().sentence);
    options.claims.files.socket = options.claims.socket;
    return {};
}

Outcome<void> read_times(const cli::Arguments &arguments, DraOptions &options) {
    using std::chrono::nanoseconds;
    constexpr std::uint64_t second = 1'000'000'000, minute = 60 * second, hour = 60 * minute;
    const base::TimeRule rule{.least = second, .most = hour};
    nanoseconds patience{};
    const struct {
        const char *option;
        std::uint64_t otherwise;
        nanoseconds &to;
    } times[] = {
        {"--api-timeout", 10 * second, patience},
        {"--report-every", minute, options.report.period},
        {"--not-kept-for", minute, options.slice.not_kept_for},
    };
    for (const auto &one : times) {
        const auto time = arguments.time_ns(one.option, one.otherwise, rule);
        if (!time)
            return wrong_usage(time.error());
        one.to = nanoseconds(*time);
    }
    options.api.patience = std::chrono::duration_cast<std::chrono::milliseconds>(patience);
    options.report.not_kept_for = options.slice.not_kept_for;
    return {};
}

Outcome<DraOptions> read_dra_options(const cli::Arguments &arguments) {
    DraOptions options;
    if (auto read = read_paths(arguments, options); !read)
        return tl::unexpected(read.error());
    if (auto read = read_times(arguments, options); !read)
        return tl::unexpected(read.error());
    const char *const of_pod = std::getenv("NODE_NAME");
    options.node = arguments.text("--node", of_pod ? of_pod : "");
    if (options.node.empty())
        return wrong_usage(
            "--node is missing: it takes the name of this node in the cluster, which "
            "the variable NODE_NAME may have as well");
    options.api.server = arguments.text("--api-server", options.api.server);
    while (options.api.server.ends_with('/'))
        options.api.server.pop_back();
    if (!options.api.server.starts_with("https://"))
        return wrong_usage(options.api.server.empty()
                               ? std::string("--api-server is missing: outside of a pod it takes "
                                             "an address as https://10.96.0.1:443")
                               : fmt::format("--api-server takes an address with https://, because "
                                             "the token is sent there, not {}",
                                             base::quote(options.api.server)));
    const auto percent = arguments.number("--units", usual_percent, 1, most_percent);
    if (!percent)
        return wrong_usage(percent.error());
    const std::string visible = arguments.text("--visible-devices", "envvar");
    options.claims.names_gpus = visible == "cdi";
    options.claims.files.sets_visible_devices = visible == "envvar";
    options.claims.pool = options.slice.node = options.report.node = options.node;
    options.claims.pid = static_cast<std::uint32_t>(::getpid());
    options.slice.most_percent = *percent;
    options.slice.evicts = arguments.has("--evict");
    options.report.makes_events = !arguments.has("--no-events");
    options.removes_slice = arguments.has("--remove-slice");
    return options;
}

std::string plugin_folder(const std::string &kubelet) {
    return fmt::format("{}/plugins/{}", kubelet, driver_name);
}

std::string endpoint_in(const std::string &kubelet) {
    return plugin_folder(kubelet) + "/dra.sock";
}

/// Makes the folders in which kubelet expects sockets.
Outcome<void> make_folders(const std::string &kubelet) {
    std::error_code error;
    if (!fs::is_directory(kubelet, error))
        return wrong_usage(fmt::format("{} is no folder here: kubelet makes it, and --kubelet "
                                       "names another one",
                                       base::printable(kubelet)));
    for (const std::string &folder : {plugin_folder(kubelet), kubelet + "/plugins_registry"}) {
        fs::create_directories(folder, error);
        if (error)
            return fail(
                of_file(error.value()),
                fmt::format("cannot make {}: {}", base::printable(folder), error.message()));
    }
    return {};
}

/// The two sockets that kubelet connects to. They are made again when they were removed.
class KubeletSockets {
  public:
    KubeletSockets(std::string kubelet, std::vector<grpc::Service *> services,
                   grpc::Service *registration)
        : kubelet_(std::move(kubelet)), services_(std::move(services)),
          registration_(registration) {}

    /// Opens the sockets that are not there. kubelet calls the endpoint once it sees the other one,
    /// so that one comes last.
    [[nodiscard]] Outcome<void> keep() {
        if (endpoint_socket_ && registry_socket_ && endpoint_socket_->is_there() &&
            registry_socket_->is_there())
            return {};
        registry_socket_.reset();
        endpoint_socket_.reset();
        if (auto made = make_folders(kubelet_); !made)
            return made;
        auto endpoint_made = GrpcSocket::open(endpoint_in(kubelet_), services_);
        if (!endpoint_made)
            return tl::unexpected(endpoint_made.error());
        auto registry_made = GrpcSocket::open(
            fmt::format("{}/plugins_registry/{}-reg.sock", kubelet_, driver_name), {registration_});
        if (!registry_made)
            return tl::unexpected(registry_made.error());
        endpoint_socket_ = std::move(*endpoint_made);
        registry_socket_ = std::move(*registry_made);
        return {};
    }

  private:
    const std::string kubelet_;
    const std::vector<grpc::Service *> services_;
    grpc::Service *const registration_;
    std::unique_ptr<GrpcSocket> endpoint_socket_, registry_socket_;
};

/// Keeps the sockets until a signal comes.
void serve_until_signal(KubeletSockets &sockets) {
    const sigset_t ending = base::ending_signals();
    const timespec next_look{1, 0};
    Logged logged;
    while (::sigtimedwait(&ending, nullptr, &next_look) < 0) {
        const auto kept = sockets.keep();
        if (kept)
            logged.clear();
        else
            logged(kept.error().sentence);
    }
}

} // namespace

cli::Verb dra_verb() {
    return {
        .name = "dra",
        .help = "offers each GPU's time to claims of the driver gpu.nvdebug.io",
        .options =
            options_of_hook() +
            std::vector<cli::Option>{
                {"--node", "the name of this node in the cluster (default: $NODE_NAME)", "NAME"},
                {"--socket",
                 fmt::format("the socket of nvqos, here and on the node (default: {})",
                             base::usual_nvqos_socket),
                 "PATH"},
                {"--units",
                 fmt::format("percent of each GPU that claims may have together (default: {})",
                             usual_percent),
                 "N"},
                {.name = "--visible-devices",
                 .help = "how a container gets its GPU: by the variable NVIDIA_VISIBLE_DEVICES, by "
                         "NVIDIA's CDI device, or not at all",
                 .value = "HOW",
                 .choices = {"envvar", "cdi", "none"}},
                {"--not-kept-for",
                 "a GPU is tainted for so long after a goal was not kept, and events come after "
                 "that "
                 "time (default: 1min)",
                 "TIME"},
                {"--evict", "taints that last end pods, and do not only keep new ones away"},
                {"--report-every", "the least time between two states of a claim (default: 1min)",
                 "TIME"},
                {"--no-events", "makes no events"},
                {"--remove-slice", "removes the ResourceSlice at the end"},
                {"--cdi-folder",
                 fmt::format("where container runtimes look for devices (default: {})",
                             base::device_folder),
                 "FOLDER"},
                {"--kubelet", fmt::format("kubelet's folder (default: {})", usual_kubelet),
                 "FOLDER"},
                {"--api-server", "the API server (default: the one that pods are given)", "URL"},
                {"--token-file", "the token of a service account (default: the pod's)", "FILE"},
                {"--ca-file",
                 "certificates that the API server's has to come from (default: the pod's)",
                 "FILE"},
                {"--api-timeout", "the longest wait for the API server (default: 10s)", "TIME"},
                {.name = "--sysfs", .help = "in place of /sys", .value = "FOLDER", .hidden = true},
                {.name = "--procfs",
                 .help = "in place of /proc",
                 .value = "FOLDER",
                 .hidden = true}},
        .examples = {{"nvdebug-device-plugin dra", "as the DaemonSet runs it"}},
        .usage = {{"nvdebug-device-plugin dra [OPTION]...", ""}}};
}

Outcome<Exit> run_dra(const cli::Arguments &arguments) {
    auto options = read_dra_options(arguments);
    if (!options)
        return tl::unexpected(options.error());
    if (options->claims.pid == 1)
        return wrong_usage(
            "this process has the number 1, so nvqos sees it by another one: the pod "
            "needs 'hostPID: true'");
    auto program = hook_program(arguments);
    if (!program)
        return tl::unexpected(program.error());
    options->claims.files.nvqos = std::move(*program);
    const ApiServer api(options->api);
    Claims claims(api, options->claims);
    DraUpkeep upkeep(api, claims, options->slice, options->report);
    const auto service = make_dra_service(claims), older = make_older_dra_service(claims);
    {
        const NvqosWatch watch(
            options->claims.socket, [&] { return claims.hold_again(); },
            [&](const NvqosView &view) { upkeep.take(view); });
        const auto registration =
            make_registration_service(endpoint_in(options->kubelet), [&] { upkeep.wake(); });
        KubeletSockets sockets(options->kubelet, {service.get(), older.get()}, registration.get());
        if (auto kept = sockets.keep(); !kept)
            return tl::unexpected(kept.error());
        serve_until_signal(sockets);
    }
    if (options->removes_slice)
        upkeep.remove_slice();
    return base::exit_status::done;
}

} // namespace nvdebug::kubernetes
