// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file `watch`: what it sees at one moment, the one source of the live view, lines and NDJSON. */
#ifndef NVDEBUGCTL_WATCH_HPP
#define NVDEBUGCTL_WATCH_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "nvdebug/nvdebug.hpp"
#include "state/state.hpp"

namespace nvdebugctl {

struct Sample {
    std::uint64_t number; ///< from 1
    std::string time;     ///< UTC, ISO 8601 with milliseconds
    nvdebug::Result<std::vector<nvdebug::EngineState>> engines;
    std::map<std::uint32_t, nvdebug::Result<nvdebug::Runlist>>
        lists; ///< as of sample lists_number: they are read less often
    std::uint64_t lists_number;
    std::optional<nvdebug::Error> no_lists = std::nullopt; ///< why it is not known what lists are
};

class Sampler {
  public:
    /** @param list_pace lists are read in the first of so many samples; 0: never */
    Sampler(nvdebug::Gpu gpu, std::uint64_t list_pace);

    Sample take();

  private:
    void read_lists();

    nvdebug::Gpu gpu_;
    EngineStates states_;
    std::uint64_t list_pace_, taken_ = 0, lists_number_ = 0;
    decltype(Sample::lists) lists_;
    std::optional<nvdebug::Error> no_lists_;
};

/** Errors of the files that this sample could not read. */
std::vector<nvdebug::Error> errors_of(const Sample &sample);

// How often each TSG was on an engine, estimated from the last samples.

struct EngineResidency {
    struct Part {
        nvdebug::Occupant who;
        double part; ///< of the samples, 0 to 1
    };
    std::vector<Part> parts;    ///< largest first
    std::optional<double> busy; ///< empty: not known in any sample
};

class Residency {
  public:
    /** An engine in one sample. */
    struct Seen {
        std::optional<nvdebug::Occupant> who; ///< empty: no occupant
        std::optional<bool> busy;             ///< empty: not known
    };

    /** @param window estimates are of so many samples at most. */
    explicit Residency(std::size_t window);

    /** A sample without readable engines does not count. */
    void add(const Sample &sample);

    /** That count. */
    std::size_t samples() const { return samples_; }
    std::size_t window() const { return window_; }

    /** Those samples, oldest first; nullptr: the engine could not be read. */
    std::vector<const Seen *> history(const std::string &engine) const;

    /** Empty with fewer than two samples, and for an engine that cannot be read. */
    std::optional<EngineResidency> of(const std::string &engine) const;

  private:
    std::size_t window_, samples_ = 0;
    /** In those samples; empty: it could not be read. */
    std::map<std::string, std::deque<std::optional<Seen>>> seen_;
};

// What `watch` shows of a list.

struct ListSummary {
    std::size_t tsgs, channels, enabled, busy;
};

/** What a list has twice counts once. */
ListSummary summarize(const nvdebug::Runlist &list);

// As data, for programs and lines.

/** `data` of nvdebug/watch. */
Json watch_json(const Sample &sample, const Residency &residency, std::chrono::milliseconds period);

/** @p data, a row for each engine with the columns of `watch`. */
Json watch_rows(const Json &data);

/** Rows of one sample after the other under one header, in columns that only grow. */
class RowWriter {
  public:
    struct Form {
        std::vector<std::string> columns;
        bool csv, header, color;
    };
    explicit RowWriter(Form form) : form_(std::move(form)) {}

    std::string text(const Json &rows);

