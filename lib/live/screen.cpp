// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/live/screen.hpp"

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/base/ending_signals.hpp"

// Without this, macros of curses would rename members of all later headers.
#define NCURSES_NOMACROS
#include <curses.h>

namespace nvdebug::live {

/// Returns the signals that wait() reads as events, so that none interrupts the terminal in an
/// unsafe moment. All of them end the view, except SIGWINCH.
static sigset_t signals_of_screens() {
    sigset_t set = base::ending_signals({SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2});
    sigaddset(&set, SIGWINCH);
    return set;
}

/// Returns false if TERM is unknown, or has no cursor to place (`dumb`).
static bool can_place_cursor();

namespace {

/// The time that the rest of a key's bytes may take.
constexpr int escape_ms = 25;

constexpr short colors[] = {COLOR_GREEN, COLOR_CYAN, COLOR_YELLOW, COLOR_MAGENTA};

attr_t attribute_of(Piece::Ink ink) {
    using Ink = Piece::Ink;
    switch (ink) {
    case Ink::bold:
        return A_BOLD;
    case Ink::dim:
        return A_DIM;
    case Ink::heading:
        return A_REVERSE;
    case Ink::plain:
        return A_NORMAL;
    default:
        return static_cast<attr_t>(
            COLOR_PAIR(1 + static_cast<int>(ink) - static_cast<int>(Ink::first)));
    }
}

/// Sets up the colours of marks. Without colours, the shapes of marks differ.
void init_colors(bool wanted) {
    if (!wanted || !has_colors() || start_color() == ERR)
        return;
    use_default_colors();
    for (short n = 0; n < static_cast<short>(std::size(colors)); ++n)
        init_pair(static_cast<short>(n + 1), colors[n], -1);
}

/// Returns the view's code of a key.
int key_of(int code) {
    switch (code) {
    case KEY_UP:
        return key_up;
    case KEY_DOWN:
        return key_down;
    case KEY_PPAGE:
        return key_page_up;
    case KEY_NPAGE:
        return key_page_down;
    case KEY_HOME:
        return key_home;
    case KEY_END:
        return key_end;
    default:
        return code;
    }
}

/// Reads the terminal's size. curses' own handler gets no SIGWINCH, since the signal is blocked.
void take_size() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
        resize_term(size.ws_row, size.ws_col);
    clearok(curscr, TRUE);
}

} // namespace

struct Screen::Terminal {
    SCREEN *screen = nullptr;
    int signals = -1;
    sigset_t old_mask{};

    Terminal() {
        sigset_t set = signals_of_screens();
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

std::string sentence_on_no_screen(const std::string &instead) {
    const char *const name = std::getenv("TERM");
    return "terminfo has no entry to draw on the terminal '" + std::string(name ? name : "") +
           "' (TERM), so that no live view is possible: " + instead;
}

sigset_t Screen::signals() {
    return signals_of_screens();
}

std::unique_ptr<Screen> Screen::open(bool color) {
    // The locale makes curses show letters beyond ASCII.
    std::setlocale(LC_CTYPE, "");
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
    set_escdelay(escape_ms);
    init_colors(color);
    return std::unique_ptr<Screen>(new Screen(std::move(terminal)));
}

Screen::Screen(std::unique_ptr<Terminal> terminal) : terminal_(std::move(terminal)) {}
Screen::~Screen() = default;

Size Screen::size() const {
    return {static_cast<std::size_t>(std::max(1, getmaxy(stdscr))),
            static_cast<std::size_t>(std::max(1, getmaxx(stdscr)))};
}

void Screen::draw(const std::vector<ViewLine> &lines) {
    erase();
    for (std::size_t y = 0; y < lines.size(); ++y) {
        move(static_cast<int>(y), 0);
        for (const Piece &piece : lines[y]) {
            attrset(static_cast<int>(attribute_of(piece.ink)));
            addstr(piece.text.c_str());
        }
    }
    attrset(A_NORMAL);
    refresh();
}

std::vector<int> Screen::descriptors() const {
    return {STDIN_FILENO, terminal_->signals};
}

Screen::Event Screen::wait(std::chrono::milliseconds at_most) {
    // Keys that curses has read already do not wake poll().
    if (const int key = getch(); key != ERR)
        return {Event::Kind::key, key_of(key)};
    pollfd files[] = {{STDIN_FILENO, POLLIN, 0}, {terminal_->signals, POLLIN, 0}};
    const int ready = poll(files, 2, static_cast<int>(at_most.count()));
    if (ready < 0 && errno != EINTR)
        return {Event::Kind::hung_up, 0};
    if (signalfd_siginfo info; read(terminal_->signals, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo != SIGWINCH)
            return {Event::Kind::signal, static_cast<int>(info.ssi_signo)};
        take_size();
        return {Event::Kind::resized, 0};
    }
    if (const int key = getch(); key != ERR)
        return {Event::Kind::key, key_of(key)};
    if (ready > 0 && files[0].revents)
        return {Event::Kind::hung_up, 0};
    // poll() fails with EINTR after the program was stopped and continued (SIGTSTP, SIGCONT). The
    // terminal may have another size then.
    if (ready < 0)
        take_size();
    return {ready < 0 ? Event::Kind::resized : Event::Kind::time_is_up, 0};
}

} // namespace nvdebug::live

// The macros of this header have the names of many things, so it must be the last one.
#include <term.h>

namespace nvdebug::live {

static bool can_place_cursor() {
    int known = 0;
    if (setupterm(nullptr, STDOUT_FILENO, &known) != OK)
        return false;
    const bool can = cursor_address != nullptr;
    del_curterm(cur_term);
    return can;
}

} // namespace nvdebug::live
