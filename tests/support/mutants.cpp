// SPDX-License-Identifier: MIT OR GPL-2.0
// For scripts/mutate, which adds this to the tests' programs: which change is made, for how long a
// test may run, and which changed lines it reaches.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

extern "C" {
/// The change that is made; 0: none.
int mutant;

/// What scripts/mutate writes in front of a line that it changes.
int mutant_reached(int place);

/// A change of a flag in a table, before anybody looks at it.
void mutant_flag(int number, const bool *flag);
}

namespace {

int chosen() {
    const char *const number = std::getenv("MUTANT");
    return number ? std::atoi(number) : 0;
}

std::vector<bool> reached;

/// After each test a line: its name, µs of the processor, the places that it reached.
class Recorder : public testing::EmptyTestEventListener {
  public:
    explicit Recorder(const char *path) : out_(path) {}

    void OnTestStart(const testing::TestInfo &) override {
        reached.assign(reached.size(), false);
        began_ = std::clock();
    }

    void OnTestEnd(const testing::TestInfo &test) override {
        out_ << test.test_suite_name() << '.' << test.name() << ' '
             << (std::clock() - began_) * 1000000 / CLOCKS_PER_SEC;
        for (std::size_t place = 0; place < reached.size(); place++)
            if (reached[place])
                out_ << ' ' << place;
        out_ << std::endl;
    }

  private:
    std::ofstream out_;
    std::clock_t began_ = 0;
};

/// Ends the program if a test takes longer.
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
    const auto at = static_cast<std::size_t>(place);
    if (at >= reached.size())
        reached.resize(2 * at);
    reached[at] = true;
    return 0;
}

void mutant_flag(int number, const bool *flag) {
    if (number != chosen())
        return;
    // tables are constant
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto at = reinterpret_cast<std::uintptr_t>(flag);
    if (mprotect(reinterpret_cast<void *>(at & ~(page - 1)), page, PROT_READ | PROT_WRITE))
        std::abort();
    *const_cast<bool *>(flag) = !*flag;
}
