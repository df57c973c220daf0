// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Requests to the API server of the cluster: HTTPS with JSON, and the token of a service
/// account. The paths and types are those of Kubernetes' published API (resource.k8s.io/v1).
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "nvdebug/expected.hpp"

namespace nvdebug::kubernetes {

using Json = nlohmann::json;

/// The API server, and the credentials for it.
struct ApiPlace {
    std::string server;     ///< `https://10.96.0.1:443`, without a slash at its end
    std::string token_file; ///< read before each request, because kubelet replaces the token
    std::string ca_file;    ///< the certificates that the server's one has to come from
    std::chrono::milliseconds patience = std::chrono::seconds(10); ///< for a whole request

    /// Returns the place that kubelet gives each pod with a service account: the variables
    /// KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT, and the files in
    /// /var/run/secrets/kubernetes.io/serviceaccount. `server` is empty outside of a pod.
    [[nodiscard]] static ApiPlace in_cluster();
};

struct ApiError {
    static constexpr int no_answer = 0;
    int status = no_answer; ///< of HTTP, as 404
    std::string sentence;
};

template <typename T>
using ApiOutcome = tl::expected<T, ApiError>;

/// May be used by several threads.
class ApiServer {
  public:
    /// An answer is longer than this only if something is wrong. One ResourceSlice has 1 MiB at
    /// most, and a node has one or two.
    static constexpr std::size_t longest_answer = 16 << 20;

    explicit ApiServer(ApiPlace place);

    /// The functions return the object that the server answers with, and fail with the server's
    /// `message` in a sentence.
    /// @param path from `/apis/` or `/api/` on, with escape()d names
    [[nodiscard]] ApiOutcome<Json> get(const std::string &path) const;
    [[nodiscard]] ApiOutcome<Json> create(const std::string &path, const Json &object) const;
    [[nodiscard]] ApiOutcome<Json> update(const std::string &path, const Json &object) const;
    /// Server-side apply: changes only the fields of @p object, which this program owns then.
    [[nodiscard]] ApiOutcome<Json> apply(const std::string &path, const Json &object) const;
    [[nodiscard]] ApiOutcome<Json> remove(const std::string &path) const;

    [[nodiscard]] const std::string &server() const { return place_.server; }

  private:
    struct Request {
        const char *method;
        std::string path;
        const char *content_type; ///< null: without a body
        std::string body;
    };
    [[nodiscard]] ApiOutcome<Json> send(const Request &request) const;
    [[nodiscard]] ApiOutcome<std::string> token() const;

    ApiPlace place_;
};

/// Returns a name or a value of a query as a part of a path, in which only letters, digits, `-`,
/// `.`, `_` and `~` stay.
[[nodiscard]] std::string escape(const std::string &name);

} // namespace nvdebug::kubernetes
