import { writeFile } from 'node:fs/promises';
import { FF_ENCODER_LIBWEBP, FFmpegError, type Frame, Packet, Rational } from 'node-av';
import { encoderNamed } from '../encode/track-encoder.ts';
import { UnusableClipError } from '../process/clip-protocol.ts';
import { clipFrames } from './clip-frames.ts';
import { viewOf } from './clip-picture.ts';
import { openClip, type VideoTrack } from './open-clip.ts';
import { PictureShaper } from './picture-shaper.ts';

/** Maximum length of the longer side of a thumbnail, in pixels. */
const MAX_SIDE = 640;

/**
 * Writes the first displayed frame as WebP; its longer side has at max 640 pixels.
 * @throws UnusableClipError.
 */
export async function writeThumbnail(path: string, to: string): Promise<void> {
  const clip = await openClip(path);
  try {
    const first = await firstFrame(clip.video);
    try {
      await writeFile(to, await webpOf(clip.video, first));
    } finally {
      first.free();
    }
  } finally {
    await clip.close();
  }
}

async function firstFrame(video: VideoTrack): Promise<Frame> {
  const firstS = video.packets.startsS[0] ?? 0;
  for await (const { frame, timeS } of clipFrames(video, firstS)) {
    if (timeS >= firstS) return frame;
    frame.free();
  }
  throw new UnusableClipError({ kind: 'broken', track: 'video', codec: video.codec });
}

async function webpOf(video: VideoTrack, frame: Frame): Promise<Buffer> {
  const view = await viewOf(video, frame);
  const scale = Math.min(1, MAX_SIDE / Math.max(view.width, view.height));
  const even = (side: number) => Math.max(2, Math.round((side * scale) / 2) * 2);
  const shaper = new PictureShaper({ ...view, width: even(view.width), height: even(view.height) });
  try {
    const picture = await shaper.shape(frame);
    return await encodeWebp(picture).finally(() => picture.free());
  } finally {
    shaper.close();
  }
}

async function encodeWebp(picture: Frame): Promise<Buffer> {
  const context = encoderNamed(FF_ENCODER_LIBWEBP);
  const packet = new Packet();
  packet.alloc();
  try {
    context.width = picture.width;
    context.height = picture.height;
    context.pixelFormat = picture.format as typeof context.pixelFormat;
    context.timeBase = new Rational(1, 1);
    FFmpegError.throwIfError(await context.open2(), 'open2');
    FFmpegError.throwIfError(await context.sendFrame(picture), 'sendFrame');
    FFmpegError.throwIfError(await context.sendFrame(null), 'sendFrame');
    FFmpegError.throwIfError(await context.receivePacket(packet), 'receivePacket');
    return Buffer.from(packet.data ?? []);
  } finally {
    packet.free();
    context.freeContext();
  }
}
