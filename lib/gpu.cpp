// SPDX-License-Identifier: MIT OR GPL-2.0
#include "nvdebug/gpu.hpp"
#include "control_files.hpp"
#include "explain.hpp"
#include "gpu_file.hpp"
#include "nvdebug/parse.hpp"

namespace nvdebug {
namespace {

/** Makes a request of a live tree. */
Result<Performed> write_request(const Gpu &gpu, const std::string &file, const std::string &text) {
    if (!gpu.tree().live())
        return tl::unexpected(Error{ErrorCode::unsupported, 0, gpu.path(file),
                                    gpu.tree().path() +
                                        " is not the running kernel's /proc, so nothing can be "
                                        "asked or changed there; use the live /proc"});
    return write_control(gpu.path(file), text, answers(file)).map_error([&](int number) {
        return why_missing(
            gpu, file, cannot_control(gpu.tree().impl(), gpu.folder() + "/" + file, text, number));
    });
}

} // namespace

Gpu::Gpu(Tree tree, std::uint32_t index) : tree_(std::move(tree)), index_(index) {}

std::string Gpu::folder() const {
    return "gpu" + std::to_string(index_);
}

std::string Gpu::path(const std::string &name) const {
    return path_in(tree_.impl(), folder() + "/" + name);
}

Result<Info> Gpu::info() const {
    return parse_file(*this, "info", parse_info);
}

Result<std::vector<Engine>> Gpu::engines() const {
    return parse_file(*this, "device_info", parse_device_info);
}

Result<std::vector<EngineState>> Gpu::engine_states() const {
    return parse_file(*this, "engines", parse_engines);
}

Result<Runlist> Gpu::runlist(std::uint32_t id, Detail detail) const {
    const std::string file = "runlist" + std::to_string(id);
    return parse_file(*this, detail == Detail::brief ? file + "_brief" : file, parse_runlist);
}

Result<std::vector<AddressSpaceUse>> Gpu::address_spaces() const {
    return parse_file(*this, "contexts", parse_contexts);
}

Result<WorkDistributor> Gpu::work_distributor() const {
    return parse_file(*this, "work_distributor", parse_work_distributor);
}

Result<std::map<std::uint32_t, bool>> Gpu::scheduling() const {
    return parse_file(*this, "scheduling", parse_scheduling);
}

Result<std::uint64_t> Gpu::local_memory_bytes() const {
    return parse_file(*this, "local_memory", parse_number);
}

Result<std::uint64_t> Gpu::ptimer_ns() const {
    return parse_file(*this, "ptimer", parse_number);
}

Result<Translation> Gpu::translate(const std::string &request) const {
    const std::string file = "translate";
    return write_request(*this, file, request).and_then([&](const Performed &performed) {
        return parse_translation(performed.answer).map_error([&](Error error) {
            return in_file(*this, file, std::move(error));
        });
    });
}

Result<std::string> Gpu::perform(const Request &request) const {
    return write_request(*this, request.file, request.text).map([](Performed performed) {
        return std::move(performed.answer);
    });
}

Result<Lease> Gpu::lease(const Request &request) const {
    if (!request.leasable)
        return tl::unexpected(Error{ErrorCode::invalid, 0, path(request.file),
                                    "what " + request.file +
                                        " does cannot be undone, so there is no lease of it; make "
                                        "the request without one"});
    return write_request(*this, request.file, "lease " + request.text).map([](Performed performed) {
        return Lease(performed.file.release(), std::move(performed.answer));
    });
}

} // namespace nvdebug
