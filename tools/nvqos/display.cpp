// SPDX-License-Identifier: MIT OR GPL-2.0
#include "display.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "failure.hpp"
#include "lib/base/printable.hpp"
#include "lib/cli/message.hpp"
#include "report.hpp"

namespace nvqos {
namespace {

namespace live = nvdebug::live;
using Ink = live::Piece::Ink;

/// So many messages are kept; the view shows the last of them.
constexpr std::size_t most_messages = 1000, most_in_view = 5;

std::vector<live::ViewLine> help_lines(std::size_t width) {
    constexpr std::array<std::pair<const char *, const char *>, 12> items{
        {{"q", "end; so does Ctrl-C. Everything is as before then"},
         {"h ?", "this help, or back"},
         {"arrows", "up or down; also PgUp, PgDn, Home, End"},
         {"GOT", "the part of the last second in which it had the GPU; '-' in the first second"},
         {"WANTS", "the part of the last second that it would use alone, at most"},
         {"CREDIT", "what it is owed; with a cap alone, what it may still use"},
         {"LEVER", "its timeslice, 'paused', or how its launches are limited or held"},
         {"TASKS", "processes with a GPU context"},
         {"KEPT", "was the goal kept over the last second? Or why it is not known"},
         {"VIOLATIONS", "epochs at whose end the goal was not kept"},
         {"TOGETHER", "the part of its time on several GPUs in which all of its tasks ran"},
         {"POD", "namespace and name of the pod that its tasks are in"}}};
    std::vector<live::ViewLine> lines;
    for (const auto &[name, text] : items)
        live::add_wrapped(lines, fmt::format("{:<12}", name), text, width, Ink::plain);
    return lines;
}

} // namespace

std::optional<std::size_t> width_of_stdout() {
    return nvdebug::cli::terminal_width(STDOUT_FILENO);
}

bool is_ready(int descriptor, int wait_ms) {
    pollfd out{descriptor, POLLOUT, 0};
    return ::poll(&out, 1, wait_ms) != 0;
}

std::string text_of(const Shown &shown, std::optional<std::size_t> width) {
    std::string text = shown.title.empty() ? "" : shown.title + "\n";
    const Table table = table_for(shown.epochs, width);
    for (const std::string &line : table.lines)
        text += line + "\n";
    std::vector<std::string> notes = shown.notes;
    if (!table.note.empty())
        notes.insert(notes.begin(), table.note);
    for (const std::string &note : notes) {
        std::vector<live::ViewLine> lines;
        live::add_wrapped(lines, "", note, width.value_or(note.size()), Ink::plain);
        for (const live::ViewLine &line : lines)
            text += line.front().text + "\n";
    }
    return text;
}

// --- the view in place ---

bool LiveView::handle(int key) {
    switch (key) {
    case 'q':
    case 'Q':
        return true;
    case 'h':
    case '?':
        help_ = !help_;
        scroll_.to_top();
        return false;
    default:
        scroll_.handle(key);
        return false;
    }
}

std::vector<live::ViewLine> LiveView::lines(const Shown &shown,
                                            const std::vector<std::string> &said, live::Size size) {
    std::vector<live::ViewLine> top{{{shown.title, Ink::bold}}}, body;
    if (help_) {
        body = help_lines(size.columns);
    } else {
        const Table table = table_for(shown.epochs, size.columns);
        top.push_back(live::heading(table.lines.front(), size.columns));
        for (std::size_t n = 1; n < table.lines.size(); n++)
            body.push_back({{table.lines[n]}});
        for (const std::string &note : shown.notes)
            live::add_wrapped(body, "", note, size.columns, Ink::bold);
        if (!table.note.empty())
            live::add_wrapped(body, "", table.note, size.columns, Ink::dim);
        for (const std::string &sentence : said)
            live::add_wrapped(body, "", nvdebug::base::printable(sentence), size.columns,
                              Ink::plain);
    }
    const std::size_t count = body.size();
    const std::size_t room = size.rows > top.size() + 1 ? size.rows - top.size() - 1 : 0;
    const std::size_t wanted = top.size() + room;
    std::ranges::move(scroll_.cut(std::move(body), room), std::back_inserter(top));
    top.resize(wanted);
    top.push_back(
        {{"q end, and everything is as before  h help" + scroll_.where(count, room), Ink::dim}});
    live::fit(top, size);
    return top;
}

// --- messages ---

void Messages::say(const std::string &sentence) {
    const std::scoped_lock held(lock_);
    kept_.push_back(sentence);
    if (!keeps_)
        print(0);
    if (kept_.size() > most_messages) {
        kept_.pop_front();
        dropped_++;
    }
}

void Messages::keep() {
    const std::scoped_lock held(lock_);
    keeps_ = true;
}

void Messages::release() {
    constexpr int patience_ms = 1000;
    const std::scoped_lock held(lock_);
    keeps_ = false;
    print(patience_ms);
}

/// Prints the messages that stderr takes.
/// @param wait_ms the longest wait for each
void Messages::print(int wait_ms) {
    while (!kept_.empty() && is_ready(STDERR_FILENO, wait_ms)) {
        if (const auto dropped = std::exchange(dropped_, 0)) {
            warn(fmt::format("{} earlier messages are left out", dropped));
        } else {
            warn(kept_.front());
            kept_.pop_front();
        }
    }
}

std::vector<std::string> Messages::last() const {
    const std::scoped_lock held(lock_);
    const std::size_t count = std::min(kept_.size(), most_in_view);
    return {kept_.end() - static_cast<std::ptrdiff_t>(count), kept_.end()};
}

// --- the terminal ---

bool Display::is_possible() {
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return false;
    // The terminal stops a background process that reads keys, and the goals would stop with it.
    const pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
    return foreground < 0 || foreground == ::getpgrp();
}

void Display::open() {
    screen_ = live::Screen::open(false);
    if (!screen_)
        messages_->say(live::sentence_on_no_screen("a table is printed each time"));
    else if (isatty(STDERR_FILENO))
        messages_->keep();
}

void Display::close() {
    screen_.reset();
    messages_->release();
}

void Display::draw(Shown shown) {
    shown_ = std::move(shown);
    draw();
}

void Display::draw() {
    if (screen_ && shown_)
        screen_->draw(view_.lines(*shown_, messages_->last(), screen_->size()));
}

void Display::add_to(std::vector<pollfd> &awaited) const {
    if (!screen_)
        return;
    for (const int descriptor : screen_->descriptors())
        awaited.push_back({descriptor, POLLIN, 0});
}

int Display::take_events() {
    using Kind = live::Screen::Event::Kind;
    while (screen_) {
        const live::Screen::Event event = screen_->wait(std::chrono::milliseconds(0));
        if (event.kind == Kind::time_is_up)
            return 0;
        if (event.kind == Kind::signal)
            return event.value;
        if (event.kind == Kind::hung_up)
            close(); // goals are kept without a terminal, too
        else if (event.kind == Kind::key && view_.handle(event.value))
            return SIGINT;
        draw();
    }
    return 0;
}

} // namespace nvqos
