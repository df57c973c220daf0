// SPDX-License-Identifier: MIT OR GPL-2.0
#include "capture_format.hpp"
#include "control_files.hpp"
#include "explain.hpp"
#include "nvdebug/capture.hpp"
#include "nvdebug/gpu.hpp"
#include "whole_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/utsname.h>

namespace nvdebug {
namespace {

std::string now() {
    std::array<char, sizeof("2026-01-31T12:00:00Z") + 8> text{};
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text.data();
}

/** Of the module that is loaded, as far as it has one: else what its source is known by. */
std::string module_version() {
    constexpr std::size_t longest = 256;
    for (const char *const file : {"version", "srcversion"}) {
        const std::string path = std::string("/sys/module/nvdebug/") + file;
        const Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        std::string text;
        if (opened && read_rest(opened.number(), text, longest) == 0)
            return text.substr(0, text.find('\n'));
    }
    return "unknown";
}

/** When, and of what. A capture of a capture is of what that was of. */
std::map<std::string, std::string> facts_about(const Tree &tree) {
    std::map<std::string, std::string> facts = tree.facts();
    if (!facts.empty())
        return facts;
    facts["captured_at"] = now();
    facts["library"] = NVDEBUG_VERSION;
    utsname kernel{};
    if (tree.live() && ::uname(&kernel) == 0) {
        facts["kernel"] = kernel.release;
        facts["module"] = module_version();
    }
    return facts;
}

/** What the hardware said is part of the picture; anything else is trouble of the reader's. */
bool is_answer(int number) {
    return number == ENODEV || number == EIO || number == EOPNOTSUPP;
}

Result<std::vector<std::string>> folders_of(const Tree &tree) {
    return gpus(tree).map([](const std::vector<Gpu> &found) {
        std::vector<std::string> folders;
        for (const Gpu &gpu : found)
            folders.push_back(gpu.folder());
        return folders;
    });
}

void capture_file(const Tree &tree, const std::string &name, CaptureContent &content,
                  CaptureReport &report) {
    auto text = tree.read(name);
    if (text) {
        content.files.emplace(name, std::move(*text));
        report.files++;
    } else if (is_answer(text.error().number)) {
        content.errors.emplace(name, text.error().number);
    } else {
        const char *const why = ::strerrordesc_np(text.error().number);
        report.failed.push_back(name + ": " + (why ? why : text.error().sentence));
    }
}

} // namespace

Result<CaptureReport> write_capture(const Tree &tree, const std::vector<std::string> &gpus,
                                    const std::string &path) {
    CaptureContent content;
    content.facts = facts_about(tree);
    CaptureReport report{};
    const auto folders = gpus.empty() ? folders_of(tree) : gpus;
    if (!folders)
        return tl::unexpected(folders.error());
    for (const std::string &folder : *folders) {
        const auto files = tree.list(folder);
        if (!files)
            return tl::unexpected(files.error());
        for (const std::string &file : *files) {
            const std::string name = folder + "/" + file;
            if (!answers(file) && tree.impl().readable(name))
                capture_file(tree, name, content, report);
        }
    }
    if (content.files.empty())
        return tl::unexpected(Error{ErrorCode::not_found, 0, path,
                                    "there is nothing to capture below " + tree.path() +
                                        ": it has no GPU, or none of the files may be read; "
                                        "'nvdebugctl doctor' says which"});
    if (const int error = write_whole_gzip(path, to_json(content)))
        return tl::unexpected(cannot_write(path, error));
    return report;
}

} // namespace nvdebug
