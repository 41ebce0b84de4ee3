#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace voice {

inline constexpr uint32_t kMinRateHz = 8'000;
inline constexpr uint32_t kMaxRateHz = 48'000;

/**
 * Low-pass filter of a rate conversion, sampled for every phase that an output can have between two inputs: a
 * Kaiser-windowed sinc (J. F. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", 1974)
 * with a pass band up to 0.9 and a stop band from 1.0 of the lower Nyquist frequency.
 * An output at the time of input sample `i` plus `phase / phases` is the sum over k of `input[i - half + 1 + k] *
 * row(phase)[k]`, where `taps == 2 * half`.
 * `phases` is out / gcd(in, out). If one row per phase would exceed {@link kMaxExactFloats}, the table has {@link
 * kCoarsePhases} rows plus one on the left and two on the right, and the resampler interpolates between four rows
 * with a cubic, with an error below -130 dB.
 */
class FirTable {
 public:
  /** Rates in Hz, both within {@link kMinRateHz}…{@link kMaxRateHz} and different. */
  FirTable(uint32_t in_hz, uint32_t out_hz);

  uint64_t phases() const { return phases_; }
  /** Input phases per output: in / gcd(in, out). */
  uint64_t step() const { return step_; }
  size_t taps() const { return taps_; }
  /** Number of input samples after its own time that an output needs. */
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
