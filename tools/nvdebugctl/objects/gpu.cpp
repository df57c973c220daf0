// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>

#include "cli/context.hpp"
#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/side_by_side.hpp"
#include "nvdebug/product.hpp"
#include "objects.hpp"
#include "state/gpu_tasks.hpp"

namespace nvdebugctl {

namespace {

/// Digits of a PCI class: class, subclass and interface.
constexpr std::size_t digits_of_class = 6;

constexpr const char *product_help =
    "what NVIDIA's driver calls the product; null: the driver is not loaded, the GPU sleeps, or it "
    "is of a capture";
constexpr const char *uuid_help =
    "UUID, as nvidia-smi prints it; null: as with the product, or no program has used the GPU";

Json channel_ids(const nvdebug::Info &info) {
    return info.ids_per_runlist ? Json(*info.ids_per_runlist ? "per-runlist" : "global") : Json();
}

const char *source_name(nvdebug::Source source) {
    switch (source) {
    case nvdebug::Source::module:
        return "module";
    case nvdebug::Source::driver:
        return "driver";
    default:
        return "file";
    }
}

nvdebug::Result<Json> gpu_row(const nvdebug::Gpu &gpu) {
    const auto info = gpu.info();
    if (!info)
        return tl::unexpected(info.error());
    const nvdebug::Product product = nvdebug::product_of(gpu.tree(), *info);
    return Json{{"index", gpu.index()},
                {"chip", or_null(info->chip)},
                {"product", or_null(product.name)},
                {"generation", or_null(info->generation)},
                {"pci_address", or_null(info->pci_address)},
                {"pci_id", or_null(info->pci_id)},
                {"driver", or_null(info->driver)},
                {"tasks", nullptr},
                {"runlists", info->runlists.size()},
                {"channels", or_null(info->channels)},
                {"channel_ids", channel_ids(*info)},
                {"video_memory_bytes", or_null(info->video_memory)},
                {"uuid", or_null(product.uuid)}};
}

Outcome<Document> list_gpus(Context &context) {
    const auto gpus = context.gpus();
    if (!gpus)
        return tl::unexpected(gpus.error());
    SideBySide all(*gpus);
    // If a GPU has gone, this first question shows it, and the GPU is not asked about its tasks.
    auto found = all.ask(gpu_row);
    auto tasks = all.ask(read_gpu_tasks);
    if (all.any_hangs())
        context.leave_behind();
    Json rows = Json::array();
    std::vector<nvdebug::Error> errors;
    std::set<std::string> notes;
    for (std::size_t n = 0; n < gpus->size(); n++) {
        if (!found[n]) {
            errors.push_back(std::move(found[n].error()));
            continue;
        }
        if (!tasks[n]) {
            errors.push_back(std::move(tasks[n].error()));
        } else {
            (*found[n])["tasks"] = std::move(tasks[n]->tasks);
            notes.insert(tasks[n]->notes.begin(), tasks[n]->notes.end());
            std::ranges::move(tasks[n]->errors, std::back_inserter(errors));
        }
        rows.push_back(std::move(*found[n]));
    }
    if (rows.empty())
        return tl::unexpected(Failure(errors.front()));
    for (nvdebug::Error &error : errors)
        context.missing(std::move(error));
    for (const std::string &note : notes)
        context.note(note);
    return Document{rows};
}

Outcome<Document> show_gpu(Context &context) {
    const auto info = context.gpu().info();
    if (!info)
        return tl::unexpected(Failure(info.error()));
    Json features = Json::array();
    for (const nvdebug::Feature &feature : info->features)
        features.push_back({{"name", feature.name},
                            {"available", feature.available},
                            {"reason", feature.available ? Json() : Json(feature.reason)}});
    const auto bar = [&](int n) { return or_null(info->bar_size[n]); };
    const nvdebug::Product product = nvdebug::product_of(context.tree(), *info);
    return Document{{{"index", context.gpu().index()},
                     {"source", source_name(context.tree().source())},
                     {"chip", or_null(info->chip)},
                     {"product", or_null(product.name)},
                     {"uuid", or_null(product.uuid)},
                     {"chip_id", hex(info->chip_id)},
                     {"generation", or_null(info->generation)},
                     {"revision", hex(info->revision)},
                     {"pci_address", or_null(info->pci_address)},
                     {"pci_id", or_null(info->pci_id)},
                     {"pci_subsystem", or_null(info->pci_subsystem)},
                     {"pci_class", hex(info->pci_class, digits_of_class)},
                     {"platform_device", or_null(info->platform_device)},
                     {"compatible", or_null(info->compatible)},
                     {"bar0_bytes", bar(0)},
                     {"bar1_bytes", bar(1)},
                     {"bar2_bytes", bar(2)},
                     {"video_memory_bytes", or_null(info->video_memory)},
                     {"driver", or_null(info->driver)},
                     {"channels", or_null(info->channels)},
                     {"channel_ids", channel_ids(*info)},
                     {"runlists", info->runlists},
                     {"runlists_note", or_null(info->runlists_note)},
                     {"page_tables", or_null(info->page_tables)},
                     {"features", features}}};
}

void print_gpu(const Json &data, Page &page) {
    Json fields = data;
    fields.erase("features");
    print_fields(fields, page);
    for (const Json &feature : data["features"]) {
        const std::string name = feature["name"].get<std::string>();
        page.line(feature["available"].get<bool>()
                      ? fmt::format("feature {}: yes", page.bold(name))
                      : fmt::format("feature {}: {} ({})", page.bold(name), page.warning("no"),
                                    feature["reason"].get<std::string>()));
    }
}

} // namespace

std::vector<Command> gpu_commands() {
    return {
        {.object = "gpu",
         .verb = "list",
         .help = "the GPUs of this machine or capture, and who competes for each",
         .scope = Scope::tree,
         .columns = {{"index", "number of the GPU: N of /proc/gpuN", "uint"},
                     {"chip", "name of the chip; null: unknown", "string?"},
                     {"product", product_help, "string?"},
                     {"generation", "Kepler to Blackwell", "string?"},
                     {"pci_address", "domain:bus:device.function; null: not on PCI", "string?"},
                     {"pci_id", "PCI vendor and device id, hexadecimal", "string?", false},
                     {"driver", "driver bound to the GPU now; null: none", "string?"},
                     {"tasks",
                      "who competes for GR0, and the part of its time that timeslices give while "
                      "all have work; null: not known",
                      "[gpuTask]?", true, "expected_share"},
                     {"runlists", "how many runlists it has", "uint"},
                     {"channels", "how many channel ids there are, per GPU or per runlist",
                      "uint?"},
                     {"channel_ids", "channel and TSG ids are 'global' or 'per-runlist'",
                      "global|per-runlist|null", false},
                     {"video_memory_bytes", "size of video memory, in bytes", "uint?"},
                     {"uuid", uuid_help, "string?"}},
         .data = "GPUs by rising index",
         .notes = {"GPUs are asked side by side; one that does not answer within 10 s is named, "
                   "and the others are shown (exit 4).",
                   "What tasks really had of GR0 is shown by 'task list' and 'top'. With the "
                   "module alone tasks are TSGs, as it has no processes."},
         .examples = {{"nvdebugctl gpu list", "one line for each GPU"},
                      {"nvdebugctl gpu list --csv --columns index,pci_address",
                       "the PCI address of each, for a script"}},
         .run = list_gpus},
        {.object = "gpu",
         .verb = "show",
         .help = "identity of a GPU, and what can be shown and done with it",
         .fields =
             {{"index", "number of the GPU: N of /proc/gpuN", "uint"},
              {"source",
               "where it is from: the module, NVIDIA's driver, or a file (a capture or a folder)",
               "module|driver|file"},
              {"chip", "name of the chip; null: unknown", "string?"},
              {"product", product_help, "string?"},
              {"uuid", uuid_help, "string?"},
              {"chip_id", "chip id of the boot register", "address"},
              {"generation", "Kepler to Blackwell", "string?"},
              {"revision", "revision of the chip", "address"},
              {"pci_address", "domain:bus:device.function; null: not on PCI", "string?"},
              {"pci_id", "PCI vendor and device id, hexadecimal", "string?"},
              {"pci_subsystem", "PCI subsystem vendor and device id, hexadecimal", "string?"},
              {"pci_class", "PCI class", "address"},
              {"platform_device", "name in /sys/bus/platform/devices; null: on PCI", "string?"},
              {"compatible", "what the device tree calls an integrated GPU; null: on PCI",
               "string?"},
              {"bar0_bytes", "size of BAR0 (NVIDIA's numbering), in bytes", "uint?"},
              {"bar1_bytes", "size of BAR1 (NVIDIA's numbering), in bytes", "uint?"},
              {"bar2_bytes", "size of BAR2 (NVIDIA's numbering), in bytes", "uint?"},
              {"video_memory_bytes", "size of video memory, in bytes", "uint?"},
              {"driver", "driver bound to the GPU now; null: none", "string?"},
              {"channels", "how many channel ids there are, per GPU or per runlist", "uint?"},
              {"channel_ids", "channel and TSG ids are 'global' or 'per-runlist'",
               "global|per-runlist|null"},
              {"runlists", "ids of the runlists that can be shown", "[uint]"},
              {"runlists_note", "what is to be known about these ids", "string?"},
              {"page_tables",
               "version of the page tables that the chip walks: '1', '1 or 2', '2' or '3'",
               "string?"},
              {"features",
               "what the module can show and do with this GPU",
               "[object]",
               {{"name", "name of the feature", "string"},
                {"available", "the module can do it on this GPU", "bool"},
                {"reason", "why not", "string?"}}}},
         .examples = {{"nvdebugctl -g 0000:01:00.0 gpu show", "the GPU at this PCI address"}},
         .run = show_gpu,
         .text = print_gpu},
    };
}

} // namespace nvdebugctl
