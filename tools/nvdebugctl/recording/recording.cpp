// SPDX-License-Identifier: MIT OR GPL-2.0
// `recording show`.
#include "recording.hpp"
#include "cli/context.hpp"
#include "cli/joined.hpp"
#include "cli/json.hpp"
#include "cli/page.hpp"
#include "destination.hpp"
#include "kernels.hpp"
#include "lib/base/output_file.hpp"
#include "lib/recording/file.hpp"
#include "summary.hpp"
#include "tee.hpp"
#include "totals.hpp"

namespace nvdebugctl {
namespace {

/// A recording may replace itself in its own form, as nothing of it is lost then.
Outcome<void> check_show(const Context &context) {
    const auto form = form_of(context);
    if (!form)
        return tl::unexpected(form.error());
    if (*form && (*form)->name != "ndjson")
        if (const auto why = nvdebug::base::why_not_write("--output", *context.value("--output"),
                                                          context.words("RECORDING").front()))
            return usage(*why);
    return check_kernels(context);
}

/// Writes the text of a sink each time it has grown long.
class Draining final : public Sink {
  public:
    explicit Draining(Destination &destination) : destination_(destination) {}
    void turn(const Lane &, const nvdebug::Turn &, const RecordedProcess *) override { drain(); }
    void launch(const drawing::Launch &) override { drain(); }
    using Sink::end;
    void end(const Json &) override {
        drain(0);
        if (!broken_)
            if (auto done = destination_.file.finish(); !done)
                broken_ = done.error();
    }

    const std::optional<Failure> &broken() const { return broken_; }
    void drain(std::size_t least = 1 << 20) {
        if (!broken_ && destination_.sink->text().size() > least)
            if (auto done = destination_.file.write(destination_.sink->text()); !done)
                broken_ = done.error();
    }

  private:
    Destination &destination_;
    std::optional<Failure> broken_;
};

Outcome<Document> show_recording(Context &context) {
    auto destination = open_destination(context, RecordingFile::Appears::when_finished);
    if (!destination)
        return tl::unexpected(destination.error());
    Tee tee;
    Totals totals;
    tee.add(totals);
    recording::TimeSpan time;
    tee.add(time);
    std::optional<Draining> draining;
    if (*destination) {
        draining.emplace(**destination);
        tee.add(*(*destination)->sink);
        tee.add(*draining);
    }
    const std::string &path = context.words("RECORDING").front();
    recording::RecordedFile file;
    const auto whole = file.replay(path, tee);
    if (!whole)
        return tl::unexpected(of_named_file(whole.error()));
    if (!*whole)
        context.note(path + " is incomplete: its end was cut off");
    if (const auto added = add_launches(context, time, tee); !added)
        return tl::unexpected(added.error());
    const Json summary = totals.summary(std::nullopt);
    tee.end(summary);
    Document document = summary_document(context, summary, *destination ? &**destination : nullptr);
    if (draining && draining->broken()) {
        if (draining->broken()->error.number != EPIPE)
            return tl::unexpected(*draining->broken());
        document.exit = failed;
        document.print = [](Page &) {};
    }
    return document;
}

} // namespace

std::vector<Command> recording_commands() {
    return {
        {.object = "recording",
         .verb = "show",
         .help = "a recording again: its summary, or the whole in another form",
         .scope = Scope::nothing,
         .arguments = {{"RECORDING", Argument::Kind::file,
                        "as 'nvdebugctl record' wrote it in NDJSON, also packed by gzip; -: "
                        "standard input"}},
         .options = joined(form_options(), kernels_options()),
         .columns = summary_columns(),
         .data = "the summary",
         .fields = summary_fields(),
         .examples = {{"nvdebugctl recording show run.ndjson", "its summary"},
                      {"nvdebugctl recording show run.ndjson -o run.html", "as a page"},
                      {"nvdebugctl recording show run.ndjson -o run.pftrace --kernels run",
                       "with the kernels of 'nvtaskset --kernels run COMMAND'"}},
         .check = check_show,
         .run = show_recording,
         .text = show_summary},
    };
}

} // namespace nvdebugctl
