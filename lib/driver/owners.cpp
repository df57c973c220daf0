// SPDX-License-Identifier: MIT OR GPL-2.0
#include "owners.hpp"

#include <array>
#include <cstdio>
#include <cstring>

namespace nvdebug::driver {
namespace {

/// Returns the text as one word with escapes; `-`: the text is empty.
std::string word(const std::string &text) {
    std::string escaped;
    for (const char c : text) {
        if (c > ' ' && c < '\x7f' && c != '\\') {
            escaped += c;
            continue;
        }
        std::array<char, 8> hex{};
        std::snprintf(hex.data(), hex.size(), "\\x%02x",
                      static_cast<unsigned>(static_cast<unsigned char>(c)));
        escaped += hex.data();
    }
    if (escaped == "-")
        return "\\x2d";
    if (escaped == "hidden")
        return "\\x68idden";
    return escaped.empty() ? "-" : escaped;
}

const char *aperture_name(std::uint32_t aperture) {
    switch (aperture) {
    case rm::MemoryInfo::video:
        return "vid";
    case rm::MemoryInfo::coherent:
        return "coh";
    default:
        return "ncoh";
    }
}

std::string row(const Process &process, const std::string &channel) {
    return std::to_string(process.pid) + " " + word(process.command) + " " + word(process.cgroup) +
           " " + channel + " " + (process.uid ? std::to_string(*process.uid) : "-") + " " +
           std::to_string(process.started) + " " +
           (process.launcher ? std::to_string(*process.launcher) : "-") + "\n";
}

std::string row(const Process &process, const ClientChannel &channel) {
    std::string text = hex(channel.client) + " " + (channel.tsg ? hex(channel.tsg) : "-") + " ";
    text += channel.timeslice_us ? std::to_string(*channel.timeslice_us) : "-";
    text += " " + hex(channel.channel) + " ";
    text += channel.instance
                ? hex(channel.instance->address) + " " + aperture_name(channel.instance->aperture)
                : "- -";
    return row(process, text);
}

} // namespace

Result<std::string> owners(Ownership &ownership, const Card &card) {
    const auto owned = ownership.find(card);
    if (!owned)
        return tl::unexpected(owned.error());
    std::string rows;
    auto channel = owned->channels.begin();
    for (std::size_t n = 0; n < owned->processes.size(); n++) {
        const Process &process = owned->processes[n];
        if (channel == owned->channels.end() || channel->process != n)
            rows += row(process, "- - - - - -");
        for (; channel != owned->channels.end() && channel->process == n; ++channel)
            rows += row(process, *channel);
    }
    const auto line = [](const char *key, std::uint32_t number) {
        return std::string(key) + ": " + std::to_string(number) + "\n";
    };
    const Count &count = owned->count;
    std::string cut;
    for (const std::uint32_t pid : owned->cut)
        cut += (cut.empty() ? "" : ",") + std::to_string(pid);
    return line("hidden", count.hidden) + line("denied", count.denied) +
           line("ended", count.ended) + line("refused", count.refused) +
           "cut: " + (cut.empty() ? "-" : cut) + "\n" +
           "lacked: " + (owned->trouble ? ::strerrordesc_np(owned->trouble) : "-") + "\n" +
           "\n# pid command cgroup client tsg timeslice_us channel address aperture uid "
           "started launcher\n" +
           rows;
}

} // namespace nvdebug::driver
