// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file getaddrinfo() of the static program, in place of the C library's, which loads plugins
/// (nsswitch.conf) of the C library that it was built with.
#include <arpa/inet.h>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

/// An answer. The C library's structure is a part of it.
struct Entry : addrinfo {
    sockaddr_in6 place{}; ///< large enough for an IPv4 or an IPv6 address
};

std::optional<sockaddr_in6> place_of(const char *host, in_port_t port) {
    sockaddr_in6 six{};
    auto &four = reinterpret_cast<sockaddr_in &>(six);
    if (::inet_pton(AF_INET6, host, &six.sin6_addr) == 1) {
        six.sin6_family = AF_INET6;
        six.sin6_port = port;
    } else if (six = {}; ::inet_pton(AF_INET, host, &four.sin_addr) == 1) {
        four.sin_family = AF_INET;
        four.sin_port = port;
    } else {
        return std::nullopt;
    }
    return six;
}

/// Returns the addresses that /etc/hosts has for a name. A container may lack this file.
std::vector<std::string> named(const std::string &host) {
    std::vector<std::string> found;
    std::ifstream hosts("/etc/hosts");
    for (std::string line; std::getline(hosts, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string address, name;
        for (words >> address; words >> name;)
            if (name == host)
                found.push_back(address);
    }
    if (found.empty() && host == "localhost")
        found = {"127.0.0.1"};
    return found;
}

} // namespace

/// Resolves addresses, and names only from /etc/hosts; nullptr: all addresses. @p port is a number.
extern "C" int getaddrinfo(const char *host, const char *port, const addrinfo *hints,
                           addrinfo **result) {
    *result = nullptr;
    const in_port_t number = htons(static_cast<in_port_t>(std::atoi(port)));
    std::vector<std::string> hosts = {"::", "0.0.0.0"};
    if (host)
        hosts = place_of(host, number) ? std::vector<std::string>{host} : named(host);
    for (const std::string &one : hosts)
        if (const auto place = place_of(one.c_str(), number)) {
            auto *const entry = new Entry{};
            entry->place = *place;
            entry->ai_family = place->sin6_family;
            entry->ai_socktype = hints->ai_socktype;
            entry->ai_addr = reinterpret_cast<sockaddr *>(&entry->place);
            entry->ai_addrlen =
                entry->ai_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
            entry->ai_next = *result;
            *result = entry;
        }
    return *result ? 0 : EAI_NONAME;
}

extern "C" void freeaddrinfo(addrinfo *entry) {
    while (entry) {
        const std::unique_ptr<Entry> first(static_cast<Entry *>(entry));
        entry = entry->ai_next;
    }
}
