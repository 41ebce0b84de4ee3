import type { Frame } from 'node-av';
import type { VideoTrack } from './open-clip.ts';
import type { PictureShape } from './picture-shaper.ts';

/** Display properties of a clip. */
export interface ClipView extends Pick<PictureShape, 'rotation' | 'mirrored'> {
  /** After rotation, in square pixels. */
  readonly width: number;
  readonly height: number;
}

/**
 * Display properties of a decoded frame. The size is the decoder's; the pixel aspect ratio is the container's
 * if it has one, otherwise the decoder's; the rotation is the container's.
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
