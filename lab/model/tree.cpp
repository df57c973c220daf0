// SPDX-License-Identifier: MIT OR GPL-2.0
#include "tree.hpp"

#include "../../tests/module/core/files.hpp"

extern "C" {
#include "probe/info.h"
}
#include <linux/seq_file.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace lab {

namespace {

std::string info_of(Machine &machine) {
    nvdebug_attachment attachment{};
    attachment.identified = true;
    attachment.driver = "-";
    seq_file m{};
    nvdebug_info_show(&m, machine.gpu(), &attachment);
    std::string text(m.buf, m.count);
    std::free(m.buf);
    return text;
}

/** Returns the text of `owners` as it is for a driver's GPU (docs/nvdebugctl.md). The names of
 * objects are made up. */
std::string owners_of(const nvmodel::Gpu &gpu, const std::vector<Owned> &owned) {
    constexpr unsigned first_client = 0xc1d00000, first_object = 0x5c000000;
    std::string text =
        "hidden: 0\ndenied: 0\nended: 0\nrefused: 0\n\n"
        "# pid command cgroup client tsg timeslice_us channel address aperture uid\n";
    for (const Owned &one : owned) {
        const nvmodel::PlannedChannel &channel = gpu.plan().channels[one.channel];
        const nvmodel::PhysicalAddress at = gpu.driver().channels()[one.channel].instance;
        const auto timeslice = channel.timeslice.duration() / nvmodel::ns_per_us;
        char row[200];
        std::snprintf(row, sizeof(row), "%u %s / 0x%x 0x%zx %lld 0x%zx 0x%llx %s 0\n", one.pid,
                      one.command.c_str(), first_client + one.pid,
                      first_object + channel.tsg.value_or(0), static_cast<long long>(timeslice),
                      first_object + 0x10000 + one.channel,
                      static_cast<unsigned long long>(at.address), name_of(at.aperture).data());
        text += row;
    }
    return text;
}

void write(const std::filesystem::path &path, const std::string &text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file)
        throw std::runtime_error("cannot write " + path.string());
}

} // namespace

void write_tree(Machine &machine, const nvmodel::Gpu &gpu, const std::vector<Owned> &owned,
                const std::vector<std::string> &prefixes, const std::filesystem::path &folder) {
    const std::filesystem::path at = folder / "gpu0";
    std::filesystem::create_directories(at);
    write(at / "info", info_of(machine));
    write(at / "owners", owners_of(gpu, owned));
    std::vector<core::File> files = core::files(machine);
    std::erase_if(files, [&](const core::File &file) {
        return file.control ||
               (!prefixes.empty() && std::ranges::none_of(prefixes, [&](const std::string &prefix) {
                   return file.name.starts_with(prefix);
               }));
    });
    core::write(machine, files, at);
}

} // namespace lab
