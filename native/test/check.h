#pragma once

#include <cstdint>
#include <source_location>
#include <string>

/** Minimal test helpers, so that no framework is required. */
namespace voice::test {

/** Counts a check; a failed check is printed with its location and makes the program fail. */
void check(bool passed, const std::string& what, std::source_location where = std::source_location::current());

/** Groups of checks, one per file, called by main.cpp. */
void test_g711();
void test_resampler();
void test_sentences();
void test_warp();

/** Deterministic random numbers (Knuth's MMIX generator, upper bits). */
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  /** 0…bound - 1. */
  uint32_t below(uint32_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(((state_ >> 32u) * bound) >> 32u);
  }

 private:
  uint64_t state_;
};

}  // namespace voice::test
