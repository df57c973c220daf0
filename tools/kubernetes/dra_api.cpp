// SPDX-License-Identifier: MIT OR GPL-2.0
#include "dra_api.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <curl/curl.h>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <string_view>

#include "lib/base/printable.hpp"

namespace nvdebug::kubernetes {
namespace {

using base::printable;

constexpr const char *account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr const char *json_type = "application/json";
constexpr const char *apply_type = "application/apply-patch+yaml";
/// By this name the server remembers which fields this program owns.
constexpr const char *field_manager = "fieldManager=gpu.nvdebug.io&force=true";

/// A server's message may repeat the object that it refuses.
constexpr std::size_t longest_message = 600;

struct Body {
    std::string text;
    bool is_too_long = false;
};

std::size_t take_part(char *data, std::size_t size, std::size_t count, void *into) {
    auto &body = *static_cast<Body *>(into);
    const std::size_t bytes = size * count;
    if (body.text.size() + bytes > ApiServer::longest_answer) {
        body.is_too_long = true;
        return 0; // libcurl ends the transfer
    }
    body.text.append(data, bytes);
    return bytes;
}

struct EndHandle {
    void operator()(CURL *handle) const { curl_easy_cleanup(handle); }
};
struct EndList {
    void operator()(curl_slist *list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, EndList>;

void add_header(HeaderList &list, const std::string &line) {
    list.reset(curl_slist_append(list.release(), line.c_str()));
}

/// Returns the `message` of a Status object, or the beginning of another text.
std::string message_in(const std::string &text) {
    const Json json = Json::parse(text, nullptr, false);
    std::string message = text;
    if (json.is_object() && json.contains("message") && json["message"].is_string())
        message = json["message"].get<std::string>();
    if (message.size() > longest_message)
        message = message.substr(0, longest_message) + "…";
    return message.empty() ? "without a message" : printable(message);
}

/// Returns the object's text. Bytes that are not UTF-8, which an object should not have, are replaced.
std::string text_of(const Json &object) {
    return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const char *advice_on(long status) {
    switch (status) {
    case 401:
        return "; the token is not, or no longer, valid: see --token-file";
    case 403:
        return "; packaging/kubernetes/dra has the rights that the service account needs";
    default:
        return "";
    }
}

} // namespace

ApiPlace ApiPlace::in_cluster() {
    const auto variable = [](const char *name) {
        const char *const value = std::getenv(name);
        return std::string(value ? value : "");
    };
    std::string host = variable("KUBERNETES_SERVICE_HOST");
    const std::string port = variable("KUBERNETES_SERVICE_PORT"), folder = account_folder;
    ApiPlace place{.server = "", .token_file = folder + "/token", .ca_file = folder + "/ca.crt"};
    if (host.find(':') != host.npos)
        host = "[" + host + "]"; // an address of IPv6
    if (!host.empty())
        place.server = fmt::format("https://{}:{}", host, port.empty() ? "443" : port);
    return place;
}

ApiServer::ApiServer(ApiPlace place) : place_(std::move(place)) {
    curl_global_init(CURL_GLOBAL_DEFAULT); // counts its calls, and may be called by any thread
}

ApiOutcome<std::string> ApiServer::token() const {
    const auto wrong = [&](const std::string &why) {
        return tl::unexpected(
            ApiError{.sentence = fmt::format("cannot use the token in {}: {}; a pod has one if its "
                                             "service account is mounted, and --token-file names "
                                             "another file",
                                             printable(place_.token_file), why)});
    };
    std::ifstream file(place_.token_file);
    if (!file)
        return wrong(std::strerror(errno));
    // A token has a few hundred bytes; a header of HTTP has to fit into a server's buffer.
    std::array<char, 64 << 10> bytes{};
    file.read(bytes.data(), bytes.size());
    std::string token(bytes.data(), static_cast<std::size_t>(file.gcount()));
    while (!token.empty() && std::isspace(static_cast<unsigned char>(token.back())))
        token.pop_back();
    if (token.empty() || token.size() + 1 >= bytes.size() ||
        !std::ranges::all_of(token, [](unsigned char c) { return c > 0x20 && c < 0x7f; }))
        return wrong("it is empty, too long, or has characters that a token does not have");
    return token;
}

ApiOutcome<Json> ApiServer::send(const Request &request) const {
    const auto failed = [&](long status, const std::string &why) {
        return tl::unexpected(
            ApiError{.status = static_cast<int>(status),
                     .sentence = fmt::format("{} {}{}: {}", request.method, place_.server,
                                             request.path.substr(0, request.path.find('?')), why)});
    };
    const auto token = this->token();
    if (!token)
        return tl::unexpected(token.error());
    const std::unique_ptr<CURL, EndHandle> handle(curl_easy_init());
    if (!handle)
        return failed(ApiError::no_answer, "there is no memory for a request");
    CURL *const to = handle.get();
    HeaderList headers;
    add_header(headers, "Authorization: Bearer " + *token);
    add_header(headers, fmt::format("Accept: {}", json_type));
    if (request.content_type)
        add_header(headers, fmt::format("Content-Type: {}", request.content_type));
    add_header(headers, "Expect:"); // no pause before bodies of more than 1 MiB
    const std::string url = place_.server + request.path;
    std::array<char, CURL_ERROR_SIZE> reason{};
    Body body;
    curl_easy_setopt(to, CURLOPT_URL, url.c_str());
    curl_easy_setopt(to, CURLOPT_CUSTOMREQUEST, request.method);
    curl_easy_setopt(to, CURLOPT_HTTPHEADER, headers.get());
    // The token goes to a server that has shown its certificate, and to no other one.
    curl_easy_setopt(to, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(to, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(to, CURLOPT_CAINFO, place_.ca_file.c_str());
    curl_easy_setopt(to, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(to, CURLOPT_TIMEOUT_MS, static_cast<long>(place_.patience.count()));
    curl_easy_setopt(to, CURLOPT_ERRORBUFFER, reason.data());
    curl_easy_setopt(to, CURLOPT_WRITEFUNCTION, take_part);
    curl_easy_setopt(to, CURLOPT_WRITEDATA, &body);
    if (request.content_type) {
        curl_easy_setopt(to, CURLOPT_POSTFIELDS, request.body.c_str());
        curl_easy_setopt(to, CURLOPT_POSTFIELDSIZE_LARGE,
                         static_cast<curl_off_t>(request.body.size()));
    }
    const CURLcode code = curl_easy_perform(to);
    if (body.is_too_long)
        return failed(ApiError::no_answer,
                      fmt::format("the answer is longer than {} MiB", longest_answer >> 20));
    if (code != CURLE_OK)
        return failed(ApiError::no_answer,
                      fmt::format("{}; the API server is away or another one answers there, see "
                                  "--api-server and --ca-file",
                                  reason[0] ? printable(reason.data()) : curl_easy_strerror(code)));
    long status = 0;
    curl_easy_getinfo(to, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status > 299)
        return failed(status,
                      fmt::format("{}: {}{}", status, message_in(body.text), advice_on(status)));
    Json object = Json::parse(body.text, nullptr, false);
    if (!object.is_object())
        return failed(ApiError::no_answer, "the answer is no object of JSON");
    return object;
}

ApiOutcome<Json> ApiServer::get(const std::string &path) const {
    return send({"GET", path, nullptr, ""});
}

ApiOutcome<Json> ApiServer::create(const std::string &path, const Json &object) const {
    return send({"POST", path, json_type, text_of(object)});
}

ApiOutcome<Json> ApiServer::update(const std::string &path, const Json &object) const {
    return send({"PUT", path, json_type, text_of(object)});
}

ApiOutcome<Json> ApiServer::apply(const std::string &path, const Json &object) const {
    // JSON is YAML, too.
    return send({"PATCH", path + "?" + field_manager, apply_type, text_of(object)});
}

ApiOutcome<Json> ApiServer::remove(const std::string &path) const {
    return send({"DELETE", path, nullptr, ""});
}

std::string escape(const std::string &name) {
    std::string escaped;
    for (const unsigned char c : name)
        if (std::isalnum(c) ||
            std::string_view("-._~").find(static_cast<char>(c)) != std::string_view::npos)
            escaped += static_cast<char>(c);
        else
            escaped += fmt::format("%{:02X}", c);
    return escaped;
}

} // namespace nvdebug::kubernetes
