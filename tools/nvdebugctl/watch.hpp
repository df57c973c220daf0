// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file `watch`: what it sees at one moment, the one source of the live view and of NDJSON. */
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

#include "command.hpp"
#include "nvdebug/nvdebug.hpp"

namespace nvdebugctl {

struct Sample {
    std::uint64_t number; ///< from 1
    std::string time;     ///< UTC, ISO 8601 with milliseconds
    nvdebug::Result<std::vector<nvdebug::EngineState>> engines;
    std::map<std::uint32_t, nvdebug::Result<nvdebug::Runlist>>
        lists; ///< as of sample lists_number: they are read less often
    std::uint64_t lists_number;
};

class Sampler {
  public:
    /** @param list_pace lists are read in the first of so many samples. */
    Sampler(nvdebug::Gpu gpu, std::uint64_t list_pace);

    Sample take();

  private:
    void read_lists();

    nvdebug::Gpu gpu_;
    std::uint64_t list_pace_, taken_ = 0, lists_number_ = 0;
    decltype(Sample::lists) lists_;
};

/** What this sample's files would have told, had they been readable. */
std::vector<nvdebug::Error> errors_of(const Sample &sample);

// Who was on an engine how often: estimated from the last samples.

struct EngineResidency {
    struct Part {
        nvdebug::Occupant who;
        double part; ///< of the samples, 0 to 1
    };
    std::vector<Part> parts;    ///< largest first
    std::optional<double> busy; ///< empty: no sample told
};

class Residency {
  public:
    /** @param window estimates are of so many samples at most. */
    explicit Residency(std::size_t window);

    /** A sample whose engines could not be read does not count. */
    void add(const Sample &sample);

    /** That count. */
    std::size_t samples() const { return seen_.size(); }

    /** Empty with fewer than two samples, and for an engine that does not tell. */
    std::optional<EngineResidency> of(const std::string &engine) const;

  private:
    struct Seen {
        std::optional<nvdebug::Occupant> who;
        std::optional<bool> busy;
    };
    std::size_t window_;
    std::deque<std::map<std::string, Seen>> seen_; ///< of engines that tell
};

// What `watch` says of a list.

struct ListSummary {
    std::size_t tsgs, channels, enabled, busy;
};

/** Entries, as the list has them. */
ListSummary summarize(const nvdebug::Runlist &list);

/** `data` of nvdebug/watch. */
Json watch_json(const Sample &sample, const Residency &residency, std::chrono::milliseconds period);

// What the live view shows, as lines: no terminal is needed to make them.

/** How the user wants it, changed by keys. */
struct ViewSettings {
    enum class Order { device, busy, name };
    Order order = Order::device;
    bool folded = false; ///< one line a runlist
    bool paused = false;
    bool help = false;

    void cycle_order();
};

struct ViewLine {
    enum class Ink { plain, bold, dim };
    std::string text; ///< ASCII
    Ink ink = Ink::plain;
};

struct Shown {
    std::string gpu;    ///< who is watched
    std::string source; ///< `live`, `capture of …: one sample`
    const Sample &sample;
    const Residency &residency;
    std::chrono::milliseconds period;
};

std::vector<ViewLine> view_lines(const Shown &shown, const ViewSettings &settings);

// The terminal while the live view has it.

/** Gives the terminal back as it was when it ends, however the view is left. */
class Screen {
  public:
    /** nullptr: nothing is known about this terminal (TERM). */
    static std::unique_ptr<Screen> open();

    Screen(const Screen &) = delete;
    Screen &operator=(const Screen &) = delete;
    ~Screen();

    void draw(const std::vector<ViewLine> &lines);

    struct Event {
        enum class Kind { time_is_up, key, resized, signal, hung_up } kind;
        int value; ///< of a key or a signal
    };
    Event wait(std::chrono::milliseconds at_most);

  private:
    struct Terminal;
    explicit Screen(std::unique_ptr<Terminal> terminal);
    std::unique_ptr<Terminal> terminal_;
};

} // namespace nvdebugctl

#endif
