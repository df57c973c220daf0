// SPDX-License-Identifier: MIT OR GPL-2.0
#include "destination.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cli/output.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "summary.hpp"

namespace nvdebugctl {

namespace {

bool is_stdout(const std::string &path) {
    return descriptor_named(path) == STDOUT_FILENO;
}

std::string names_of_forms() {
    std::vector<std::string> names;
    for (const Form &form : forms())
        names.push_back(form.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

/// Returns a line about the file and a way to look at it: `run.ndjson: 401 turns in 1.024 s; …`.
std::string closing_line(const Destination &destination, const Json &summary) {
    const std::string &path = destination.file.path();
    std::string how;
    if (destination.form.name == "perfetto")
        how = "; open it at https://ui.perfetto.dev, which reads it on your machine";
    else if (destination.form.name == "html")
        how = "; open it with a browser";
    else if (destination.form.name == "ndjson")
        how = fmt::format("; 'nvdebugctl recording show {}' shows it", path);
    return fmt::format("{}: {} in {:.3f} s{}", path,
                       count_of(summary["turns"].get<std::uint64_t>(), "turn"),
                       summary["seconds"].get<double>(), how);
}

} // namespace

Outcome<const Form *> form_of(const Context &context) {
    const auto file = context.value("--output"), wanted = context.value("--format");
    if (!file && wanted)
        return usage(
            "--format is the form of a recording; name its file with -o (-o - is standard output)");
    if (!file)
        return nullptr;
    if (is_stdout(*file) &&
        (context.invocation().json() || context.flag("--csv") || context.flag("--summary")))
        return usage("with -o - the recording is written to standard output, where the summary "
                     "cannot be as well; name a file");
    if (wanted)
        return &*std::ranges::find(forms(), *wanted, &Form::name);
    if (is_stdout(*file))
        return &*std::ranges::find(forms(), "ndjson", &Form::name);
    for (const Form &form : forms())
        for (const std::string &ending : form.endings)
            if (file->ends_with(ending))
                return &form;
    return usage(fmt::format("the form of {} does not follow from its name: end it in .pftrace, "
                             ".ndjson, .csv or .html, or give --format ({})",
                             *file, names_of_forms()));
}

Outcome<std::optional<Destination>> open_destination(const Context &context,
                                                     RecordingFile::Appears when) {
    const auto form = form_of(context);
    if (!form)
        return tl::unexpected(form.error());
    if (!*form)
        return std::nullopt;
    if (is_stdout(*context.value("--output")) && (*form)->name == "perfetto" &&
        Output::is_terminal())
        return usage("a trace for Perfetto cannot be shown on a terminal; name a file");
    auto file = RecordingFile::open(*context.value("--output"), when);
    if (!file)
        return tl::unexpected(file.error());
    return Destination{**form, (*form)->make(), std::move(*file)};
}

Document summary_document(const Context &context, Json summary, const Destination *destination) {
    Document document{std::move(summary)};
    document.rows = summary_rows(document.data);
    const auto output = context.value("--output");
    if (!output || context.invocation().json() || context.flag("--csv"))
        return document;
    const bool wanted = context.flag("--summary"), piped = is_stdout(*output);
    document.print = [wanted, summary = document.data,
                      line = piped ? "" : closing_line(*destination, document.data)](Page &page) {
        if (wanted)
            show_summary(summary, page);
        if (!line.empty())
            page.line(line);
    };
    return document;
}

std::vector<Option> form_options() {
    return {{"--output",
             "write the recording there; the form is as the name ends, and an existing file is "
             "replaced; -: standard output",
             "FILE", "-o"},
            {"--format",
             "perfetto (.pftrace: opens at ui.perfetto.dev), ndjson (.ndjson), csv (.csv) or html "
             "(.html: a page that shows it); on standard output default: ndjson",
             "FORM",
             "",
             {"perfetto", "ndjson", "csv", "html"}},
            {"--summary", "print the summary, too: without -o that is all there is"}};
}

} // namespace nvdebugctl
