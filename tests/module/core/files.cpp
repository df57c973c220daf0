// SPDX-License-Identifier: MIT OR GPL-2.0
#include "files.hpp"

#include <linux/err.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>

#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>

namespace core {

namespace {

bool is_there(const nvdebug_gpu *gpu, int feature) {
    return feature < 0 || gpu->missing[feature] == nullptr;
}

std::string numbered(const char *name, u32 number) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), name, number);
    return text.data();
}

nvdebug_snapshot *take(Machine &machine, const File &file) {
    if (!file.view->live)
        return file.view->take(machine.gpu(), file.number);
    const int ret = nvdebug_gpu_begin(machine.gpu());
    if (ret)
        return static_cast<nvdebug_snapshot *>(ERR_PTR(ret));
    nvdebug_snapshot *const snapshot = file.view->take(machine.gpu(), file.number);
    nvdebug_gpu_end(machine.gpu());
    return snapshot;
}

} // namespace

std::vector<File> files(Machine &machine) {
    std::vector<File> all;
    nvdebug_gpu *const gpu = machine.gpu();
    for (const auto &file : std::span(nvdebug_view_files, nvdebug_view_files_count)) {
        if (!is_there(gpu, file.feature) || (file.exists && !file.exists(gpu)))
            continue;
        u32 number = 0;
        if (!file.nth)
            all.push_back({.name = file.name, .view = file.view});
        for (u32 n = 0; file.nth && file.nth(gpu, n, &number); n++)
            all.push_back(
                {.name = numbered(file.name, number), .number = number, .view = file.view});
    }
    for (const auto &file : std::span(nvdebug_control_files, nvdebug_control_files_count))
        if (is_there(gpu, file.feature))
            all.push_back({.name = file.name, .view = file.view, .control = file.control});
    return all;
}

Text read(Machine &machine, const File &file, bool hide) {
    nvdebug_snapshot *const snapshot = take(machine, file);
    if (IS_ERR(snapshot))
        return {static_cast<int>(PTR_ERR(snapshot)), {}};
    snapshot->hide = hide;
    seq_file m{};
    for (size_t record = 0; record < snapshot->records; record++)
        file.view->show(&m, machine.gpu(), snapshot, record);
    file.view->free(snapshot);
    Text got{0, std::string(m.buf ? m.buf : "", m.count)};
    std::free(m.buf);
    return got;
}

void write(Machine &machine, const std::vector<File> &files, const std::filesystem::path &folder) {
    std::filesystem::create_directories(folder);
    for (const File &file : files) {
        if (!file.view)
            continue;
        const Text got = read(machine, file);
        if (got.error == -ENODEV)
            continue;
        if (got.error)
            throw std::runtime_error("cannot read " + file.name + ": " + std::strerror(-got.error));
        std::ofstream out(folder / file.name, std::ios::binary);
        out << got.text;
        if (!out.flush())
            throw std::runtime_error("cannot write " + (folder / file.name).string());
    }
}

Text Open::write(const std::string &request) {
    std::array<char, 4096> text{};
    seq_buf answer;
    seq_buf_init(&answer, text.data(), text.size());
    if (error_)
        return {error_, {}};
    if (request.size() > file_.control->text_max)
        return {-E2BIG, {}};
    const int ret = nvdebug_request(machine_.gpu(), file_.control, &leases_, request.c_str(),
                                    request.size(), file_.control->answers ? &answer : nullptr);
    return {ret, std::string(text.data(), ret ? 0 : seq_buf_used(&answer))};
}

} // namespace core
