#pragma once

#include <cstddef>

namespace voice {

/** The number of taps of every filter row is a multiple of this, so that kernels need no remainder loop. */
inline constexpr size_t kTapBlock = 16;

/** Implementation of the filter sums. `best` depends on the processor. */
enum class KernelChoice { best, portable };

/**
 * Inner products of a filter and samples. The order of additions depends only on `taps`, so the result for an input
 * is bit-identical at any memory address; kernels differ from each other by rounding.
 */
struct DotKernels {
  const char* name;
  /** Sum of samples[i] * row[i]; `taps` is a multiple of {@link kTapBlock}. No alignment required. */
  float (*dot)(const float* samples, const float* row, size_t taps);
  /** The sums of four consecutive rows, in one pass over the samples. */
  void (*dot4)(const float* samples, const float* rows, size_t taps, float sums[4]);
};

/** Static function tables, valid for the lifetime of the process. */
const DotKernels& dot_kernels(KernelChoice choice);

}  // namespace voice
