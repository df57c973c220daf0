// SPDX-License-Identifier: MIT OR GPL-2.0
// Added by scripts/mutate to the tests' programs: it selects the change that is made, limits how
// long a test may run, and records which changes each test reaches.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

namespace {

/// The number of places. It equals MOST_NUMBERS in scripts/mutation/tree.py.
constexpr std::size_t most_places = 1 << 18;
/// The places until the first test starts.
unsigned char places_before[most_places];

int chosen() {
    const char *const number = std::getenv("MUTANT");
    return number ? std::atoi(number) : 0;
}

} // namespace

extern "C" {
/// The number of the change that is made; 0: none.
int mutant;

/// A byte for each place, which is 1 once the place is reached. Processes that a test forks share
/// it.
unsigned char *mutant_places = places_before;

/// Called before a line of C that scripts/mutate changes.
int mutant_reached(int place);

/// Changes a flag in a table, before any test reads it.
void mutant_flag(int number, const bool *flag);
}

namespace {

/// Writes a line after each test: its name, its µs of the processor and of the clock, and the
/// places that it reached.
class Recorder : public testing::EmptyTestEventListener {
    using Clock = std::chrono::steady_clock;

  public:
    explicit Recorder(const char *path) : out_(path) {
        void *const shared =
            mmap(nullptr, most_places, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
            std::abort();
        mutant_places = static_cast<unsigned char *>(shared);
    }

    void OnTestStart(const testing::TestInfo &) override {
        std::memset(mutant_places, 0, most_places);
        began_ = std::clock();
        since_ = Clock::now();
    }

    void OnTestEnd(const testing::TestInfo &test) override {
        using std::chrono::microseconds;
        const auto waited = std::chrono::duration_cast<microseconds>(Clock::now() - since_).count();
        out_ << test.test_suite_name() << '.' << test.name() << ' '
             << (std::clock() - began_) * 1000000 / CLOCKS_PER_SEC << ' ' << waited;
        for (std::size_t place = 0; place < most_places; place++)
            if (mutant_places[place])
                out_ << ' ' << place;
        out_ << std::endl;
    }

  private:
    std::ofstream out_;
    std::clock_t began_ = 0;
    Clock::time_point since_;
};

/// Ends the program if a test takes longer than the limit.
class Limit : public testing::EmptyTestEventListener {
  public:
    explicit Limit(long us) : us_(us) {}

    void OnTestStart(const testing::TestInfo &) override { set(us_); }
    void OnTestEnd(const testing::TestInfo &) override { set(0); }

  private:
    static void set(long us) {
        const itimerval timer{{}, {us / 1000000, us % 1000000}};
        setitimer(ITIMER_PROF, &timer, nullptr);
    }
    long us_;
};

[[maybe_unused]] const bool started = [] {
    mutant = chosen();
    if (const char *us = std::getenv("MUTANT_LIMIT"))
        testing::UnitTest::GetInstance()->listeners().Append(new Limit(std::atol(us)));
    if (const char *path = std::getenv("MUTANT_REACHED"))
        testing::UnitTest::GetInstance()->listeners().Append(new Recorder(path));
    return true;
}();

} // namespace

int mutant_reached(int place) {
    mutant_places[place] = 1;
    return 0;
}

void mutant_flag(int number, const bool *flag) {
    if (number != chosen())
        return;
    // The tables are constant, so their page has to be made writable.
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto at = reinterpret_cast<std::uintptr_t>(flag);
    if (mprotect(reinterpret_cast<void *>(at & ~(page - 1)), page, PROT_READ | PROT_WRITE))
        std::abort();
    *const_cast<bool *>(flag) = !*flag;
}
