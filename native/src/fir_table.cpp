#include "fir_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "dot_kernels.h"

namespace voice {
namespace {

constexpr double kStopBandDb = 110.0;
/** Centre of the transition band, which spans 0.9 to 1.0 of the lower Nyquist frequency. */
constexpr double kCutOff = 0.95;
constexpr double kTransition = 0.1;

/** I0(x) as a power series in (x / 2)^2; 30 terms reach double precision for x up to 12. */
double bessel_i0(double x) {
  static constexpr auto kCoefficients = [] {
    std::array<double, 31> values{1.0};
    for (size_t k = 1; k < values.size(); k++) values[k] = values[k - 1] / (4.0 * static_cast<double>(k * k));
    return values;
  }();
  double sum = 0.0;
  for (size_t k = kCoefficients.size(); k > 0; k--) sum = sum * (x * x) + kCoefficients[k - 1];
  return sum;
}

/** Half length of the filter in samples of the lower rate, according to Kaiser's formula. */
double half_length() { return (kStopBandDb - 7.95) / (2.285 * std::numbers::pi * kTransition) / 2.0; }

}  // namespace

FirTable::FirTable(uint32_t in_hz, uint32_t out_hz) {
  const uint64_t divisor = std::gcd(in_hz, out_hz);
  phases_ = out_hz / divisor;
  step_ = in_hz / divisor;
  // Input samples per sample of the lower rate.
  const double stretch = std::max(1.0, static_cast<double>(in_hz) / static_cast<double>(out_hz));
  const auto needed = static_cast<size_t>(std::ceil(2.0 * half_length() * stretch));
  taps_ = (needed + kTapBlock - 1) / kTapBlock * kTapBlock;
  exact_ = phases_ * taps_ <= kMaxExactFloats;

  const double beta = 0.1102 * (kStopBandDb - 8.7);
  const double window_gain = 1.0 / bessel_i0(beta);
  const double half_taps = static_cast<double>(taps_) / 2.0;
  const double bandwidth = kCutOff / stretch;
  const auto response = [&](double time) {
    const double at = time / half_taps;
    if (at <= -1.0 || at >= 1.0) return 0.0;
    const double window = bessel_i0(beta * std::sqrt(1.0 - at * at)) * window_gain;
    const double angle = std::numbers::pi * bandwidth * time;
    return bandwidth * (angle == 0.0 ? 1.0 : std::sin(angle) / angle) * window;
  };

  // The response is even, so one side of it, sampled at every phase, contains every tap.
  const uint64_t resolution = exact_ ? phases_ : kCoarsePhases;
  std::vector<float> side(half() * static_cast<size_t>(resolution) + 1);
  for (size_t i = 0; i < side.size(); i++) {
    side[i] = static_cast<float>(response(static_cast<double>(i) / static_cast<double>(resolution)));
  }
  const auto steps = static_cast<int64_t>(resolution);
  const int64_t first = exact_ ? 0 : -1;
  const int64_t last = exact_ ? steps - 1 : steps + 1;
  rows_.reserve(static_cast<size_t>(last - first + 1) * taps_);
  for (int64_t row = first; row <= last; row++) {
    for (size_t k = 0; k < taps_; k++) {
      const int64_t time = row + (static_cast<int64_t>(half()) - 1 - static_cast<int64_t>(k)) * steps;
      const auto at = static_cast<size_t>(time < 0 ? -time : time);
      rows_.push_back(at < side.size() ? side[at] : 0.0f);
    }
  }
}

}  // namespace voice
