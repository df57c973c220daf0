// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvqos_state.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lib/base/nvqos_client.hpp"
#include "lib/base/printable.hpp"

namespace nvdebug::kubernetes {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds patience{5}, period{1};

Outcome<Json> asked(const std::string &socket, const std::string &request) {
    const auto answer = base::ask_nvqos(socket, request, patience);
    if (!answer)
        return fail(answer.error().exit, answer.error().sentence);
    Json document = Json::parse(*answer, nullptr, false);
    if (!document.is_array())
        return fail(base::exit_status::failed,
                    fmt::format("the answer of the nvqos at {} to '{}' is no list: it may be of "
                                "another version",
                                base::printable(socket), request));
    return document;
}

/// Returns the string of a key; empty: it is null.
std::string text_of(const Json &object, const char *key) {
    const Json &value = object.at(key);
    return value.is_null() ? "" : value.get<std::string>();
}

std::optional<double> number_at(const Json &object, const char *key) {
    const Json &value = object.at(key);
    return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

KeptGpu kept_gpu(const Json &one) {
    return {.number = one.at("gpu").get<std::uint32_t>(),
            .uuid = text_of(one, "uuid"),
            .address = text_of(one, "address"),
            .is_up = one.at("up").get<bool>(),
            .why = text_of(one, "why"),
            .possible_percent = number_at(one, "possible_percent")};
}

HeldTenant held_tenant(const Json &one) {
    std::vector<GotTime> got;
    for (const Json &time : one.at("got"))
        got.push_back({.gpu = time.at("gpu").get<std::uint32_t>(),
                       .used_s = time.at("used_s").get<double>(),
                       .time_s = time.at("time_s").get<double>(),
                       .percent = number_at(time, "percent"),
                       .wait_p99_ms = number_at(time, "wait_p99_ms")});
    return {.name = one.at("name").get<std::string>(),
            .goal = one.at("goal").get<std::string>(),
            .gpus = one.at("gpus").get<std::vector<std::uint32_t>>(),
            .holders = one.at("holders").get<std::vector<std::uint32_t>>(),
            .got = std::move(got)};
}

/// Returns the names of tenants, which change when one comes or goes.
std::vector<std::string> names_of(const Json &tenants) {
    std::vector<std::string> names;
    for (const Json &one : tenants)
        names.push_back(one.at("name").get<std::string>());
    return names;
}

} // namespace

Outcome<NvqosState> read_nvqos(const std::string &socket) try {
    constexpr int most_tries = 5;
    auto tenants = asked(socket, "list");
    for (int tries = 0; tenants && tries < most_tries; tries++) {
        const auto gpus = asked(socket, "gpus");
        auto after = gpus ? asked(socket, "list") : tl::unexpected(gpus.error());
        if (!after)
            return tl::unexpected(after.error());
        if (names_of(*after) == names_of(*tenants)) {
            NvqosState state;
            for (const Json &one : *gpus)
                state.gpus.push_back(kept_gpu(one));
            for (const Json &one : *after)
                state.tenants.push_back(held_tenant(one));
            return state;
        }
        tenants = std::move(after);
    }
    if (!tenants)
        return tl::unexpected(tenants.error());
    return fail(base::exit_status::failed, "tenants of nvqos come and go all the time");
} catch (const Json::exception &error) {
    return fail(base::exit_status::failed,
                fmt::format("an answer of the nvqos at {} is not understood: {}; it may be of "
                            "another version",
                            base::printable(socket), error.what()));
}

NvqosFollower::NvqosFollower(std::string socket, Take take)
    : socket_(std::move(socket)), take_(std::move(take)), thread_([this] { follow(); }) {}

NvqosFollower::~NvqosFollower() {
    {
        const std::scoped_lock held(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void NvqosFollower::follow() {
    for (std::unique_lock held(mutex_); !ending_;) {
        held.unlock();
        take_(read_nvqos(socket_));
        held.lock();
        changed_.wait_for(held, period, [&] { return ending_; });
    }
}

} // namespace nvdebug::kubernetes
