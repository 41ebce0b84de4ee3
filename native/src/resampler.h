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
 * Streaming rate converter for one mono signal. Output sample n stands for the time n / out_hz, that is,
 * the filter's delay is taken out: silence is assumed before the first and after the last sample.
 *
 * However the input is cut into pushes, the output is the same to the bit. After `flush` the stream has
 * given `round(pushed * out_hz / in_hz)` samples, halves rounded up, and a new stream begins.
 *
 * `Sample` is `float` (any scale, not limited) or `int16_t` (rounded to nearest, saturated). Equal rates
 * pass the samples through.
 */
template <typename Sample>
class Resampler {
 public:
  /** `table` belongs to the pair of rates; null for equal rates. */
  Resampler(std::shared_ptr<const FirTable> table, KernelChoice choice);

  /** Samples that a push of `count` will give. */
  uint64_t pushed_size(uint64_t count) const;
  /** Takes `in` and writes exactly `pushed_size(in.size())` samples. */
  void push(std::span<const Sample> in, std::span<Sample> out);

  /** Samples that a flush will give. */
  uint64_t flushed_size() const;
  /** Ends the stream: writes exactly `flushed_size()` samples and resets. */
  void flush(std::span<Sample> out);

  /** Forgets everything that was pushed. */
  void reset();

  /** Input samples that must follow an output's own time before it is given. */
  size_t latency() const { return table_ ? table_->half() : 0; }
  const char* kernel_name() const { return kernels_->name; }

 private:
  /** Outputs whose samples are complete once `total` inputs have been pushed. */
  uint64_t complete_after(uint64_t total) const;
  /** Takes at most {@link kBlock} samples; null stands for silence. */
  void take(const Sample* in, size_t count);
  /** Computes the next outputs. */
  void give(std::span<Sample> out);

  static constexpr size_t kBlock = 4096;

  std::shared_ptr<const FirTable> table_;
  const DotKernels* kernels_;
  /** Inputs that coming outputs still need, oldest first. */
  std::vector<float> window_;
  /** Time of the next output: index of its first tap in the window, and phase. */
  size_t position_ = 0;
  uint64_t phase_ = 0;
  uint64_t pushed_ = 0;
  uint64_t given_ = 0;
};

extern template class Resampler<float>;
extern template class Resampler<int16_t>;

}  // namespace voice
