// SPDX-License-Identifier: MIT OR GPL-2.0
// core_costs WORKLOAD prints as JSON how many registers the core reads and writes, and how many
// words of memory it reads, for each file of each modelled board. Among files with names that
// differ only in a number, the first file stands for all. The accesses that reach a word by a
// window or a BAR are not counted, because access/ makes them and not the core.
#include "files.hpp"
#include "model.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <exception>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

/// Returns "runlistY_brief" for "runlist12_brief".
std::string kind(const std::string &name) {
    std::string kind;
    for (const char c : name)
        if (!std::isdigit(static_cast<unsigned char>(c)))
            kind += c;
        else if (!kind.ends_with('Y'))
            kind += 'Y';
    return kind;
}

class OfBoard {
  public:
    OfBoard(const std::string &board, const std::string &workload)
        : board_(board), workload_(workload), machine_(board, workload) {}

    void add_to(Json &rows) {
        add(rows, "(probe)", [&] {
            if (machine_.probe() != 0)
                throw std::runtime_error(board_ + ": cannot be probed");
            return 0;
        });
        const auto files = core::files(machine_);
        std::set<std::string> kinds;
        for (const core::File &file : files)
            if (file.view && kinds.insert(kind(file.name)).second)
                add(rows, file.name, [&] { return core::read(machine_, file).error; });
        const std::vector<std::pair<std::string, std::string>> requests{
            {"disable_channel", "0:0"},     {"enable_channel", "0:0"},
            {"preempt_tsg", "0:0"},         {"preempt_runlist", "0"},
            {"resubmit_runlist", "0"},      {"switch_to_tsg", "0:0"},
            {"set_timeslice", "0:0 1000"},  {"scheduling", "0 on"},
            {"preemption_mode", "0:0 wfi"}, {"translate", translation()}};
        for (const auto &[name, request] : requests) {
            const auto file = std::ranges::find_if(
                files, [&](const core::File &one) { return one.control && one.name == name; });
            if (file == files.end())
                continue;
            // The numbers of a translation are long, and do not matter.
            const std::string shown =
                file->name == "translate" ? file->name : file->name + " < " + request;
            add(rows, shown, [&] { return core::Open(machine_, *file).write(request).error; });
        }
    }

  private:
    /// Adds a row, unless the board refuses the request.
    template <typename Do>
    void add(Json &rows, const std::string &file, const Do &what) {
        machine_.restart(workload_);
        machine_.model().statistics().reset();
        machine_.words_read.emplace();
        const int error = what();
        std::uint64_t reads = 0, writes = 0;
        const auto &blocks = machine_.model().statistics().blocks();
        if (const auto all = blocks.find(nvmodel::Bar::registers); all != blocks.end())
            for (const auto &[name, block] : all->second) {
                reads += block.reads;
                writes += block.writes;
            }
        const std::uint64_t words = machine_.words_read->words;
        machine_.retire(); // so that the next row begins without an override list
        if (error)
            return;
        rows.push_back({{"board", board_},
                        {"file", file},
                        {"registers_read", reads},
                        {"registers_written", writes},
                        {"words_of_memory", words}});
    }

    /// Returns a request for a mapped address of the first address space.
    std::string translation() {
        machine_.restart(workload_);
        const Json space = Json::parse(machine_.answer("layout")).at("address_spaces").at(0);
        const Json &directory = space.at("page_directory");
        return directory.at("address").get<std::string>() + ":" +
               directory.at("aperture").get<std::string>() + " " +
               space.at("mappings").at(0).at("va").get<std::string>();
    }

    const std::string board_, workload_;
    core::Model machine_;
};

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fputs("usage: core_costs WORKLOAD\n", stderr);
        return 1;
    }
    try {
        Json rows = Json::array();
        for (const std::string &board : core::all_boards())
            OfBoard(board, argv[1]).add_to(rows);
        std::cout << rows << "\n";
    } catch (const std::exception &error) {
        std::fprintf(stderr, "core_costs: %s\n", error.what());
        return 2;
    }
    return 0;
}
