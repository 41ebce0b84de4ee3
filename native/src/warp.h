#pragma once

#include <cstdint>
#include <span>

namespace voice {

/** Maximum side of a picture in pixels. */
inline constexpr uint32_t kMaxSide = 16'384;

/** Displacements at the nodes of a regular grid over a picture, in pixels, row by row. */
struct DisplacementGrid {
  /** Number of nodes, at least two in each direction. */
  uint32_t columns;
  uint32_t rows;
  /** Position of the first node in both directions, and distance between nodes. */
  double origin;
  double step;
  std::span<const float> x;
  std::span<const float> y;
};

/**
 * Warps an I420 picture (8-bit planes: Y, then U and V with half the sides, which are even): each pixel is taken from
 * `from` at its position plus the displacement, in steps of 1/64 pixel. Displacements are bilinear between nodes and
 * constant beyond the outer ones. The picture is mirrored beyond its borders. Luma is interpolated with Catmull-Rom
 * cubics, which pass through the pixels and blur less than linear interpolation; chroma is interpolated linearly.
 */
void warp_i420(std::span<const uint8_t> from, uint32_t width, uint32_t height, const DisplacementGrid& back,
               std::span<uint8_t> into);

}  // namespace voice
