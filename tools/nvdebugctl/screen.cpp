// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

// Its macros would rename members of everything that follows.
#define NCURSES_NOMACROS
#include <curses.h>

namespace nvdebugctl {

/** False: TERM is unknown, or has no cursor to place (`dumb`). */
static bool can_place_cursor();

namespace {

/** They end the view; they are read as events, so that they find the terminal in no odd moment. */
sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT})
        sigaddset(&set, number);
    return set;
}

attr_t attribute_of(ViewLine::Ink ink) {
    switch (ink) {
    case ViewLine::Ink::bold:
        return A_BOLD;
    case ViewLine::Ink::dim:
        return A_DIM;
    case ViewLine::Ink::plain:
        break;
    }
    return A_NORMAL;
}

} // namespace

struct Screen::Terminal {
    SCREEN *screen = nullptr;
    int signals = -1;
    sigset_t old_mask{};

    Terminal() {
        sigset_t set = ending_signals();
        sigprocmask(SIG_BLOCK, &set, &old_mask);
        signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    }
    ~Terminal() {
        if (screen) {
            endwin();
            delscreen(screen);
        }
        if (signals >= 0)
            close(signals);
        sigprocmask(SIG_SETMASK, &old_mask, nullptr);
    }
};

std::unique_ptr<Screen> Screen::open() {
    if (!can_place_cursor())
        return nullptr;
    auto terminal = std::make_unique<Terminal>();
    if (terminal->signals < 0)
        return nullptr;
    terminal->screen = newterm(nullptr, stdout, stdin);
    if (!terminal->screen)
        return nullptr;
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    return std::unique_ptr<Screen>(new Screen(std::move(terminal)));
}

Screen::Screen(std::unique_ptr<Terminal> terminal) : terminal_(std::move(terminal)) {}
Screen::~Screen() = default;

void Screen::draw(const std::vector<ViewLine> &lines) {
    erase();
    int height = std::max(1, getmaxy(stdscr));
    for (int y = 0; y < height && y < static_cast<int>(lines.size()); ++y) {
        // The keys stay in sight where not all lines fit.
        bool last = y == height - 1 && static_cast<int>(lines.size()) > height;
        const ViewLine &line = last ? lines.back() : lines[static_cast<std::size_t>(y)];
        attrset(static_cast<int>(attribute_of(line.ink)));
        mvaddnstr(y, 0, line.text.c_str(), getmaxx(stdscr));
    }
    attrset(A_NORMAL);
    refresh();
}

Screen::Event Screen::wait(std::chrono::milliseconds at_most) {
    pollfd files[] = {{STDIN_FILENO, POLLIN, 0}, {terminal_->signals, POLLIN, 0}};
    int ready = poll(files, 2, static_cast<int>(at_most.count()));
    if (ready < 0 && errno != EINTR)
        return {Event::Kind::hung_up, 0};
    if (signalfd_siginfo info; read(terminal_->signals, &info, sizeof info) == sizeof info)
        return {Event::Kind::signal, static_cast<int>(info.ssi_signo)};
    // Also after EINTR: that is how a new size of the window shows.
    if (int key = getch(); key != ERR)
        return key == KEY_RESIZE ? Event{Event::Kind::resized, 0} : Event{Event::Kind::key, key};
    if (ready > 0 && files[0].revents)
        return {Event::Kind::hung_up, 0};
    return {ready < 0 ? Event::Kind::resized : Event::Kind::time_is_up, 0};
}

} // namespace nvdebugctl

// Its macros have the names of many things, so nothing else may follow.
#include <term.h>

namespace nvdebugctl {

static bool can_place_cursor() {
    int known = 0;
    if (setupterm(nullptr, STDOUT_FILENO, &known) != OK)
        return false;
    const bool can = cursor_address != nullptr;
    del_curterm(cur_term);
    return can;
}

} // namespace nvdebugctl
