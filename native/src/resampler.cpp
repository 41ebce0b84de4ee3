#include "resampler.h"

#include <algorithm>
#include <type_traits>

#include "sample_format.h"

namespace voice {
namespace {

/** Lagrange weights of the rows at -1, 0, 1 and 2 for a position `x` in 0…1. */
void cubic_weights(double x, float weights[4]) {
  weights[0] = static_cast<float>(-x * (x - 1.0) * (x - 2.0) / 6.0);
  weights[1] = static_cast<float>((x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0);
  weights[2] = static_cast<float>(-(x + 1.0) * x * (x - 2.0) / 2.0);
  weights[3] = static_cast<float>((x + 1.0) * x * (x - 1.0) / 6.0);
}

/** int16 keeps its own scale internally, so that integers stay exact. */
template <typename Sample>
Sample from_sum(float sum) {
  if constexpr (std::is_same_v<Sample, int16_t>) {
    return round_to_int16(sum);
  } else {
    return sum;
  }
}

}  // namespace

template <typename Sample>
Resampler<Sample>::Resampler(std::shared_ptr<const FirTable> table, KernelChoice choice)
    : table_(std::move(table)), kernels_(&dot_kernels(choice)) {
  if (table_) window_.reserve(table_->taps() + kBlock);
  reset();
}

template <typename Sample>
void Resampler<Sample>::reset() {
  // The first output is at input 0, so half - 1 samples of silence precede it.
  window_.assign(table_ ? table_->half() - 1 : 0, 0.0f);
  position_ = 0;
  phase_ = 0;
  pushed_ = 0;
  given_ = 0;
}

template <typename Sample>
uint64_t Resampler<Sample>::complete_after(uint64_t total) const {
  // Output n needs input floor(n * step / phases) + half, so n * step / phases < total - half.
  const uint64_t half = table_->half();
  if (total <= half) return 0;
  return ((total - half) * table_->phases() + table_->step() - 1) / table_->step();
}

template <typename Sample>
uint64_t Resampler<Sample>::pushed_size(uint64_t count) const {
  return table_ ? complete_after(pushed_ + count) - given_ : count;
}

template <typename Sample>
uint64_t Resampler<Sample>::flushed_size() const {
  if (!table_) return 0;
  const uint64_t total = (2 * pushed_ * table_->phases() + table_->step()) / (2 * table_->step());
  return total - given_;
}

template <typename Sample>
void Resampler<Sample>::push(std::span<const Sample> in, std::span<Sample> out) {
  if (!table_) {
    std::copy(in.begin(), in.end(), out.begin());
    return;
  }
  while (!in.empty()) {
    const size_t count = std::min(in.size(), kBlock);
    const auto size = static_cast<size_t>(pushed_size(count));
    take(in.data(), count);
    pushed_ += count;
    give(out.first(size));
    in = in.subspan(count);
    out = out.subspan(size);
  }
}

template <typename Sample>
void Resampler<Sample>::flush(std::span<Sample> out) {
  // At most `half` samples of silence, since the last output is before the end of the input.
  if (!out.empty()) {
    take(nullptr, table_->half());
    give(out);
  }
  reset();
}

template <typename Sample>
void Resampler<Sample>::take(const Sample* in, size_t count) {
  // An output advances by less than the filter length, so the position stays within the window.
  window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(position_));
  position_ = 0;
  const size_t start = window_.size();
  window_.resize(start + count);
  if (in == nullptr) return;
  for (size_t i = 0; i < count; i++) window_[start + i] = static_cast<float>(in[i]);
}

template <typename Sample>
void Resampler<Sample>::give(std::span<Sample> out) {
  const size_t taps = table_->taps();
  const uint64_t phases = table_->phases();
  const size_t whole_step = static_cast<size_t>(table_->step() / phases);
  const uint64_t phase_step = table_->step() % phases;
  for (Sample& sample : out) {
    const float* samples = window_.data() + position_;
    if (table_->exact()) {
      sample = from_sum<Sample>(kernels_->dot(samples, table_->row(phase_), taps));
    } else {
      const uint64_t scaled = phase_ * FirTable::kCoarsePhases;
      float sums[4];
      float weights[4];
      kernels_->dot4(samples, table_->rows_around(scaled / phases), taps, sums);
      cubic_weights(static_cast<double>(scaled % phases) / static_cast<double>(phases), weights);
      sample = from_sum<Sample>((sums[0] * weights[0] + sums[3] * weights[3]) +
                                (sums[1] * weights[1] + sums[2] * weights[2]));
    }
    position_ += whole_step;
    phase_ += phase_step;
    if (phase_ >= phases) {
      phase_ -= phases;
      position_++;
    }
  }
  given_ += out.size();
}

template class Resampler<float>;
template class Resampler<int16_t>;

}  // namespace voice
