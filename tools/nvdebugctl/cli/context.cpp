// SPDX-License-Identifier: MIT OR GPL-2.0
#include "context.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "lib/base/gpu_name.hpp"
#include "lib/partition/gpus.hpp"
#include "lib/partition/text.hpp"
#include "nvdebug/surroundings.hpp"
#include "text.hpp"

namespace nvdebugctl {

namespace {

namespace base = nvdebug::base;

using nvdebug::ErrorCode;
using nvdebug::Gpu;

/// The GPUs of a source. UUIDs and device files are known only for this machine's GPUs.
class SourceGpus : public base::GpuSet {
  public:
    SourceGpus(const nvdebug::Tree &tree, const std::vector<Gpu> &gpus) : gpus_(gpus) {
        if (!tree.live())
            return;
        if (auto found = nvtaskset::Gpus::find())
            driver_ = std::move(*found);
    }
    std::size_t count() const override { return gpus_.size(); }
    std::size_t number(std::size_t place) const override { return gpus_[place].index(); }
    std::string address(std::size_t place) const override {
        const auto info = gpus_[place].info();
        return info ? info->pci_address.value_or("") : "";
    }
    bool is_asleep(std::size_t place) const override {
        const auto n = number_of(place);
        return n && driver_->is_asleep(*n);
    }
    std::optional<std::string> uuid(std::size_t place) const override {
        const auto gpu = gpu_at(place);
        return gpu ? std::optional(nvtaskset::uuid_text(gpu->uuid)) : std::nullopt;
    }
    std::optional<unsigned> device_minor(std::size_t place) const override {
        const auto gpu = gpu_at(place);
        return gpu ? gpu->minor : std::nullopt;
    }

  private:
    /// Returns the GPU's number among the driver's GPUs.
    std::optional<std::size_t> number_of(std::size_t place) const {
        for (std::size_t n = 0; driver_ && n < driver_->count(); n++)
            if (driver_->address(n) == address(place))
                return n;
        return std::nullopt;
    }
    std::optional<nvtaskset::Gpu> gpu_at(std::size_t place) const {
        const auto n = number_of(place);
        if (!n || !driver_->at(*n))
            return std::nullopt;
        return *driver_->at(*n);
    }

