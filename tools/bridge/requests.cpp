// SPDX-License-Identifier: MIT OR GPL-2.0
#include "requests.hpp"

#include "base/error.hpp"
#include "base/parse.hpp"
#include "regs/pbus.hpp"

#include <nlohmann/json.hpp>

namespace nvdebug::bridge {
namespace {

using Json = nlohmann::ordered_json;
using nvmodel::ConfigError;

/// Adds accesses in the form in which the model lists accesses to things that its board lacks.
void add(Json &list, const std::map<std::uint64_t, std::uint64_t> &all, const char *access,
         const char *why) {
    for (const auto &[at, times] : all)
        list.push_back({{"bar", 0},
                        {"offset", hex(at)},
                        {"access", access},
                        {"size", 4},
                        {"why", why},
                        {"count", times}});
}

Json violations(const BridgedGpu::Refusals &refusals) {
    Json list = Json::array();
    add(list, refusals.writes, "write", "refused");
    add(list, refusals.registers, "read", "not there");
    add(list, refusals.memory, "read", "video memory that is not there");
    return {{"violations", std::move(list)}};
}

Json stats(const BridgedGpu::Counts &now, const BridgedGpu::Counts &before) {
    return {{"registers", now.registers - before.registers},
            {"memory_words", now.memory_words - before.memory_words}};
}

} // namespace

std::string Requests::answer(std::string_view line) {
    Json reply{{"ok", true}};
    try {
        const auto words = nvmodel::split_words(line);
        const std::string name = words.empty() ? "" : words.front();
        const std::string argument = words.size() > 1 ? words[1] : "";
        const bool reset = words.size() == 2 && argument == "reset";
        if (words.size() > (name == "stats" || name == "violations" || name == "file" ? 2U : 1U))
            throw ConfigError("unexpected argument '" + words.back() + "'");
        if (name == "info")
            reply["board"] = gpu_.name();
        else if (name == "report")
            reply["report"] = gpu_.report();
        else if (name == "stats" && reset)
            before_ = gpu_.counts();
        else if (name == "stats")
            reply.update(stats(gpu_.counts(), before_));
        else if (name == "violations" && reset)
            gpu_.forget_refusals();
        else if (name == "violations")
            reply.update(violations(gpu_.refusals()));
        else if (name == "file") {
            if (const auto shown = gpu_.show(argument); !shown)
                throw ConfigError(shown.error().sentence);
        } else if (name != "start")
            throw ConfigError("'" + name + "' is no request to a bridge (see docs/vm.md)");
    } catch (const ConfigError &error) {
        reply = {{"ok", false}, {"error", error.what()}};
    }
    return reply.dump(-1, ' ', true, Json::error_handler_t::replace);
}

} // namespace nvdebug::bridge
