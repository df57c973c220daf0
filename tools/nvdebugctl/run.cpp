// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <fmt/format.h>

#include "context.hpp"
#include "json.hpp"
#include "output.hpp"
#include "page.hpp"

namespace nvdebugctl {
namespace {

std::vector<std::string> chosen_columns(const Invocation &invocation) {
    if (!invocation.columns.empty())
        return invocation.columns;
    std::vector<std::string> names;
    for (const Column &column : invocation.command->columns)
        if (column.in_table || invocation.has("--csv"))
            names.push_back(column.name);
    return names;
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

    Page page(use_color(context.value("--color")));
    const bool asked_for_table = invocation.has("--columns") || invocation.has("--no-header");
    const bool is_table = document.data.is_array() || !command.text || asked_for_table;
    if (document.print)
        document.print(page);
    else if (command.has_table() && is_table)
        print_table(document.table(), columns, header, page);
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

/** What was found is on stdout; the rest of what is to be said. */
Exit conclude(Context &context, Exit finding) {
    say_notes(context);
    for (const nvdebug::Error &error : context.missing())
        say(error.sentence);
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

Outcome<Exit> execute(Context &context, Output &output) {
    const Command &command = context.command();
    if (command.check)
        if (auto checked = command.check(context); !checked)
            return tl::unexpected(checked.error());
    if (auto opened = context.open(); !opened)
        return tl::unexpected(opened.error());
    if (command.control)
        say_notes(context); // which GPU is meant: before it is changed
    if (command.stream) {
        auto exit = command.stream(context, output);
        return exit ? Outcome<Exit>(conclude(context, *exit)) : exit;
    }
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
            // stdout has its one document already
            say(ended.error().error.sentence);
            return ended.error().exit;
        }
    return exit;
}

/** Says it on stderr, and in a document where JSON was asked for. */
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

int run(std::vector<std::string> words) {
    const std::vector<Object> objects = all_objects();
    Output output;
    if (!words.empty() && words[0] == complete_verb) {
        words.erase(words.begin());
        return complete(objects, words, output);
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
    return exit ? *exit : report_failure(exit.error());
}

} // namespace nvdebugctl
