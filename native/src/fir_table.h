#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace voice {

inline constexpr uint32_t kMinRateHz = 8'000;
inline constexpr uint32_t kMaxRateHz = 48'000;

/**
 * Low-pass filter of a rate conversion, sampled for every phase that an output can have between two
 * inputs: a Kaiser-windowed sinc (J. F. Kaiser, "Nonrecursive digital filter design using the
 * I0-sinh window function", 1974) whose pass-band ends at 0.9 and whose stop-band starts at 1.0 of the
 * lower Nyquist frequency.
 *
 * An output at the time of input sample `i` plus `phase / phases` is the sum over k of
 * `input[i - half + 1 + k] * row(phase)[k]`, where `taps == 2 * half`.
 *
 * `phases` is out / gcd(in, out). When a row for each of them would pass {@link kMaxExactFloats}, the table
 * holds {@link kCoarsePhases} rows and one more on the left and two on the right, and the resampler
 * interpolates between four of them with a cubic, whose error stays below -130 dB.
 */
class FirTable {
 public:
  /** Rates in Hz, both within {@link kMinRateHz}…{@link kMaxRateHz} and different. */
  FirTable(uint32_t in_hz, uint32_t out_hz);

  uint64_t phases() const { return phases_; }
  /** Input phases that one output advances: in / gcd(in, out). */
  uint64_t step() const { return step_; }
  size_t taps() const { return taps_; }
  /** Input samples that an output needs after its own time. */
  size_t half() const { return taps_ / 2; }
  bool exact() const { return exact_; }
  /** Row of an exact phase. */
  const float* row(uint64_t phase) const { return &rows_[static_cast<size_t>(phase) * taps_]; }
  /** First of the four rows around coarse phase `coarse`…`coarse + 1`. */
  const float* rows_around(uint64_t coarse) const { return &rows_[static_cast<size_t>(coarse) * taps_]; }

  static constexpr size_t kMaxExactFloats = 128 * 1024;
  static constexpr uint64_t kCoarsePhases = 64;

 private:
  uint64_t phases_;
  uint64_t step_;
  size_t taps_;
  bool exact_;
  std::vector<float> rows_;
};

}  // namespace voice
