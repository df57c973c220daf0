// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file kubelet's folder of device plugins: the plugin's socket in it, and its registration.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "failure.hpp"
#include "file_identity.hpp"
#include "grpc_socket.hpp"

namespace nvdebug::kubernetes {

/// Waits for changes in a folder, and for the signals that end the program.
class FolderWatch {
  public:
    /// @p folder may be missing, and may come later.
    [[nodiscard]] static Outcome<std::unique_ptr<FolderWatch>> open(std::string folder);
    ~FolderWatch();
    FolderWatch(const FolderWatch &) = delete;
    FolderWatch &operator=(const FolderWatch &) = delete;

    /// Returns after a change in the folder, or after @p patience_ms at most. Returns false once a
    /// signal has come that ends the program.
    [[nodiscard]] bool wait(int patience_ms);

  private:
    FolderWatch(std::string folder, int changes, int signals)
        : folder_(std::move(folder)), changes_(changes), signals_(signals) {}

    std::string folder_;
    int changes_, signals_;
};

/// Keeps the plugin registered. kubelet forgets all plugins when it ends, and makes a new socket.
class Registration {
  public:
    static constexpr const char *resource = "nvdebug.io/gpu-percent";
    static constexpr const char *endpoint = "nvdebug.io-gpu-percent.sock";

    Registration(std::string folder, grpc::Service &service)
        : folder_(std::move(folder)), service_(service) {}

    /// Makes the plugin's socket if it is not there, and registers it if this kubelet has not
    /// registered it yet, which the log says. Fails if either is impossible now.
    [[nodiscard]] Outcome<void> keep();
    [[nodiscard]] bool is_registered() const { return static_cast<bool>(registered_at_); }
    /// Returns the time of the last registration.
    [[nodiscard]] std::chrono::steady_clock::time_point registered_since() const {
        return registered_since_;
    }
    /// Makes the next keep() register again.
    void forget() { registered_at_ = {}; }

  private:
    std::string folder_;
    grpc::Service &service_;
    std::unique_ptr<GrpcSocket> socket_;
    FileIdentity registered_at_; ///< kubelet's socket when the plugin was registered
    std::chrono::steady_clock::time_point registered_since_;
};

} // namespace nvdebug::kubernetes
