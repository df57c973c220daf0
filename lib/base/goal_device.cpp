// SPDX-License-Identifier: MIT OR GPL-2.0
#include "goal_device.hpp"

#include "gpu_name.hpp"

namespace nvdebug::base {
namespace {

using Json = nlohmann::ordered_json;

/// Returns a GPU's name as a part of a device's name: `gpu0`, `GPU-57a2`, `gpu-0000-3b-00.0` or
/// `gpu-dev-nvidia0`.
std::string device_word(const std::string &gpu) {
    const auto name = parse_gpu_name(gpu);
    if (name.index)
        return "gpu" + std::to_string(*name.index);
    std::string word = name.uuid.empty() ? "gpu-" : "";
    for (const char c : gpu)
        if (c != '/' || !word.ends_with('-'))
            word += c == ':' || c == '/' || c == '=' ? '-' : c;
    return word;
}

} // namespace

std::string GoalDevice::name() const {
    std::string name;
    for (const char c : goal)
        if (c != '%')
            name += c == ':' || c == ',' || c == '=' || c == '@' ? '-' : c;
    for (const std::string &gpu : gpus)
        name += "-" + device_word(gpu);
    if (!tenant.empty() && !tenant.ends_with(':')) {
        name += '-';
        for (const char c : tenant)
            name += c == ':' || c == '/' ? '-' : c;
    }
    return name;
}

ContainerDevice GoalDevice::device() const {
    Json words = Json::array({"nvqos", "--hold-container=" + goal, "--socket=" + socket});
    for (const std::string &gpu : gpus)
        words.push_back("--gpu=" + gpu);
    if (!tenant.empty())
        words.push_back("--tenant=" + tenant);
    // Several hooks run before a process of the image does. In createRuntime alone the state has
    // the host's number of the process.
    const Json hook = {{"hookName", "createRuntime"}, {"path", program}, {"args", words}};
    return {kind, name(), {{"hooks", Json::array({hook})}}};
}

} // namespace nvdebug::base
