// SPDX-License-Identifier: MIT OR GPL-2.0
#include "keeper.hpp"

#include <cstdlib>
#include <fmt/format.h>

#include "forms.hpp"
#include "program.hpp"

namespace nvstgm {

Keeper Keeper::of(const Arguments &arguments) {
    return {arguments.text("--nvtaskset", "nvtaskset"), !arguments.has("--no-mps"),
            arguments.text("--gpu", "")};
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

Answer<Gpu> Keeper::choose_gpu() const {
    std::vector<std::string> words{path, "--list", "-j"};
    if (!gpu.empty())
        words.insert(words.end(), {"-i", gpu});
    const auto text = output_of(words);
    if (!text)
        return fail(text.error());
    const Json found = Json::parse(*text, nullptr, false);
    const Json::json_pointer place("/gpus/0/tpcs");
    if (found.is_discarded() || !found.contains(place))
        return fail(not_supported, "'" + path + " --list -j' shows no GPU");
    const Json &gpus = found["gpus"];
    if (!gpu.empty() && gpus.size() > 1)
        return fail(fmt::format("--gpu {} names {} GPUs; name one", printable(gpu), gpus.size()));
    const Gpu chosen{gpus[0].value("uuid", ""), gpus[0]["tpcs"].size()};
    // Without this variable CUDA counts the fastest GPU first, and nvtaskset by PCI address.
    if (!chosen.uuid.empty())
        setenv("CUDA_VISIBLE_DEVICES", chosen.uuid.c_str(), !gpu.empty());
    return chosen;
}

std::vector<Option> keeper_options() {
    return {
        {"--nvtaskset", "which nvtaskset keeps kernels to TPCs (default: that in PATH)", "PROGRAM"},
        {"--gpu",
         "on this GPU of 'nvtaskset --list': its number, UUID or PCI address (default: 0, "
         "or those of CUDA_VISIBLE_DEVICES)",
         "GPU"},
        {"--no-mps", "processes take turns on the GPU, which no bound counts"}};
}

} // namespace nvstgm
