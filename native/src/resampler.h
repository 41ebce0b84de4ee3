#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dot_kernels.h"
#include "fir_table.h"

namespace voice {

/**
 * Streaming rate converter for one mono signal. Output sample n corresponds to the time n / out_hz: the filter delay
 * is compensated, with silence before the first and after the last sample.
 * The output is bit-identical for any division of the input into pushes. After `flush` the stream has returned
 * `round(pushed * out_hz / in_hz)` samples, halves rounded up, and a new stream starts.
 * `Sample` is `float` (any scale, unlimited) or `int16_t` (rounded to nearest, saturated). Equal rates copy the
 * samples.
 */
template <typename Sample>
class Resampler {
 public:
  /** `table` must match the two rates; null for equal rates. */
  Resampler(std::shared_ptr<const FirTable> table, KernelChoice choice);

  /** Number of samples that a push of `count` samples returns. */
  uint64_t pushed_size(uint64_t count) const;
  /** Reads `in` and writes exactly `pushed_size(in.size())` samples. */
  void push(std::span<const Sample> in, std::span<Sample> out);

  /** Number of samples that a flush returns. */
  uint64_t flushed_size() const;
  /** Ends the stream: writes exactly `flushed_size()` samples and resets. */
  void flush(std::span<Sample> out);

  /** Discards all pushed samples. */
  void reset();

  /** Number of input samples after its own time that an output needs. */
  size_t latency() const { return table_ ? table_->half() : 0; }
  const char* kernel_name() const { return kernels_->name; }

 private:
  /** Number of complete outputs after `total` pushed inputs. */
  uint64_t complete_after(uint64_t total) const;
  /** Appends at most {@link kBlock} samples; null is silence. */
  void take(const Sample* in, size_t count);
  /** Computes the next outputs. */
  void give(std::span<Sample> out);

  static constexpr size_t kBlock = 4096;

  std::shared_ptr<const FirTable> table_;
  const DotKernels* kernels_;
  /** Inputs that later outputs need, oldest first. */
  std::vector<float> window_;
  /** Position of the next output: index of its first tap in the window, and phase. */
  size_t position_ = 0;
  uint64_t phase_ = 0;
  uint64_t pushed_ = 0;
  uint64_t given_ = 0;
};

extern template class Resampler<float>;
extern template class Resampler<int16_t>;

}  // namespace voice
