// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu_file.hpp"
#include "features.hpp"
#include "text.hpp"

namespace nvdebug {
namespace {

/** The runlist of `runlistY` and `runlistY_brief`. */
std::optional<std::uint64_t> runlist_of(std::string_view file) {
    if (!text::take_prefix(file, "runlist"))
        return std::nullopt;
    return text::number(text::take_until(file, '_'));
}

std::string ids_of(const Info &info) {
    std::string ids;
    for (const std::uint32_t id : info.runlists)
        ids += " " + std::to_string(id);
    return ids.empty() ? "it has none" : "it has" + ids;
}

bool has_runlist(const Info &info, std::uint64_t id) {
    for (const std::uint32_t runlist : info.runlists)
        if (runlist == id)
            return true;
    return false;
}

} // namespace

Result<std::string> read_file(const Gpu &gpu, const std::string &file) {
    return gpu.tree().read(gpu.folder() + "/" + file).map_error([&](Error error) {
        return why_missing(gpu, file, std::move(error));
    });
}

Error why_missing(const Gpu &gpu, const std::string &file, Error error) {
    if (error.code != ErrorCode::not_found || file == "info")
        return error;
    const auto info = gpu.info();
    if (!info)
        return error;
    const std::string chip = text::printable(info->chip.value_or("unknown chip"));
    const std::string who = gpu.folder() + " (" + chip + ")";
    const Feature *const feature = info->feature(std::string(feature_of(file)));
    const auto runlist = runlist_of(file);
    if (feature && !feature->available) {
        error.code = ErrorCode::unsupported;
        error.sentence = who + " has no " + file + ": " + text::printable(feature->reason);
    } else if (runlist && !has_runlist(*info, *runlist)) {
        error.sentence = who + " has no runlist " + std::to_string(*runlist) + "; " + ids_of(*info);
    } else if (file == "local_memory" && !info->video_memory) {
        error.code = ErrorCode::unsupported;
        error.sentence = who + " has no " + file + ": no public register of it tells the size";
    }
    return error;
}

Error in_file(const Gpu &gpu, const std::string &file, Error error) {
    error.path = gpu.path(file);
    error.sentence = error.path + " is not what docs/proc.md says, " + error.sentence +
                     "; the module and this library may be of different versions";
    return error;
}

} // namespace nvdebug