  private:
    Form form_;
    std::vector<std::size_t> widths_;
};

// What the live view shows, as lines: no terminal is needed to make them.

struct Piece {
    /** The last four distinguish the residents of an engine. */
    enum class Ink { plain, bold, dim, heading, first, second, third, fourth };
    std::string text;
    Ink ink = Ink::plain;
};

using ViewLine = std::vector<Piece>;

struct WatchedGpu {
    std::string name; ///< `gpu0  GA100  0000:01:00.0`
    const Sample &sample;
    const Residency &residency;
};

/** All GPUs' samples have the same number. */
struct Shown {
    std::vector<WatchedGpu> gpus;
    std::string source; ///< `live`, `a capture: one sample`
    std::chrono::milliseconds period;
};

struct Size {
    std::size_t rows, columns;
};

/** Keys that are no characters. */
enum Key : int { key_up = 0x110000, key_down, key_page_up, key_page_down, key_home, key_end };

/** Which of the lines of a view are on the screen. */
class Scroll {
  public:
    /** Moves by keys for that; others do nothing. */
    void obey(int key);
    void to_top() { first_ = 0; }
    /** Of @p count lines those that fit in @p room. */
    std::vector<ViewLine> cut(std::vector<ViewLine> lines, std::size_t room);
    /** `  arrows 3-10 of 25`; empty: all are there. */
    std::string where(std::size_t count, std::size_t room) const;

  private:
    std::size_t first_ = 0; ///< line at the top
    std::size_t page_ = 1;
};

/** How the user wants it, changed by keys, and the lines that show it so. */
class View {
  public:
    /** @param unicode bars are drawn with its block elements. */
    explicit View(bool unicode) : unicode_(unicode) {}

    /** @return true: the view is to end. */
    bool obey(int key);
    bool paused() const { return paused_; }

    /** No more than fit. */
    std::vector<ViewLine> lines(const Shown &shown, Size size);

    enum class Order { device, busy, name };

  private:
    std::vector<ViewLine> body(const Shown &shown, Size room);
    ViewLine keys(std::size_t count, std::size_t room) const;

    const bool unicode_;
    Order order_ = Order::device;
    std::optional<bool> fold_idle_; ///< empty: where not all fits
    bool folds_idle_ = false;       ///< now
    bool all_residents_ = false, paused_ = false, help_ = false;
    Scroll scroll_;
};

/** What `top` shows: the summary of an interval, a line for each task on each engine. */
class TopView {
  public:
    /** @return true: the view is to end. */
    bool obey(int key);
    bool paused() const { return paused_; }

    /** No more than fit. @param summary as data of nvdebug/record */
    std::vector<ViewLine> lines(const Json &summary, std::chrono::milliseconds interval, Size size);

    enum class Order { engine, share, turns, name };

  private:
    Order order_ = Order::engine;
    bool paused_ = false, help_ = false;
    Scroll scroll_;
};

/** `text` behind @p head, continued below itself. */
void add_wrapped(std::vector<ViewLine> &lines, std::string head, std::string_view text,
                 std::size_t columns, Piece::Ink ink);
/** The first @p columns of it. */
void cut_line(ViewLine &line, std::size_t columns);
/** One that is as wide as the screen and has no other ink. */
ViewLine heading(std::string text, std::size_t columns);

// The terminal while the live view has it.

/** Gives the terminal back as it was when it ends, however the view is left. */
class Screen {
  public:
    /** nullptr: nothing is known about this terminal (TERM). */
    static std::unique_ptr<Screen> open(bool color);

    Screen(const Screen &) = delete;
    Screen &operator=(const Screen &) = delete;
    ~Screen();

    Size size() const;
    void draw(const std::vector<ViewLine> &lines);

    struct Event {
        enum class Kind { time_is_up, key, resized, signal, hung_up } kind;
        int value; ///< of a key (a character or a Key) or a signal
    };
    Event wait(std::chrono::milliseconds at_most);

  private:
    struct Terminal;
    explicit Screen(std::unique_ptr<Terminal> terminal);
    std::unique_ptr<Terminal> terminal_;
};

/** nullptr: lines are wanted, or a screen is not possible; then a message names @p instead. */
std::unique_ptr<Screen> open_screen(const Context &context, const std::string &instead);

/** When the terminal is as it was: a signal that ended the view (0: none did) does what it does to
 * every program. */
Exit end_by(int signal);

} // namespace nvdebugctl

#endif
