// SPDX-License-Identifier: MIT OR GPL-2.0
#include "grpc_socket.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_posix.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/nvqos_client.hpp"
#include "lib/base/printable.hpp"

namespace nvdebug::kubernetes {
namespace {

using base::printable;

constexpr int most_threads = 64;
constexpr std::size_t most_memory = 64 << 20;
constexpr int backlog = 128;

/// A descriptor that is closed unless it is released.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    ~Descriptor() {
        if (number_ >= 0)
            ::close(number_);
    }
    [[nodiscard]] int number() const { return number_; }
    int release() { return std::exchange(number_, -1); }

  private:
    int number_;
};

int open_socket() {
    return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

tl::unexpected<Failure> cannot_listen(const std::string &path, int error) {
    return fail(of_file(error),
                fmt::format("cannot listen at {}: {}", printable(path), ::strerrordesc_np(error)));
}

/// Removes a socket that no program answers at.
Outcome<void> make_room(const std::string &path, const sockaddr_un &address) {
    struct stat about {};
    if (::lstat(path.c_str(), &about))
        return errno == ENOENT ? Outcome<void>() : cannot_listen(path, errno);
    if (!S_ISSOCK(about.st_mode))
        return fail(base::exit_status::refused,
                    fmt::format("{} is there and is no socket: remove it", printable(path)));
    const Descriptor probe(open_socket());
    const auto *const at = reinterpret_cast<const sockaddr *>(&address);
    if (::connect(probe.number(), at, sizeof(address)) == 0 || errno == EAGAIN)
        return fail(base::exit_status::refused,
                    fmt::format("another program answers at {}: end it, such as the "
                                "nvdebug-device-plugin of a pod or of a service",
                                printable(path)));
    if (::unlink(path.c_str()) && errno != ENOENT)
        return cannot_listen(path, errno);
    return {};
}

bool is_trusted(int connection) {
    ucred from{};
    socklen_t bytes = sizeof(from);
    return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &from, &bytes) == 0 &&
           (from.uid == 0 || from.uid == ::geteuid());
}

} // namespace

Outcome<std::unique_ptr<GrpcSocket>>
GrpcSocket::open(const std::string &path, const std::vector<grpc::Service *> &services) {
    const auto address = base::socket_address(path);
    if (!address)
        return fail(address.error().exit,
                    fmt::format("{}: {}", printable(path), address.error().sentence));
    if (const auto made = make_room(path, *address); !made)
        return tl::unexpected(made.error());
    Descriptor listener(open_socket());
    const auto *const at = reinterpret_cast<const sockaddr *>(&*address);
    if (listener.number() < 0 || ::bind(listener.number(), at, sizeof(*address)) ||
        ::chmod(path.c_str(), S_IRUSR | S_IWUSR) || ::listen(listener.number(), backlog))
        return cannot_listen(path, errno);
    grpc::ServerBuilder builder;
    for (grpc::Service *const service : services)
        builder.RegisterService(service);
    grpc::ResourceQuota quota;
    quota.SetMaxThreads(most_threads).Resize(most_memory);
    builder.SetResourceQuota(quota);
    auto server = builder.BuildAndStart();
    if (!server)
        return fail(base::exit_status::failed, "gRPC's server cannot start");
    return std::unique_ptr<GrpcSocket>(new GrpcSocket(path, listener.release(), std::move(server)));
}

GrpcSocket::GrpcSocket(std::string path, int listener, std::unique_ptr<grpc::Server> server)
    : path_(std::move(path)), listener_(listener), ending_(::eventfd(0, EFD_CLOEXEC)),
      identity_(identity_of(path_)), server_(std::move(server)),
      acceptor_([this] { accept_connections(); }) {}

GrpcSocket::~GrpcSocket() {
    ::eventfd_write(ending_, 1);
    acceptor_.join();
    if (is_there())
        ::unlink(path_.c_str());
    ::close(listener_);
    ::close(ending_);
    // Calls that wait for changes have no other end.
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
}

void GrpcSocket::accept_connections() {
    for (;;) {
        std::array<pollfd, 2> awaited{pollfd{listener_, POLLIN, 0}, pollfd{ending_, POLLIN, 0}};
        if (::poll(awaited.data(), awaited.size(), -1) < 0)
            continue;
        if (awaited[1].revents)
            return;
        Descriptor connection(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (connection.number() < 0) {
            // Without a free descriptor, the connection that waits would end each poll() at once.
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
                std::this_thread::sleep_for(std::chrono::seconds(1));
        } else if (is_trusted(connection.number())) {
            grpc::AddInsecureChannelFromFd(server_.get(), connection.release());
        }
    }
}

} // namespace nvdebug::kubernetes
