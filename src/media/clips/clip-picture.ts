import type { Frame } from 'node-av';
import type { VideoTrack } from './open-clip.ts';
import type { PictureShape } from './picture-shaper.ts';

/** How a clip is meant to be seen. */
export interface ClipView extends Pick<PictureShape, 'rotation' | 'mirrored'> {
  /** Upright, in square pixels. */
  readonly width: number;
  readonly height: number;
}

/**
 * How a decoded frame is meant to be seen: its size is the decoder's word; the shape of its pixels is the container's
 * where it has one, else the decoder's; which way is up is the container's.
 */
export async function viewOf({ track }: VideoTrack, frame: Frame): Promise<ClipView> {
  const rotation = await track.getRotation();
  const { num, den } = await pixelAspect(track, frame);
  const stretched =
    num > den
      ? { width: Math.round((frame.width * num) / den), height: frame.height }
      : { width: frame.width, height: Math.round((frame.height * den) / num) };
  const upright = rotation % 180 === 0;
  return {
    rotation,
    mirrored: await track.getFlip(),
    width: upright ? stretched.width : stretched.height,
    height: upright ? stretched.height : stretched.width,
  };
}

async function pixelAspect(
  track: VideoTrack['track'],
  frame: Frame,
): Promise<{ readonly num: number; readonly den: number }> {
  const told = await track.getPixelAspectRatio();
  if (told.num !== told.den && told.num > 0 && told.den > 0) return told;
  const { num, den } = frame.sampleAspectRatio;
  return num > 0 && den > 0 ? { num, den } : { num: 1, den: 1 };
}
