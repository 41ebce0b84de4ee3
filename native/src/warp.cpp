#include "warp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace voice {
namespace {

constexpr int32_t kPhases = 64;
constexpr int kPhaseBits = 6;
/** Displacements are clamped to this many phases: exact as floats, and without integer overflow. */
constexpr float kFarthest = 1 << 23;

/** Four numbers, processed as a vector where the compiler supports it. */
#if defined(__GNUC__) || defined(__clang__)
typedef float Four __attribute__((vector_size(16)));
#else
struct Four {
  std::array<float, 4> lanes;
  float operator[](size_t lane) const { return lanes[lane]; }
  friend Four operator*(Four a, const Four& b) {
    for (size_t lane = 0; lane < 4; lane++) a.lanes[lane] *= b.lanes[lane];
    return a;
  }
  friend Four operator*(float factor, Four a) { return a * Four{{factor, factor, factor, factor}}; }
  friend Four operator+(Four a, const Four& b) {
    for (size_t lane = 0; lane < 4; lane++) a.lanes[lane] += b.lanes[lane];
    return a;
  }
};
#endif

/** Four adjacent pixels. */
inline Four four_at(const uint8_t* pixels) {
#if defined(__SSE2__)
  int32_t bytes;
  std::memcpy(&bytes, pixels, sizeof(bytes));
  const __m128i zero = _mm_setzero_si128();
  return _mm_cvtepi32_ps(_mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(bytes), zero), zero));
#else
  return Four{float(pixels[0]), float(pixels[1]), float(pixels[2]), float(pixels[3])};
#endif
}

using Weights = std::array<float, 4>;

inline Four four_of(const Weights& weights) {
  Four four;
  std::memcpy(&four, weights.data(), sizeof(four));
  return four;
}

/** Four weights for each phase, with sum 1; without a fraction only that pixel has a weight. */
std::array<Weights, kPhases> cubic_weights() {
  std::array<Weights, kPhases> weights{};
  for (size_t phase = 0; phase < kPhases; phase++) {
    const float t = static_cast<float>(phase) / kPhases;
    const float w0 = (-t + 2 * t * t - t * t * t) / 2;
    const float w2 = (t + 4 * t * t - 3 * t * t * t) / 2;
    const float w3 = (-t * t + t * t * t) / 2;
    weights[phase] = {w0, 1 - w0 - w2 - w3, w2, w3};
  }
  return weights;
}

const auto kCubic = cubic_weights();

struct Plane {
  const uint8_t* pixels;
  int32_t width;
  int32_t height;
};

/** Maps a position into the picture by repeated mirroring at its borders. */
int32_t mirrored(int32_t place, int32_t side) {
  if (place >= 0 && place < side) return place;
  const int32_t period = 2 * side;
  const int32_t turn = ((place % period) + period) % period;
  return turn < side ? turn : period - 1 - turn;
}

/** Converts to phases; NaN is clamped to the maximum. */
float phases_of(float pixels) {
  const float phases = pixels * kPhases;
  if (!(phases > -kFarthest)) return -kFarthest;
  return std::min(phases, kFarthest);
}

inline float between(float a, float b, float share) { return a + share * (b - a); }

/** The displacements of one row of pixels, in phases. */
class RowDisplacements {
 public:
  RowDisplacements(const DisplacementGrid& grid, uint32_t width)
      : x(width), y(width), grid_(grid), node_(width), share_(width), nodes_x_(grid.columns), nodes_y_(grid.columns) {
    for (uint32_t column = 0; column < width; column++) {
      const double place = std::clamp((column - grid.origin) / grid.step, 0.0, grid.columns - 1.0);
      node_[column] = std::min<uint32_t>(grid.columns - 2, static_cast<uint32_t>(place));
      share_[column] = static_cast<float>(place - node_[column]);
    }
  }

  void take(uint32_t row) {
    const double place = std::clamp((row - grid_.origin) / grid_.step, 0.0, grid_.rows - 1.0);
    const uint32_t top = std::min<uint32_t>(grid_.rows - 2, static_cast<uint32_t>(place));
    const float down = static_cast<float>(place - top);
    const size_t above = size_t{top} * grid_.columns;
    const size_t below = above + grid_.columns;
    for (uint32_t node = 0; node < grid_.columns; node++) {
      nodes_x_[node] = between(phases_of(grid_.x[above + node]), phases_of(grid_.x[below + node]), down);
      nodes_y_[node] = between(phases_of(grid_.y[above + node]), phases_of(grid_.y[below + node]), down);
    }
    for (size_t column = 0; column < x.size(); column++) {
      const uint32_t node = node_[column];
      const float share = share_[column];
      x[column] = static_cast<int32_t>(std::lrint(between(nodes_x_[node], nodes_x_[node + 1], share)));
      y[column] = static_cast<int32_t>(std::lrint(between(nodes_y_[node], nodes_y_[node + 1], share)));
    }
  }

  std::vector<int32_t> x;
  std::vector<int32_t> y;

