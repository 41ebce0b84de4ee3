#pragma once

#include <cstddef>

namespace voice {

/** Taps of every filter row are a multiple of this, so that no kernel has a tail. */
inline constexpr size_t kTapBlock = 16;

/** Which code computes the filter sums. `best` is chosen from what the processor can do. */
enum class KernelChoice { best, portable };

/**
 * Inner products of a filter with samples. The order of additions depends only on `taps`, so one input
 * always gives the same bits, wherever it lies in memory; kernels differ from each other by rounding.
 */
struct DotKernels {
  const char* name;
  /** Sum of samples[i] * row[i]; `taps` is a multiple of {@link kTapBlock}. No alignment is needed. */
  float (*dot)(const float* samples, const float* row, size_t taps);
  /** The sums of four rows that follow each other in memory, in one pass over the samples. */
  void (*dot4)(const float* samples, const float* rows, size_t taps, float sums[4]);
};

/** Static tables of functions; valid for ever. */
const DotKernels& dot_kernels(KernelChoice choice);

}  // namespace voice
