// SPDX-License-Identifier: MIT OR GPL-2.0
#include "ask.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "client.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "lib/cli/message.hpp"
#include "socket.hpp"
#include "tools/nvqos/display.hpp"
#include "tools/nvqos/report.hpp"

namespace nvqos {
namespace {

using nvdebug::base::printable;
using nvdebug::base::short_time;

tl::unexpected<Failure> not_understood(const std::string &request, const std::string &why) {
    return fail(failed,
                fmt::format("the answer to '{}' {}: is the nvqos that runs of another version?",
                            request, why));
}

Outcome<Json> document_on(const std::string &request, const nvdebug::cli::Arguments &arguments) {
    // nvqos asks the GPUs one by one for what tenants got, and each may take 2 s.
    constexpr std::chrono::seconds patience{30};
    const std::string path = arguments.text("--socket");
    auto answer = ask(path.empty() ? Socket::usual_path : path, request, patience);
    if (!answer)
        return tl::unexpected(answer.error());
    Json document = Json::parse(*answer, nullptr, false);
    if (document.is_discarded())
        return not_understood(request, "is no JSON");
    return document;
}

Outcome<void> put_out(const std::string &text) {
    if (const int error = nvdebug::cli::write_out(text))
        return fail(failed, std::string("stdout cannot be written: ") + std::strerror(error));
    return {};
}

std::string document_text(const char *schema, const char *version, const Json &data) {
    const Json document = {{"schema", schema}, {"schema_version", version}, {"data", data}};
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Returns whether all goals were seen to be kept, as far as there was anything to keep.
bool are_all_kept(const Json &status) {
    for (const Json &epoch : status.at("epochs"))
        for (const Json &tenant : epoch.at("tenants"))
            if (tenant.at("kept") == false ||
                tenant.at("why_not") == qos::text_of(WhyNot::cannot_be_seen))
                return false;
    return status.at("left_out").empty();
}

/// Returns `31.2 % of GPU 0; 240 ms of GPU 1`.
std::string text_of_got(const Json &got) {
    std::string text;
    for (const Json &one : got) {
        if (one.at("used_s") == 0)
            continue;
        const Json &percent = one.at("percent");
        const auto used =
            static_cast<qos::Ns>(one.at("used_s").get<double>() * static_cast<double>(qos::second));
        text += fmt::format("{}{} of GPU {}", text.empty() ? "" : "; ",
                            percent.is_null() ? short_time(used, " ")
                                              : fmt::format("{:.1f} %", percent.get<double>()),
                            one.at("gpu").get<std::uint32_t>());
    }
    return text.empty() ? "-" : text;
}

constexpr std::array<Column, 7> columns_of_list = {{{"TENANT", true, 0},
                                                    {"GOAL", true, 0},
                                                    {"GPUS", true, 2},
                                                    {"PROCESSES", true, 3},
                                                    {"HOLDER", false, 1},
                                                    {"SINCE", false, 4},
                                                    {"GOT", true, 5}}};

/// Returns the numbers with commas. If there are many, it returns the first ones and how many there
/// are.
std::string some_numbers(const Json &numbers) {
    constexpr std::size_t most = 4;
    std::string text;
    for (std::size_t n = 0; n < numbers.size() && n < most; n++)
        text += fmt::format("{}{}", n ? "," : "", numbers[n].get<std::uint32_t>());
    return numbers.size() > most ? fmt::format("{},... ({})", text, numbers.size()) : text;
}

Row row_of_held(const Json &held) {
    std::string processes = some_numbers(held.at("pids"));
    for (const Json &cgroup : held.at("cgroups"))
        processes += (processes.empty() ? "" : " ") + printable(cgroup.get<std::string>());
    const std::string gpus = some_numbers(held.at("gpus"));
    // An nvqos of an earlier version has one holder, and no list.
    const std::string holders = some_numbers(held.value("holders", Json::array()));
    return {printable(held.at("name").get<std::string>()),
            held.at("goal").get<std::string>(),
            gpus.empty() ? "all" : gpus,
            processes.empty() ? "-" : processes,
            holders.empty() ? "-" : holders,
            short_time(static_cast<qos::Ns>(held.at("since_s").get<double>() *
                                            static_cast<double>(qos::second)),
                       " "),
            text_of_got(held.at("got"))};
}

std::string text_of_list(const Json &data) {
    std::vector<Row> rows;
    for (const Json &held : data.at("held"))
        rows.push_back(row_of_held(held));
    for (const Json &own : data.at("own"))
        rows.push_back({printable(own.at("name").get<std::string>()),
                        own.at("goal").get<std::string>(), "all of nvqos", "as named", "nvqos", "-",
                        "-"});
    if (rows.empty())
        return "nvqos keeps no goals now: none are in its file, and none are held\n";
    const Table table = fitted(columns_of_list, std::move(rows), width_of_stdout());
    std::string text;
    for (const std::string &line : table.lines)
        text += line + "\n";
    return table.note.empty() ? text : text + table.note + "\n";
}

} // namespace

Outcome<Exit> print_status(const nvdebug::cli::Arguments &arguments) try {
    const auto status = document_on("status", arguments);
    if (!status)
        return tl::unexpected(status.error());
    const Exit exit = are_all_kept(*status) ? done : partial;
    if (arguments.has("--json"))
        return put_out(document_text("nvqos/status", "1.1", *status)).map([&] { return exit; });
    Shown shown{"", status->at("epochs").get<std::vector<Json>>()};
    for (const Json &one : status->at("notes"))
        shown.notes.push_back(one.get<std::string>());
    for (const Json &one : status->at("left_out"))
        shown.notes.push_back(fmt::format("gpu{}: left out since {}: {}",
                                          one.at("gpu").get<std::uint32_t>(),
                                          printable(one.at("since").get<std::string>()),
                                          printable(one.at("why").get<std::string>())));
    if (shown.epochs.empty())
        shown.notes.insert(shown.notes.begin(), "no epoch has ended so far on any GPU");
    return put_out(text_of(shown, width_of_stdout())).map([&] { return exit; });
} catch (const Json::exception &error) {
    return not_understood("status", fmt::format("is not understood ({})", error.what()));
}

Outcome<Exit> print_list(const nvdebug::cli::Arguments &arguments) try {
    const auto held = document_on("list", arguments);
    if (!held)
        return tl::unexpected(held.error());
    const auto status = document_on("status", arguments);
    if (!status)
        return tl::unexpected(status.error());
    const Json data = {{"held", *held}, {"own", status->at("own")}};
    return put_out(arguments.has("--json") ? document_text("nvqos/list", "1.1", data)
                                           : text_of_list(data))
        .map([] { return done; });
} catch (const Json::exception &error) {
    return not_understood("list", fmt::format("is not understood ({})", error.what()));
}

} // namespace nvqos