 private:
  const DisplacementGrid& grid_;
  /** For each column: the node to its left, and the fractional position towards the next one. */
  std::vector<uint32_t> node_;
  std::vector<float> share_;
  std::vector<float> nodes_x_;
  std::vector<float> nodes_y_;
};

/** Weighted sum of four lines of four pixels. */
inline uint8_t light_of(const std::array<Four, 4>& lines, const Weights& by_x,
                        const Weights& by_y) {
  const Four columns = by_y[0] * lines[0] + by_y[1] * lines[1] + by_y[2] * lines[2] + by_y[3] * lines[3];
  const Four weighed = four_of(by_x) * columns;
  const auto light = static_cast<int32_t>(std::lrint((weighed[0] + weighed[2]) + (weighed[1] + weighed[3])));
  return static_cast<uint8_t>(std::min(std::max(light, 0), 255));
}

/** Used if some of the four pixels of a direction are beyond the border. */
uint8_t light_at_border(const Plane& plane, int32_t left, int32_t top, const Weights& by_x,
                        const Weights& by_y) {
  std::array<Four, 4> lines;
  for (int32_t row = 0; row < 4; row++) {
    const uint8_t* line = plane.pixels + ptrdiff_t{mirrored(top + row, plane.height)} * plane.width;
    std::array<uint8_t, 4> pixels;
    for (int32_t column = 0; column < 4; column++) pixels[column] = line[mirrored(left + column, plane.width)];
    lines[row] = four_at(pixels.data());
  }
  return light_of(lines, by_x, by_y);
}

void cubic_row(const Plane& plane, const RowDisplacements& by, int32_t row, uint8_t* into) {
  for (int32_t column = 0; column < plane.width; column++) {
    const int32_t x = column * kPhases + by.x[column];
    const int32_t y = row * kPhases + by.y[column];
    const int32_t left = (x >> kPhaseBits) - 1;
    const int32_t top = (y >> kPhaseBits) - 1;
    const auto& by_x = kCubic[x & (kPhases - 1)];
    const auto& by_y = kCubic[y & (kPhases - 1)];
    if (left < 0 || top < 0 || left + 3 >= plane.width || top + 3 >= plane.height) {
      into[column] = light_at_border(plane, left, top, by_x, by_y);
      continue;
    }
    const uint8_t* line = plane.pixels + ptrdiff_t{top} * plane.width + left;
    const auto next = ptrdiff_t{plane.width};
    into[column] =
        light_of({four_at(line), four_at(line + next), four_at(line + 2 * next), four_at(line + 3 * next)}, by_x, by_y);
  }
}

/**
 * A row of a chroma plane. Its displacements are those of the luma pixel at its top left, half a pixel off, which is
 * negligible.
 */
void linear_row(const Plane& plane, const RowDisplacements& by, int32_t row, uint8_t* into) {
  for (int32_t column = 0; column < plane.width; column++) {
    const int32_t x = column * kPhases + (by.x[2 * column] >> 1);
    const int32_t y = row * kPhases + (by.y[2 * column] >> 1);
    const int32_t left = mirrored(x >> kPhaseBits, plane.width);
    const int32_t right = mirrored((x >> kPhaseBits) + 1, plane.width);
    const uint8_t* above = plane.pixels + ptrdiff_t{mirrored(y >> kPhaseBits, plane.height)} * plane.width;
    const uint8_t* below = plane.pixels + ptrdiff_t{mirrored((y >> kPhaseBits) + 1, plane.height)} * plane.width;
    const int32_t right_share = x & (kPhases - 1);
    const int32_t below_share = y & (kPhases - 1);
    const int32_t upper = above[left] * (kPhases - right_share) + above[right] * right_share;
    const int32_t lower = below[left] * (kPhases - right_share) + below[right] * right_share;
    into[column] = static_cast<uint8_t>((upper * (kPhases - below_share) + lower * below_share + 2048) >> 12);
  }
}

}  // namespace

void warp_i420(std::span<const uint8_t> from, uint32_t width, uint32_t height, const DisplacementGrid& back,
               std::span<uint8_t> into) {
  const size_t light_bytes = size_t{width} * height;
  const size_t colour_bytes = light_bytes / 4;
  const int32_t half_width = static_cast<int32_t>(width / 2);
  const int32_t half_height = static_cast<int32_t>(height / 2);
  const Plane light{from.data(), static_cast<int32_t>(width), static_cast<int32_t>(height)};
  RowDisplacements by(back, width);
  for (uint32_t row = 0; row < height; row++) {
    by.take(row);
    cubic_row(light, by, static_cast<int32_t>(row), into.data() + size_t{row} * width);
    if (row % 2 == 1) continue;
    for (size_t start : {light_bytes, light_bytes + colour_bytes}) {
      const Plane colour{from.data() + start, half_width, half_height};
      uint8_t* line = into.data() + start + size_t{row / 2} * half_width;
      linear_row(colour, by, static_cast<int32_t>(row / 2), line);
    }
  }
}

}  // namespace voice
