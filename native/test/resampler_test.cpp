#include "resampler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <vector>

#include "check.h"

namespace voice::test {
namespace {

struct Pair {
  uint32_t in_hz;
  uint32_t out_hz;
};

const std::vector<Pair> kPairs{{48000, 8000},  {8000, 48000}, {24000, 8000}, {22050, 24000},
                               {44100, 16000}, {8000, 47999}, {47999, 8000}, {16001, 16000}};

template <typename Sample>
Resampler<Sample> make(Pair pair, KernelChoice choice) {
  auto table = pair.in_hz == pair.out_hz ? nullptr : std::make_shared<const FirTable>(pair.in_hz, pair.out_hz);
  return Resampler<Sample>(table, choice);
}

/** Pushes `in` in heap buffers of the exact size, so that the sanitizer detects every out-of-bounds access. */
template <typename Sample>
void push(Resampler<Sample>& resampler, std::span<const Sample> in, std::vector<Sample>& out) {
  const std::vector<Sample> piece(in.begin(), in.end());
  std::vector<Sample> made(static_cast<size_t>(resampler.pushed_size(piece.size())));
  resampler.push(piece, made);
  out.insert(out.end(), made.begin(), made.end());
}

template <typename Sample>
void flush(Resampler<Sample>& resampler, std::vector<Sample>& out) {
  std::vector<Sample> made(static_cast<size_t>(resampler.flushed_size()));
  resampler.flush(made);
  out.insert(out.end(), made.begin(), made.end());
}

template <typename Sample>
std::vector<Sample> resample(Pair pair, KernelChoice choice, std::span<const Sample> in) {
  auto resampler = make<Sample>(pair, choice);
  std::vector<Sample> out;
  push(resampler, in, out);
  flush(resampler, out);
  return out;
}

std::vector<float> tone(double hz, double rate_hz, size_t length) {
  std::vector<float> samples(length);
  for (size_t n = 0; n < length; n++) {
    samples[n] = static_cast<float>(std::sin(2.0 * std::numbers::pi * hz * static_cast<double>(n) / rate_hz));
  }
  return samples;
}

/** A tone in the pass band must be unchanged including its phase, since the delay is compensated. */
void tones(Pair pair, KernelChoice choice) {
  const double nyquist = std::min(pair.in_hz, pair.out_hz) / 2.0;
  for (const double part : {0.05, 0.5, 0.9}) {
    const double hz = nyquist * part;
    const auto out = resample<float>(pair, choice, tone(hz, pair.in_hz, pair.in_hz / 10));
    double worst = 0;
    for (size_t n = out.size() / 4; n < out.size() * 3 / 4; n++) {
      const double exact = std::sin(2.0 * std::numbers::pi * hz * static_cast<double>(n) / pair.out_hz);
      worst = std::max(worst, std::fabs(exact - static_cast<double>(out[n])));
    }
    // -100 dB for the images plus 0.05 dB would allow 0.0058; the filter is far better.
    check(worst < 2e-5, "tone at " + std::to_string(part) + " of " + std::to_string(pair.out_hz) + " Hz");
  }
  if (pair.in_hz <= pair.out_hz) return;
  for (const double part : {0.001, 0.3, 0.99}) {
    const double hz = nyquist + (pair.in_hz / 2.0 - nyquist) * part;
    const auto out = resample<float>(pair, choice, tone(hz, pair.in_hz, pair.in_hz / 10));
    double worst = 0;
    for (size_t n = out.size() / 4; n < out.size() * 3 / 4; n++)
      worst = std::max(worst, std::fabs(static_cast<double>(out[n])));
    check(worst < 1e-5, "stop-band of " + std::to_string(pair.in_hz) + " to " + std::to_string(pair.out_hz));
  }
}

template <typename Sample>
bool same_bits(const std::vector<Sample>& a, const std::vector<Sample>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Sample)) == 0);
}

template <typename Sample>
void splits(Random& random) {
  for (int round = 0; round < 40; round++) {
    const Pair pair = round < static_cast<int>(kPairs.size())
                          ? kPairs[static_cast<size_t>(round)]
                          : Pair{8000 + random.below(40001), 8000 + random.below(40001)};
    const KernelChoice choice = random.below(2) == 0 ? KernelChoice::best : KernelChoice::portable;
    std::vector<Sample> in(random.below(9000));
    for (auto& sample : in) sample = static_cast<Sample>(static_cast<int>(random.below(65536)) - 32768);

    const auto whole = resample<Sample>(pair, choice, in);
    const uint64_t length = (2 * in.size() * uint64_t{pair.out_hz} + pair.in_hz) / (2 * uint64_t{pair.in_hz});
    check(whole.size() == length, "length of " + std::to_string(pair.in_hz) + " to " + std::to_string(pair.out_hz));

    auto resampler = make<Sample>(pair, choice);
    for (int stream = 0; stream < 2; stream++) {  // the second stream starts from the state after a flush
      std::vector<Sample> parts;
      for (size_t at = 0; at < in.size();) {
        const size_t count =
            std::min<size_t>(random.below(4) == 0 ? random.below(5000) : random.below(40), in.size() - at);
        push(resampler, std::span<const Sample>(in).subspan(at, count), parts);
        at += count;
      }
      flush(resampler, parts);
      check(same_bits(parts, whole), "split of " + std::to_string(pair.in_hz) + " to " + std::to_string(pair.out_hz));
    }
  }
}

void kernels() {
  Random random(3);
  for (const size_t taps : {16u, 144u, 864u}) {
    std::vector<float> samples(taps + 1);
    std::vector<float> rows(4 * taps);
    for (auto& sample : samples) sample = static_cast<float>(random.below(2001)) / 1000.0f - 1.0f;
    for (auto& tap : rows) tap = static_cast<float>(random.below(2001)) / 1000.0f - 1.0f;
    for (const KernelChoice choice : {KernelChoice::best, KernelChoice::portable}) {
      const DotKernels& kernel = dot_kernels(choice);
      float sums[4];
      kernel.dot4(samples.data() + 1, rows.data(), taps, sums);
      for (size_t row = 0; row < 4; row++) {
        double exact = 0;
        for (size_t i = 0; i < taps; i++)
          exact += static_cast<double>(samples[i + 1]) * static_cast<double>(rows[row * taps + i]);
        check(std::fabs(exact - static_cast<double>(sums[row])) < 1e-4, "dot4 of " + std::to_string(taps));
        check(std::fabs(exact - static_cast<double>(kernel.dot(samples.data() + 1, &rows[row * taps], taps))) < 1e-4,
              "dot of " + std::to_string(taps));
      }
    }
  }
}

void memory_is_bounded() {
  // The worst pair: too many phases for one row each (47,999).
  check(!FirTable(8000, 47999).exact(), "many phases are interpolated");
  check(FirTable(44100, 16000).exact() && FirTable(11025, 48000).exact(), "usual pairs have exact rows");
  check(FirTable(48000, 8000).taps() == 864, "longest filter");
}

}  // namespace

void test_resampler() {
  for (const Pair pair : kPairs) {
    tones(pair, KernelChoice::best);
    tones(pair, KernelChoice::portable);
  }
  Random random(1);
  splits<float>(random);
  splits<int16_t>(random);
  kernels();
  memory_is_bounded();
}

}  // namespace voice::test
