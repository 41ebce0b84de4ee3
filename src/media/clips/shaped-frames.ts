import { type ClipColour, type I420, pixelsOf } from '../encode/picture.ts';
import { clipFrames } from './clip-frames.ts';
import { viewOf } from './clip-picture.ts';
import type { VideoTrack } from './open-clip.ts';
import { PictureShaper } from './picture-shaper.ts';

/** A frame of a clip, rotated and scaled to the requested size. */
export interface ShapedFrame {
  /** Presentation time in seconds from the start of the clip. */
  readonly timeS: number;
  readonly pixels: I420;
  readonly colour: ClipColour;
}

/**
 * Yields the frames of a clip from a time on, in presentation order.
 * @param size in pixels, even; pictures are stretched to it.
 * @throws UnusableClipError as {@link clipFrames}.
 */
export async function* shapedFrames(
  video: VideoTrack,
  fromS: number,
  size: { readonly width: number; readonly height: number },
): AsyncGenerator<ShapedFrame, void, undefined> {
  let shaper: PictureShaper | undefined;
  try {
    for await (const { frame, timeS } of clipFrames(video, fromS)) {
      try {
        if (timeS < fromS) continue;
        shaper ??= new PictureShaper({
          ...(await viewOf(video, frame)),
          width: size.width,
          height: size.height,
        });
        const pixels = pixelsOf(await shaper.shape(frame));
        const { colorPrimaries: primaries, colorTrc: transfer, colorSpace: matrix } = frame;
        yield { timeS, pixels, colour: { primaries, transfer, matrix } };
      } finally {
        frame.free();
      }
    }
  } finally {
    shaper?.close();
  }
}
