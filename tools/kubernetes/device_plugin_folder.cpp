// SPDX-License-Identifier: MIT OR GPL-2.0
#include "device_plugin_folder.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/base/ending_signals.hpp"
#include "lib/base/printable.hpp"
#include "proto/device_plugin.grpc.pb.h"

namespace nvdebug::kubernetes {
namespace {

constexpr const char *api_version = "v1beta1";
constexpr std::chrono::seconds longest_registration{5};

/// Registers the plugin at kubelet's socket.
Outcome<void> register_at(const std::string &path) {
    grpc::ChannelArguments arguments;
    // A channel of an earlier kubelet would wait before it connects again.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    const auto channel =
        grpc::CreateCustomChannel("unix:" + path, grpc::InsecureChannelCredentials(), arguments);
    v1beta1::RegisterRequest request;
    request.set_version(api_version);
    request.set_endpoint(Registration::endpoint);
    request.set_resource_name(Registration::resource);
    request.mutable_options()->set_pre_start_required(true);
    request.mutable_options()->set_get_preferred_allocation_available(true);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + longest_registration);
    v1beta1::Empty answer;
    const auto status =
        v1beta1::Registration::NewStub(channel)->Register(&context, request, &answer);
    if (!status.ok())
        return fail(base::exit_status::failed,
                    fmt::format("kubelet at {} does not register the plugin: {}; it is tried again",
                                base::printable(path), base::printable(status.error_message())));
    return {};
}

} // namespace

Outcome<std::unique_ptr<FolderWatch>> FolderWatch::open(std::string folder) {
    const sigset_t set = base::ending_signals();
    const int signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    const int changes = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    std::unique_ptr<FolderWatch> watch(new FolderWatch(std::move(folder), changes, signals));
    if (signals < 0 || changes < 0)
        return fail(base::exit_status::failed,
                    fmt::format("cannot watch {}: {}; 'sysctl fs.inotify' has the limits",
                                base::printable(watch->folder_), ::strerrordesc_np(errno)));
    return watch;
}

FolderWatch::~FolderWatch() {
    for (const int descriptor : {changes_, signals_})
        if (descriptor >= 0)
            ::close(descriptor);
}

bool FolderWatch::wait(int patience_ms) {
    // The folder may have been removed and made again. Adding a watch twice changes nothing.
    ::inotify_add_watch(changes_, folder_.c_str(),
                        IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_DELETE_SELF);
    std::array<pollfd, 2> awaited{pollfd{signals_, POLLIN, 0}, pollfd{changes_, POLLIN, 0}};
    ::poll(awaited.data(), awaited.size(), patience_ms);
    alignas(inotify_event) std::array<char, 4096> events;
    while (::read(changes_, events.data(), events.size()) > 0) {
    }
    return awaited[0].revents == 0;
}

Outcome<void> Registration::keep() {
    if (!socket_ || !socket_->is_there()) {
        registered_at_ = {};
        socket_.reset();
        auto opened = GrpcSocket::open(folder_ + "/" + endpoint, {&service_});
        if (!opened)
            return tl::unexpected(opened.error());
        socket_ = std::move(*opened);
    }
    const std::string path = folder_ + "/kubelet.sock";
    const FileIdentity kubelet = identity_of(path);
    if (!kubelet) {
        registered_at_ = {};
        return fail(
            base::exit_status::failed,
            fmt::format("there is no {} yet: the plugin waits for kubelet", base::printable(path)));
    }
    if (kubelet == registered_at_)
        return {};
    registered_at_ = {};
    if (const auto registered = register_at(path); !registered)
        return registered;
    registered_at_ = kubelet;
    registered_since_ = std::chrono::steady_clock::now();
    log(fmt::format("kubelet has registered {}", resource));
    return {};
}

} // namespace nvdebug::kubernetes
