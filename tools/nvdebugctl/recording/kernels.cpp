// SPDX-License-Identifier: MIT OR GPL-2.0
#include "kernels.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/text.hpp"
#include "destination.hpp"

namespace nvdebugctl {

std::vector<Option> kernels_options() {
    return {{"--kernels",
             "with a trace for Perfetto: the kernels that programs launched, which 'nvtaskset "
             "--kernels FOLDER' has noted there",
             "FOLDER"}};
}

Outcome<void> check_kernels(const Context &context) {
    const auto folder = context.value("--kernels");
    if (!folder)
        return {};
    const auto form = form_of(context);
    if (!form)
        return tl::unexpected(form.error());
    if (!*form || (*form)->name != "perfetto")
        return usage(
            "--kernels adds tracks to a trace for Perfetto; name one with -o FILE.pftrace");
    struct stat about {};
    const int error = ::stat(folder->c_str(), &about) ? errno
                      : S_ISDIR(about.st_mode)        ? 0
                                                      : ENOTDIR;
    if (error)
        return usage(fmt::format("--kernels {}: {}; 'nvtaskset --kernels {} COMMAND' makes it",
                                 *folder, std::strerror(error), *folder));
    return {};
}

Outcome<void> add_launches(Context &context, const recording::TimeSpan &time, Sink &sink) {
    const auto folder = context.value("--kernels");
    if (!folder)
        return {};
    if (!time.is_known())
        return fail(
            nvdebug::ErrorCode::unsupported,
            "launches have no place in a recording without readings of the machine's clock: "
            "record through NVIDIA's driver, or through the module");
    const auto counts = recording::read_launches(*folder, time, sink);
    if (!counts)
        return tl::unexpected(of_named_file(counts.error()));
    if (!counts->passed)
        context.note(fmt::format("no launch in {} is in the time of the recording", *folder));
    if (counts->earlier)
        context.note(fmt::format("{} in {} left out: of another start of the machine than the "
                                 "recording",
                                 count_of(counts->earlier, "file"), *folder));
    if (counts->lost)
        context.note(fmt::format("{} lost launches in {}: its disk was full or slow", counts->lost,
                                 *folder));
    return {};
}

} // namespace nvdebugctl