    const std::vector<Gpu> &gpus_;
    /// Empty unless the source is live; reads its files once.
    mutable std::optional<nvtaskset::Gpus> driver_;
};

bool has_chip(const Gpu &gpu, const std::string &wanted) {
    const auto info = gpu.info();
    return info && info->chip && base::lower(*info->chip) == base::lower(wanted);
}

/// Returns the GPUs that a word means. If the word is a number, no GPU is asked, because one may
/// hang.
std::vector<Gpu> meant_of(const nvdebug::Tree &tree, const std::vector<Gpu> &gpus,
                          const std::string &wanted) {
    const auto name = base::parse_gpu_name(wanted);
    std::vector<Gpu> meant;
    if (name.is_gpu())
        for (const std::size_t place : base::places_of(name, SourceGpus(tree, gpus)))
            meant.push_back(gpus[place]);
    else if (!name.mig)
        std::ranges::copy_if(gpus, std::back_inserter(meant),
                             [&](const Gpu &gpu) { return has_chip(gpu, wanted); });
    return meant;
}

/// Explains why a word means no GPU, as the end of a sentence.
std::string why_not_meant(const nvdebug::Tree &tree, const std::string &wanted) {
    const auto name = base::parse_gpu_name(wanted);
    if (name.mig)
        return "; a MIG instance is a part of a GPU, and GPUs are what is named here";
    if ((!name.uuid.empty() || name.minor) && !tree.live())
        return "; UUIDs and device files are known of this machine's GPUs alone: name it by "
               "number, PCI address or chip";
    return name.is_gpu() ? ""
                         : "; a GPU is named by number, PCI address, UUID, device file "
                           "(/dev/nvidia0) or chip";
}

} // namespace

std::string describe(const Gpu &gpu) {
    const auto info = gpu.info();
    if (!info)
        return gpu.folder();
    return fmt::format("{} ({}, {})", gpu.folder(), info->chip.value_or("unknown chip"),
                       info->pci_address.value_or(info->platform_device.value_or("not on PCI")));
}

namespace {

/// Returns why neither the module nor NVIDIA's driver shows a GPU.
Failure no_live_gpu() {
    const auto driver = nvdebug::Tree::driver();
    const Exit exit = driver ? not_supported : exit_of(driver.error());
    const std::string obstacle = nvdebug::first_obstacle();
    return Failure(
        exit, {ErrorCode::not_found, 0, "",
               !obstacle.empty()
                   ? obstacle
                   : fmt::format("no GPU is shown: the nvdebug module is not loaded (there is no "
                                 "/proc/gpu0), and NVIDIA's driver shows none: {}; see "
                                 "'nvdebugctl doctor'",
                                 driver ? "it has no GPU" : driver.error().sentence)});
}

} // namespace

Failure no_gpu(const nvdebug::Tree &tree) {
    if (tree.source() != nvdebug::Source::file)
        return no_live_gpu();
    return of_named_file({ErrorCode::not_found, 0, tree.path(),
                          fmt::format("{} holds no GPU: there is no gpu0/info in it; give a "
                                      "capture, or the folder that gpu0 is in",
                                      tree.path())});
}

Outcome<std::vector<Gpu>> Context::gpus() const {
    if (gpu_)
        return std::vector{*gpu_};
    if (!listed_.empty())
        return listed_;
    auto all = nvdebug::gpus(*tree_);
    if (!all)
        return tl::unexpected(Failure(all.error()));
    if (all->empty())
        return tl::unexpected(no_gpu(*tree_));
    return *all;
}

Outcome<SelectedGpu> select_gpu(const nvdebug::Tree &tree,
                                const std::optional<std::string> &wanted) {
    const auto gpus = nvdebug::gpus(tree);
    if (!gpus)
        return tl::unexpected(Failure(gpus.error()));
    if (gpus->empty())
        return tl::unexpected(no_gpu(tree));
    if (!wanted) {
        auto usable = nvdebug::usable_gpus(tree);
        if (!usable)
            return tl::unexpected(Failure(usable.error()));
        SelectedGpu selected{usable->gpus.front(), std::move(usable->left_out)};
        if (usable->gpus.size() > 1)
            selected.notes.push_back(fmt::format("there are {} GPUs, and this is about {}; -g "
                                                 "chooses another",
                                                 usable->gpus.size(), describe(selected.gpu)));
        return selected;
    }
    const std::vector<Gpu> meant = meant_of(tree, *gpus, *wanted);
    if (meant.size() == 1)
        return SelectedGpu{meant.front()};
    std::vector<std::string> names;
    std::ranges::transform(meant.empty() ? *gpus : meant, std::back_inserter(names), describe);
    if (meant.empty())
        return tl::unexpected(
            Failure(bad_usage,
                    {ErrorCode::not_found, 0, "",
                     fmt::format("there is no GPU '{}' in {}; there is {}{}", *wanted, tree.path(),
                                 fmt::join(names, ", "), why_not_meant(tree, *wanted))}));
    return usage(fmt::format("'{}' is several GPUs: {}; name one by index or PCI address", *wanted,
                             fmt::join(names, ", ")));
}

bool is_gpu_list(std::string_view word) {
    return word == "all" || word.find(',') != word.npos;
}

/// Takes the GPUs of a list. A list may also have chips' names.
Outcome<void> Context::list_gpus(const std::string &words) {
    std::string_view rest = words;
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        auto selected = select_gpu(*tree_, std::string(rest.substr(0, comma)));
        if (!selected)
            return tl::unexpected(selected.error());
        const auto is_it = [&](const Gpu &gpu) { return gpu.index() == selected->gpu.index(); };
        if (std::ranges::none_of(listed_, is_it))
            listed_.push_back(std::move(selected->gpu));
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return {};
}

/// Leaves out the GPUs to which this process has no access, and notes them. gpus() returns errors.
void Context::leave_out_gpus() {
    auto usable = nvdebug::usable_gpus(*tree_);
    if (!usable || usable->left_out.empty())
        return;
    listed_ = std::move(usable->gpus);
    for (std::string &sentence : usable->left_out)
        note(std::move(sentence));
}

namespace {

/// Returns whether the source is a file or a folder that the user named.
bool is_file(const std::string &source) {
    return !source.empty() && source != "module" && source != "driver";
}

} // namespace

nvdebug::Result<nvdebug::Tree> open_source(const std::string &from) {
    const nvdebug::Advice advice{.diagnose = "nvdebugctl doctor",
                                 .capture = "nvdebugctl capture FILE"};
    if (from == "module")
        return nvdebug::Tree::folder("/proc", advice);
    if (from == "driver")
        return nvdebug::Tree::driver(advice);
    if (from == "-")
        return nvdebug::Tree::capture(STDIN_FILENO, advice).map_error([](nvdebug::Error why) {
            if (why.number == EBADF)
                why.number = 0; // standard input is closed, and stays so
            return why;
        });
    return from.empty() ? nvdebug::Tree::running(advice) : nvdebug::Tree::open(from, advice);
}

bool Context::all_gpus() const {
    return command().takes_all_gpus() && is_gpu_list(value("--gpu").value_or(""));
}

/// Returns the source that --from and the command together mean. Fails if the command makes no
/// sense with that source.
Outcome<std::string> Context::means_source() const {
    using Means = Command::Means;
    const Means means = command().means;
    const auto from = value("--from");
    if (from == "driver" && command().control && means == Means::module)
        return fail(ErrorCode::unsupported,
                    fmt::format("'{}' changes a GPU in a way that takes the module: NVIDIA's "
                                "driver lets a program change only what processes have; see "
                                "'nvdebugctl doctor'",
                                command().name()));
    if (from == "module" && means == Means::driver)
        return fail(ErrorCode::unsupported,
                    fmt::format("'{}' takes NVIDIA's driver, since the module knows no "
                                "processes; leave out --from",
                                command().name()));
    if (from && is_file(*from) && command().control)
        return tl::unexpected(
            Failure({nvdebug::ErrorCode::unsupported, 0, *from,
                     fmt::format("'{}' changes a GPU, and {} is only a record of one; leave out "
                                 "--from",
                                 command().name(), *from)}));
    if (from)
        return *from;
    if (means == Means::driver)
        return "driver";
    // A control that only the module offers uses the module's files, also if another source is
    // preferred.
    return command().control && means == Means::module ? "module" : "";
}

Outcome<void> Context::open() {
    if (command().scope == Scope::nothing)
        return {};
    const auto source = means_source();
    if (!source)
        return tl::unexpected(source.error());
    auto tree = open_source(*source);
    if (!tree)
        return tl::unexpected(is_file(*source) ? of_named_file(tree.error())
                                               : Failure(tree.error()));
    tree_ = *tree;
    const auto wanted = value("--gpu");
    const bool every = command().scope == Scope::gpus && (!wanted || is_gpu_list(*wanted));
    if (command().scope == Scope::tree || every || all_gpus()) {
        if (wanted && wanted != "all")
            return list_gpus(*wanted);
        leave_out_gpus();
        return {};
    }
    if (wanted && is_gpu_list(*wanted))
        return usage(fmt::format("'{}' is about one GPU: name it instead of '{}'", command().name(),
                                 *wanted));
    auto selected = select_gpu(*tree_, wanted);
    if (!selected)
        return tl::unexpected(selected.error());
    gpu_ = selected->gpu;
    std::ranges::move(selected->notes, std::back_inserter(notes_));
    return {};
}

const std::vector<std::string> &Context::words(std::string_view argument) const {
    static const std::vector<std::string> none;
    const auto found = invocation_.arguments.find(argument);
    return found == invocation_.arguments.end() ? none : found->second;
}

std::vector<std::uint32_t> Context::runlists() const {
    std::vector<std::uint32_t> ids;
    for (const Argument &argument : command().arguments)
        if (argument.kind == Argument::Kind::runlist)
            for (const std::string &word : words(argument.name))
                ids.push_back(*parse_id(word));
    return ids;
}

std::vector<nvdebug::Target> Context::targets() const {
    std::vector<nvdebug::Target> targets;
    for (const Argument &argument : command().arguments)
        if (argument.kind == Argument::Kind::channel || argument.kind == Argument::Kind::tsg)
            for (const std::string &word : words(argument.name))
                targets.push_back(*nvdebug::parse_target(word));
    return targets;
}

bool Context::flag(std::string_view option) const {
    return invocation_.has(option);
}

std::optional<std::string> Context::value(std::string_view option) const {
    const auto found = invocation_.options.find(option);
    if (found == invocation_.options.end())
        return std::nullopt;
    return found->second;
}

} // namespace nvdebugctl
