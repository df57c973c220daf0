// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A gRPC server at a UNIX socket that kubelet connects to.
#pragma once

#include <grpcpp/grpcpp.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "failure.hpp"
#include "file_identity.hpp"

namespace nvdebug::kubernetes {

/// Serves the calls of processes of root and of this process' user, and closes the connections of
/// others. Each call has a thread, and there are 64 threads at most.
class GrpcSocket {
  public:
    /// Listens at @p path, for the owner only. Replaces a socket that an ended program left there.
    /// Fails if a program answers at it. The services must outlive the result.
    [[nodiscard]] static Outcome<std::unique_ptr<GrpcSocket>>
    open(const std::string &path, const std::vector<grpc::Service *> &services);
    /// Ends all calls and removes the socket's file.
    ~GrpcSocket();
    GrpcSocket(const GrpcSocket &) = delete;
    GrpcSocket &operator=(const GrpcSocket &) = delete;

    /// Returns false if the file was removed or replaced. kubelet removes all sockets in its folder
    /// when it starts.
    [[nodiscard]] bool is_there() const { return identity_of(path_) == identity_; }

  private:
    GrpcSocket(std::string path, int listener, std::unique_ptr<grpc::Server> server);
    void accept_connections();

    std::string path_;
    int listener_;
    int ending_; ///< an eventfd, readable once the thread is to end
    FileIdentity identity_;
    std::unique_ptr<grpc::Server> server_;
    std::thread acceptor_; // the last member, because it uses the others
};

} // namespace nvdebug::kubernetes
