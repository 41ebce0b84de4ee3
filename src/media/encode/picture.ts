import {
  AV_PIX_FMT_YUV420P,
  AVCOL_RANGE_MPEG,
  type AVColorPrimaries,
  type AVColorSpace,
  type AVColorTransferCharacteristic,
  Frame,
} from 'node-av';

/**
 * An 8-bit 4:2:0 picture: planes Y, U and V in sequence without padding, Y from 16 to 235, U and V from 16 to
 * 240, even sides. Upright, square pixels.
 */
export type I420 = Uint8Array<ArrayBuffer>;

/** Colour properties as code points of ITU-T H.273; 2 if unspecified. */
export interface ClipColour {
  readonly primaries: AVColorPrimaries;
  readonly transfer: AVColorTransferCharacteristic;
  readonly matrix: AVColorSpace;
}

export function i420Bytes(width: number, height: number): number {
  return (width * height * 3) / 2;
}

/** Copies a picture to an FFmpeg frame, which the caller must free. */
export function frameOf(pixels: I420, width: number, height: number, colour: ClipColour): Frame {
  const bytes = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength);
  const frame = Frame.fromVideoBuffer(bytes, { width, height, format: AV_PIX_FMT_YUV420P });
  frame.colorRange = AVCOL_RANGE_MPEG;
  frame.colorPrimaries = colour.primaries;
  frame.colorTrc = colour.transfer;
  frame.colorSpace = colour.matrix;
  return frame;
}

/** Returns the pixels of an 8-bit 4:2:0 frame and frees the frame. */
export function pixelsOf(frame: Frame): I420 {
  try {
    return new Uint8Array(frame.toBuffer());
  } finally {
    frame.free();
  }
}
