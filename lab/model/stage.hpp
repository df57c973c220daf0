// SPDX-License-Identifier: MIT OR GPL-2.0
/**
 * @file Procedures describe a program's work on its processor, in virtual time, as C++20
 * coroutines. Two procedures never run at once, and the code between two waits takes no time.
 */
#ifndef NVDEBUG_LAB_MODEL_STAGE_HPP
#define NVDEBUG_LAB_MODEL_STAGE_HPP

#include "base/time.hpp"

#include <coroutine>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace lab {

using nvmodel::Ns;

/** A coroutine that Stage runs. */
class Procedure {
  public:
    struct promise_type {
        std::exception_ptr thrown;

        Procedure get_return_object() {
            return Procedure(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        static std::suspend_always initial_suspend() noexcept { return {}; }
        static std::suspend_always final_suspend() noexcept { return {}; }
        static void return_void() {}
        void unhandled_exception() { thrown = std::current_exception(); }
    };
    using Handle = std::coroutine_handle<promise_type>;

    explicit Procedure(Handle handle) : handle_(handle) {}
    Procedure(Procedure &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Procedure &operator=(Procedure &&other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Procedure() {
        if (handle_)
            handle_.destroy();
    }

    bool done() const { return handle_.done(); }
    /** Runs the procedure until it waits or ends. Throws the exception that it threw. */
    void resume() const {
        handle_.resume();
        if (handle_.promise().thrown)
            std::rethrow_exception(handle_.promise().thrown);
    }

  private:
    Handle handle_;
};

/** The GPU, which takes time beside the procedures. */
class World {
  public:
    virtual ~World() = default;
    virtual Ns now() const = 0;
    /** Lets time pass until @p time, or until something ends earlier. */
    virtual void advance(Ns time) = 0;
};

/** Runs procedures over a world. */
class Stage {
  public:
    explicit Stage(World &world) : world_(world) {}

    /** A procedure waits until a condition holds, and at least until a time. */
    struct Wait {
        Stage &stage;
        Ns until;
        std::function<bool()> over; // empty: only the time counts

        static bool await_ready() noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) { stage.next_ = this; }
        static void await_resume() noexcept {}
    };
    Wait pause(Ns duration) { return {*this, now() + duration, {}}; }
    Wait until(std::function<bool()> over) { return {*this, 0, std::move(over)}; }

    Ns now() const { return world_.now(); }
    void start(Procedure &procedure);
    /** Drops the wait of a procedure that is destroyed. */
    void forget(const Procedure &procedure);
    /** Lets time pass until @p time, or until @p enough returns true. */
    void run(Ns time, const std::function<bool()> &enough);

  private:
    struct Waiting {
        Procedure *procedure;
        Ns until;
        std::function<bool()> over;

        bool due(Ns now) const { return now >= until && (!over || over()); }
    };

    void resume(Procedure &procedure);
    bool resume_one();

    World &world_;
    std::vector<Waiting> waiting_; // in the order in which they began to wait
    Wait *next_ = nullptr;         // the wait that the running procedure has just begun
};

} // namespace lab

#endif
