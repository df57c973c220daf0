// SPDX-License-Identifier: MIT OR GPL-2.0
#include <fmt/format.h>

#include "context.hpp"
#include "json.hpp"
#include "nvdebug/capture.hpp"
#include "page.hpp"

namespace nvdebugctl {

namespace {

Outcome<Document> capture(Context &context) {
    const std::string &path = context.words("FILE").front();
    const std::vector<std::string> folders =
        context.has_gpu() ? std::vector{context.gpu().folder()} : std::vector<std::string>{};
    const auto report = nvdebug::write_capture(context.tree(), folders, path);
    if (!report)
        return tl::unexpected(Failure(report.error()));
    for (const std::string &why : report->failed)
        context.missing({nvdebug::ErrorCode::io, 0, "", "not in the capture: " + why});
    return Document{{{"file", path}, {"files", report->files}, {"failed", report->failed}}};
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
         .help = "keep what all readable files of the GPUs say now in one file",
         .scope = Scope::gpus,
         .arguments = {{"FILE", Argument::Kind::file,
                        "written whole or not at all; an existing file is replaced"}},
         .fields = {{"file", "where the capture is", "string"},
                    {"files", "files in it", "uint"},
                    {"failed", "files that are not in it, and why", "[string]"}},
         .notes =
             {"Every verb that reads works on it with --from FILE, on any machine.",
              "It holds GPU addresses and channel numbers, but nothing that tasks compute.",
              "It is readable for its owner only: sudo chown $USER FILE before you use it as "
              "yourself.",
              "What may not be read is left out: run it as root for a whole one (exit status 4 "
              "otherwise)."},
         .examples = {{"sudo nvdebugctl capture gpu.capture && sudo chown $USER gpu.capture",
                       "for a bug report"},
                      {"nvdebugctl --from gpu.capture runlist tree", "look at it elsewhere"}},
         .run = capture,
         .text = show},
    };
}

} // namespace nvdebugctl
