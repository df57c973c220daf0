// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <unistd.h>

#include "cli/context.hpp"
#include "cli/json.hpp"
#include "cli/output.hpp"
#include "cli/page.hpp"
#include "lib/base/output_file.hpp"
#include "nvdebug/capture.hpp"
#include "objects.hpp"

namespace nvdebugctl {

namespace {

Outcome<void> check_file(const Context &context) {
    const std::string &path = context.words("FILE").front();
    if (const auto from = context.value("--from"); from && *from != "module" && *from != "driver")
        if (const auto why = nvdebug::base::why_not_write("the capture", path, *from))
            return usage(*why);
    if (descriptor_named(path) != STDOUT_FILENO)
        return {};
    if (context.invocation().json())
        return usage("'capture -' writes the capture to standard output, where JSON would be in "
                     "its way; name a file");
    if (Output::is_terminal())
        return usage(
            "a capture cannot be shown on a terminal: name a file, or send it through a pipe "
            "('nvdebugctl capture - | ssh HOST nvdebugctl --from - runlist tree')");
    return {};
}

Outcome<Document> capture(Context &context) {
    const auto gpus = context.gpus();
    if (!gpus && gpus.error().exit == not_supported)
        return tl::unexpected(gpus.error());
    const std::string &path = context.words("FILE").front();
    const auto descriptor = descriptor_named(path);
    std::vector<std::string> folders; // none: those of all GPUs
    if (gpus)
        std::ranges::transform(*gpus, std::back_inserter(folders), &nvdebug::Gpu::folder);
    const auto report = descriptor ? nvdebug::write_capture(context.tree(), folders, *descriptor)
                                   : nvdebug::write_capture(context.tree(), folders, path);
    if (!report)
        return tl::unexpected(report.error().number ? of_named_file(report.error())
                                                    : Failure(report.error()));
    Json failed = Json::array();
    for (nvdebug::Error error : report->failed) {
        failed.push_back(error.sentence);
        error.sentence = "not in the capture: " + error.sentence;
        context.missing(std::move(error));
    }
    Document document{{{"file", path}, {"files", report->files}, {"failed", std::move(failed)}}};
    if (descriptor == STDOUT_FILENO)
        document.print = [](Page &) {};
    return document;
}

void show(const Json &data, Page &page) {
    page.line(fmt::format("{}: {} files", data["file"].get<std::string>(),
                          data["files"].get<std::size_t>()));
}

} // namespace

std::vector<Command> capture_commands() {
    return {
        {.object = "capture",
         .verb = "",
         .help = "save the state of the GPUs in one file",
         .scope = Scope::gpus,
         .arguments = {{"FILE", Argument::Kind::file,
                        "written whole or not at all; an existing file is replaced, a pipe is "
                        "written into; -: "
                        "standard output"}},
         .fields = {{"file", "where the capture is", "string"},
                    {"files", "files in it", "uint"},
                    {"failed", "why files that should be in it are not", "[string]"}},
         .notes = {"Every verb that reads works on it with --from FILE, on any machine.",
                   "It holds GPU addresses and channel numbers, but nothing that tasks compute.",
                   "It is readable for its owner only: sudo chown $USER FILE before you use it as "
                   "yourself.",
                   "'nvdebugctl capture diff BEFORE AFTER' shows what changed between two; a "
                   "capture of the name 'diff' is ./diff.",
                   "Files that you may not read are left out (exit status 4): run it as root to "
                   "have all."},
         .examples = {{"sudo nvdebugctl capture gpu.capture && sudo chown $USER gpu.capture",
                       "for a bug report"},
                      {"nvdebugctl --from gpu.capture runlist tree", "look at it elsewhere"},
                      {"ssh HOST sudo nvdebugctl capture - | nvdebugctl --from - runlist tree",
                       "look at another machine from here"}},
         .check = check_file,
         .run = capture,
         .text = show},
        capture_diff_command(),
    };
}

} // namespace nvdebugctl
