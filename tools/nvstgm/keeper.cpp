// SPDX-License-Identifier: MIT OR GPL-2.0
#include "keeper.hpp"

#include "forms.hpp"
#include "program.hpp"

namespace nvstgm {

Keeper Keeper::of(const Arguments &arguments) {
    return {arguments.text("--nvtaskset", "nvtaskset"), !arguments.has("--no-mps")};
}

std::vector<std::string> Keeper::words(const std::string &tpcs,
                                       const std::vector<std::string> &command) const {
    std::vector<std::string> all{path, "-q", "-t", tpcs};
    if (!mps)
        all.push_back("--no-mps");
    all.push_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return all;
}

Answer<std::size_t> Keeper::tpcs() const {
    const auto text = output_of({path, "--list", "-j"});
    if (!text)
        return fail(text.error());
    const Json found = Json::parse(*text, nullptr, false);
    const Json::json_pointer place("/gpus/0/tpcs");
    if (found.is_discarded() || !found.contains(place))
        return fail(not_supported, "'" + path + " --list -j' shows no GPU");
    return found.at(place).size();
}

std::vector<Option> keeper_options() {
    return {
        {"--nvtaskset", "which nvtaskset keeps kernels to TPCs (default: that in PATH)", "PROGRAM"},
        {"--no-mps", "processes take turns on the GPU, which no bound counts"}};
}

} // namespace nvstgm
