// SPDX-License-Identifier: Apache-2.0
#include "compressors/host/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tersor::compressors {
namespace {

class Pool {
 public:
  /// Lives as long as the process: its threads sleep when the program ends.
  static Pool& instance() {
    static Pool* pool = new Pool;
    return *pool;
  }

  /// False: the pool is busy.
  bool run(int threads, std::int64_t pieces, void (*call)(void*, std::int64_t), void* body) {
    const std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn) return false;
    {
      const std::lock_guard lock(mutex_);
      helpers_ = std::min<std::int64_t>({threads - 1, pieces - 1, kMostHelpers});
      while (std::ssize(threads_) < helpers_)
        threads_.emplace_back(
            [this, index = std::ssize(threads_), seen = round_] { help(index, seen); });
      call_ = call;
      body_ = body;
      pieces_ = pieces;
      next_ = 0;
      error_ = nullptr;
      running_ = helpers_;
      ++round_;
    }
    wake_.notify_all();
    work();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
    if (error_) std::rethrow_exception(error_);
    return true;
  }

 private:
  static constexpr std::int64_t kMostHelpers = 63;

  void work() {
    for (std::int64_t piece; (piece = next_++) < pieces_;) {
      try {
        call_(body_, piece);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
    }
  }

  void help(std::int64_t index, std::uint64_t seen) {
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait(lock, [&] { return round_ != seen; });
      seen = round_;
      if (index >= helpers_) continue;
      lock.unlock();
      work();
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  std::mutex turn_;  // one caller at a time
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  std::int64_t helpers_ = 0;  // of this round
  std::int64_t running_ = 0;
  std::uint64_t round_ = 0;
  void (*call_)(void*, std::int64_t) = nullptr;
  void* body_ = nullptr;
  std::int64_t pieces_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::exception_ptr error_;
};

}  // namespace

void detail::run_pieces(int threads, std::int64_t pieces, void (*call)(void*, std::int64_t),
                        void* body) {
  if (threads > 1 && pieces > 1 && Pool::instance().run(threads, pieces, call, body)) return;
  for (std::int64_t piece = 0; piece < pieces; ++piece) call(body, piece);
}

}  // namespace tersor::compressors
