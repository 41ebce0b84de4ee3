#include "dot_kernels.h"

#include <array>
#include <cstring>

// One source for all processors: the compiler lowers the vectors to the target's instructions. The plain build uses
// SSE2 on x86-64 and NEON on arm64; on x86-64 a second build with AVX2 and FMA is selected if the processor supports
// both.
#if defined(__GNUC__) || defined(__clang__)
#define VOICE_VECTOR __attribute__((vector_size(32)))
#define VOICE_INLINE inline __attribute__((always_inline))
#endif

namespace voice {
namespace {

#if defined(VOICE_VECTOR)

typedef float Lanes VOICE_VECTOR;
constexpr size_t kLanes = sizeof(Lanes) / sizeof(float);
static_assert(kTapBlock == 2 * kLanes);

VOICE_INLINE void load(Lanes& into, const float* from) { std::memcpy(&into, from, sizeof(Lanes)); }

VOICE_INLINE float sum_of(const Lanes& lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

VOICE_INLINE float dot_of(const float* samples, const float* row, size_t taps) {
  Lanes even{};
  Lanes odd{};
  for (size_t i = 0; i < taps; i += kTapBlock) {
    Lanes sample, tap;
    load(sample, samples + i);
    load(tap, row + i);
    even += sample * tap;
    load(sample, samples + i + kLanes);
    load(tap, row + i + kLanes);
    odd += sample * tap;
  }
  even += odd;
  return sum_of(even);
}

VOICE_INLINE void dot4_of(const float* samples, const float* rows, size_t taps, float sums[4]) {
  Lanes lanes[4] = {};
  for (size_t i = 0; i < taps; i += kLanes) {
    Lanes sample;
    load(sample, samples + i);
    for (size_t row = 0; row < 4; row++) {
      Lanes tap;
      load(tap, rows + row * taps + i);
      lanes[row] += sample * tap;
    }
  }
  for (size_t row = 0; row < 4; row++) sums[row] = sum_of(lanes[row]);
}

#else

#define VOICE_INLINE inline
constexpr size_t kLanes = 8;

VOICE_INLINE float dot_of(const float* samples, const float* row, size_t taps) {
  std::array<float, kLanes> lanes{};
  for (size_t i = 0; i < taps; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; lane++) lanes[lane] += samples[i + lane] * row[i + lane];
  }
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

VOICE_INLINE void dot4_of(const float* samples, const float* rows, size_t taps, float sums[4]) {
  for (size_t row = 0; row < 4; row++) sums[row] = dot_of(samples, rows + row * taps, taps);
}

#endif

float dot_portable(const float* samples, const float* row, size_t taps) { return dot_of(samples, row, taps); }

void dot4_portable(const float* samples, const float* rows, size_t taps, float sums[4]) {
  dot4_of(samples, rows, taps, sums);
}

constexpr DotKernels kPortable{"portable", dot_portable, dot4_portable};

#if defined(VOICE_VECTOR) && defined(__x86_64__)

__attribute__((target("avx2,fma"))) float dot_avx2(const float* samples, const float* row, size_t taps) {
  return dot_of(samples, row, taps);
}

__attribute__((target("avx2,fma"))) void dot4_avx2(const float* samples, const float* rows, size_t taps,
                                                   float sums[4]) {
  dot4_of(samples, rows, taps, sums);
}

constexpr DotKernels kAvx2{"avx2", dot_avx2, dot4_avx2};

#endif

}  // namespace

const DotKernels& dot_kernels(KernelChoice choice) {
#if defined(VOICE_VECTOR) && defined(__x86_64__)
  if (choice == KernelChoice::best && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kAvx2;
#endif
  (void)choice;
  return kPortable;
}

}  // namespace voice
