#pragma once

#include <cstdint>
#include <span>

namespace voice {

/** Longest side of a picture that is warped, in pixels. */
inline constexpr uint32_t kMaxSide = 16'384;

/** Displacements at the nodes of a regular grid that lies over a picture, in pixels of it, row after row. */
struct DisplacementGrid {
  /** Nodes, at least two in each direction. */
  uint32_t columns;
  uint32_t rows;
  /** Where the first node is, in both directions, and how far apart nodes are. */
  double origin;
  double step;
  std::span<const float> x;
  std::span<const float> y;
};

/**
 * Makes a picture in I420 (planes of 8 bits: Y, then U and V of half the sides, which are even): each pixel is what
 * `from` has at its own place plus the displacement there, in steps of 1/64 pixel. Between nodes displacements are
 * bilinear, beyond the outer ones constant. Beyond the border the picture is mirrored. Light is interpolated by
 * Catmull-Rom's cubics, which pass through the pixels and blur less than straight lines, colour linearly.
 */
void warp_i420(std::span<const uint8_t> from, uint32_t width, uint32_t height, const DisplacementGrid& back,
               std::span<uint8_t> into);

}  // namespace voice
