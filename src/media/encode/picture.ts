import {
  AV_PIX_FMT_YUV420P,
  AVCOL_RANGE_MPEG,
  type AVColorPrimaries,
  type AVColorSpace,
  type AVColorTransferCharacteristic,
  Frame,
} from 'node-av';

/**
 * A picture in 4:2:0 with 8 bits: the planes Y, U and V one after the other, without padding, Y from 16 to 235, U and V
 * from 16 to 240, sides even. Upright, in square pixels.
 */
export type I420 = Uint8Array<ArrayBuffer>;

/** What the numbers of a picture mean, by the code points of ITU-T H.273; 2 where the clip does not say. */
export interface ClipColour {
  readonly primaries: AVColorPrimaries;
  readonly transfer: AVColorTransferCharacteristic;
  readonly matrix: AVColorSpace;
}

export function i420Bytes(width: number, height: number): number {
  return (width * height * 3) / 2;
}

/** A copy of a picture as FFmpeg takes it, to be freed. */
export function frameOf(pixels: I420, width: number, height: number, colour: ClipColour): Frame {
  const bytes = Buffer.from(pixels.buffer, pixels.byteOffset, pixels.byteLength);
  const frame = Frame.fromVideoBuffer(bytes, { width, height, format: AV_PIX_FMT_YUV420P });
  frame.colorRange = AVCOL_RANGE_MPEG;
  frame.colorPrimaries = colour.primaries;
  frame.colorTrc = colour.transfer;
  frame.colorSpace = colour.matrix;
  return frame;
}

/** The pixels of a frame in 4:2:0 with 8 bits, which is freed. */
export function pixelsOf(frame: Frame): I420 {
  try {
    return new Uint8Array(frame.toBuffer());
  } finally {
    frame.free();
  }
}
