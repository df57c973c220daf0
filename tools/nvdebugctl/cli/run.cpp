// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <unistd.h>

#include "command_line.hpp"
#include "completion.hpp"
#include "context.hpp"
#include "help.hpp"
#include "json.hpp"
#include "output.hpp"
#include "page.hpp"
#include "run.hpp"
#include "side_by_side.hpp"

namespace nvdebugctl {
namespace {

/// The time that a command may take for one of several GPUs. Each of its requests has a shorter
/// bound; some wait for a second.
constexpr std::chrono::milliseconds command_deadline{60'000};

std::vector<std::string> chosen_columns(const Invocation &invocation) {
    if (!invocation.columns.empty())
        return invocation.columns;
    std::vector<std::string> names;
    for (const Column &column : invocation.command->columns)
        if (column.in_table || invocation.has("--csv"))
            names.push_back(column.name);
    return names;
}

/// Returns whether people get a table and not a text.
bool is_table(const Invocation &invocation, const Document &document) {
    const Command &command = *invocation.command;
    const bool asked = invocation.has("--columns") || invocation.has("--no-header");
    return command.has_table() && (document.data.is_array() || !command.text || asked);
}

/// Returns the columns of a table. Without --columns, empty columns are left out, because some
/// chips have no values for them.
std::vector<std::string> shown_columns(const Invocation &invocation, const Json &rows) {
    std::vector<std::string> columns = chosen_columns(invocation);
    if (invocation.columns.empty() && !rows.empty())
        std::erase_if(columns, [&](const std::string &column) {
            return std::ranges::all_of(rows, [&](const Json &row) {
                return row.at(column).is_null() || row.at(column) == Json::array();
            });
        });
    return columns;
}

/// A table for a user who names columns, or wants no header, is not fitted to the terminal.
Page new_page(const Context &context) {
    const bool as_it_is = !context.invocation().columns.empty() || context.flag("--no-header");
    return Page(use_color(context.value("--color")),
                as_it_is ? std::nullopt : this_terminal().width);
}

std::string render(const Context &context, const Document &document) {
    const Invocation &invocation = context.invocation();
    const Command &command = context.command();
    if (invocation.json())
        return to_text(envelope(context, document.data), invocation.has("--pretty"));

    const std::vector<std::string> columns = chosen_columns(invocation);
    const bool header = !invocation.has("--no-header");
    if (invocation.has("--csv"))
        return to_csv(document.table(), columns, header);

    Page page = new_page(context);
    if (document.print)
        document.print(page);
    else if (is_table(invocation, document))
        print_table(document.table(), shown_columns(invocation, document.table()), header, page,
                    nullptr, command.columns);
    else if (command.text)
        command.text(document.data, page);
    else
        print_fields(document.data, page);
    return page.text();
}

void say_notes(Context &context) {
    for (const std::string &note : context.take_notes())
        say(note);
}

/// Prints notes and missing parts on stderr. The data is already on stdout.
Exit conclude(Context &context, Exit finding) {
    say_notes(context);
    for (const std::string &sentence : sentences_of(context.missing()))
        say(sentence);
    if (finding != done)
        return finding;
    return context.missing().empty() ? done : partial;
}

const Picture *chosen_picture(const Invocation &invocation) {
    for (const Picture &picture : invocation.command->pictures)
        if (invocation.has(picture.option.name))
            return &picture;
    return nullptr;
}

/// Prints the failure on stderr, and also as a document if JSON was requested.
Exit report(Context *context, bool json, bool pretty, const Failure &failure, Output &output) {
    if (output.is_broken_pipe())
        return failed;
    if (context)
        say_notes(*context);
    say(failure.error.sentence);
    if (json)
        static_cast<void>(output.write(to_text(error_document(context, failure), pretty)));
    return failure.exit;
}

/// Returns the heavier of two exit statuses.
Exit heavier(Exit a, Exit b) {
    constexpr std::array by_weight = {done, partial, not_supported, bad_usage, refused, failed};
    return std::ranges::find(by_weight, a) < std::ranges::find(by_weight, b) ? b : a;
}

/// The documents of several GPUs (-g all), combined for people or as CSV.
class AllGpus {
  public:
    explicit AllGpus(const Context &context)
        : invocation_(context.invocation()), page_(new_page(context)) {}

    void add(const Context &context, const Document &document) {
        const Command &command = *invocation_.command;
        if (invocation_.has("--csv") || is_table(invocation_, document)) {
            for (const Json &row : document.table())
                add_row(context, row);
        } else if (command.row) {
            add_row(context, command.row(document.data));
        } else {
            if (!page_.text().empty())
                page_.line("");
            page_.line(page_.bold(describe(context.gpu())));
            if (document.print)
                document.print(page_);
            else if (command.text)
                command.text(document.data, page_);
            else
                print_fields(document.data, page_);
        }
    }

    std::string text() {
        if (rows_.empty())
            return page_.text();
        const bool header = !invocation_.has("--no-header");
        if (invocation_.has("--csv"))
            return to_csv(rows_, with_gpu(chosen_columns(invocation_)), header);
        std::vector<std::string> columns;
        if (invocation_.command->has_table())
            columns = with_gpu(shown_columns(invocation_, rows_));
        else
            for (const auto &[key, value] : rows_.front().items())
                columns.push_back(key);
        print_table(rows_, columns, header, page_, nullptr, invocation_.command->columns);
        return page_.text();
    }

  private:
    static std::vector<std::string> with_gpu(std::vector<std::string> columns) {
        columns.insert(columns.begin(), "gpu");
        return columns;
    }

    void add_row(const Context &context, const Json &row) {
        Json whole = {{"gpu", context.gpu().index()}};
        whole.update(row);
        rows_.push_back(std::move(whole));
    }

    const Invocation &invocation_;
    Page page_;
    Json rows_ = Json::array();
};

/// Runs the command for each GPU of `-g all` or `-g 0,2`, side by side, and prints the answers one
/// after the other.
Outcome<Exit> execute_all(Context &context, Output &output) {
    const auto gpus = context.gpus();
    if (!gpus)
        return tl::unexpected(gpus.error());
    const Invocation &invocation = context.invocation();
    std::map<std::uint32_t, std::shared_ptr<Context>> own;
    for (const nvdebug::Gpu &gpu : *gpus)
        own.emplace(gpu.index(), std::make_shared<Context>(context)).first->second->about(gpu);
    SideBySide side_by_side(*gpus, command_deadline);
    const auto documents =
        side_by_side.ask([own](const nvdebug::Gpu &gpu) -> nvdebug::Result<Outcome<Document>> {
            Context &its = *own.at(gpu.index());
            return its.command().run(its);
        });
    if (side_by_side.any_hangs())
        context.leave_behind();
    AllGpus all(context);
    Exit exit = done;
    for (std::size_t n = 0; n < gpus->size(); n++) {
        if (!documents[n]) {
            // The GPU hangs, so it must not be asked for its name, as a report with its own context
            // would.
            exit = heavier(exit, report(&context, invocation.json(), invocation.has("--pretty"),
                                        Failure(documents[n].error()), output));
            continue;
        }
        Context &its = *own.at((*gpus)[n].index());
        const Outcome<Document> &document = *documents[n];
        if (document && invocation.json()) {
            if (auto written = output.write(render(its, *document)); !written)
                return tl::unexpected(written.error());
        } else if (document) {
            all.add(its, *document);
        }
        exit = heavier(exit, document ? conclude(its, document->exit)
                                      : report(&its, invocation.json(), invocation.has("--pretty"),
                                               document.error(), output));
    }
    if (!context.flag("--quiet"))
        if (auto written = output.write(all.text()); !written)
            return tl::unexpected(written.error());
    return exit;
}

Outcome<Exit> execute(Context &context, Output &output) {
    const Command &command = context.command();
    if (command.check)
        if (auto checked = command.check(context); !checked)
            return tl::unexpected(checked.error());
    if (auto opened = context.open(); !opened)
        return tl::unexpected(opened.error());
    if (command.control)
        say_notes(context); // they say which GPU will be changed
    if (command.stream) {
        auto exit = command.stream(context, output);
        return exit ? Outcome<Exit>(conclude(context, *exit)) : exit;
    }
    if (context.all_gpus())
        return execute_all(context, output);
    if (const Picture *const picture = chosen_picture(context.invocation())) {
        auto drawn = picture->draw(context);
        if (!drawn)
            return tl::unexpected(drawn.error());
        if (auto written = output.write(*drawn); !written)
            return tl::unexpected(written.error());
        return conclude(context, done);
    }
    auto document = command.run(context);
    if (!document)
        return tl::unexpected(document.error());
    if (!context.flag("--quiet"))
        if (auto written = output.write(render(context, *document)); !written)
            return tl::unexpected(written.error());
    const Exit exit = conclude(context, document->exit);
    if (document->then)
        if (auto ended = document->then(); !ended) {
            // The document is already on stdout, so the failure goes to stderr alone.
            say(ended.error().error.sentence);
            return ended.error().exit;
        }
    return exit;
}

std::string answer_instead(const std::vector<Object> &objects, const Invocation &invocation) {
    switch (invocation.instead) {
    case Invocation::Instead::columns_help:
        return columns_help(*invocation.command);
    case Invocation::Instead::version:
        return "nvdebugctl " NVDEBUGCTL_VERSION "\n";
    default:
        return help_text(objects, invocation.object, invocation.command);
    }
}

} // namespace

int run(const std::vector<Object> &objects, std::vector<std::string> words) {
    Output output;
    if (!words.empty() && words[0] == complete_verb) {
        words.erase(words.begin());
        return complete(objects, words, output);
    }

    if (words.empty()) {
        const std::string text = short_usage(objects);
        static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
        return bad_usage;
    }
    Invocation invocation;
    const auto parsed = parse_command_line(objects, words, invocation);
    Context context(invocation);
    Context *const known = invocation.command ? &context : nullptr;
    const auto report_failure = [&](const Failure &failure) {
        return report(known, invocation.json(), invocation.has("--pretty"), failure, output);
    };
    if (!parsed)
        return report_failure(parsed.error());
    if (invocation.instead != Invocation::Instead::nothing) {
        const auto written = output.write(answer_instead(objects, invocation));
        return written ? done : report_failure(written.error());
    }
    const auto exit = execute(context, output);
    const int status = exit ? *exit : report_failure(exit.error());
    // The thread that is left behind may still use what main() would destroy at its end.
    if (context.leaves_behind())
        std::_Exit(status);
    return status;
}

} // namespace nvdebugctl
