/** Validates clips and computes the size of their segments (spec 4.6, rules 1 and 2; spec 8). */

import type { ClipFacts } from '../../../src/contract/engines/video.ts';
import type { ModelLimits } from '../../../src/contract/plugin.ts';
import type { ModelWindow, SecondsRange } from './model-windows.ts';

/** Maximum size of a clip: 200 MB. */
export const CLIP_BYTES = 200 * 1024 * 1024;

const CONTAINERS = ['mp4', 'mov'];
const VIDEO_CODECS = ['avc', 'hevc'];
const AUDIO_CODECS = ['aac', 'mp3'];
const FPS = { minimum: 24, maximum: 60 };
const SIDES = { minimum: 300, maximum: 6000 };

/**
 * The reason why a model cannot extend a clip, with the actual and the allowed value; follows "'video' …". Undefined if
 * the clip is valid. Frame rates are rounded to a tenth, so that 23.976 fps is 24; durations have a tolerance of one
 * frame, as cutting tools produce.
 */
export function clipError(clip: ClipFacts, model: string, window: ModelWindow): string | undefined {
  const { container, videoCodec, audio, width, height, durationS, lengthBytes } = clip;
  const sides = [width, height];
  const short = Math.min(...sides);
  const fps = tenths(clip.fps);
  const frameS = 1 / clip.fps;
  if (lengthBytes > CLIP_BYTES) return `has ${lengthBytes} bytes; at most ${CLIP_BYTES} are allowed`;
  if (!CONTAINERS.includes(container)) return `is ${container}; it must be MP4 or QuickTime`;
  if (!VIDEO_CODECS.includes(videoCodec)) return `has ${videoCodec} video; it must be H.264 or H.265`;
  if (audio !== undefined && !AUDIO_CODECS.includes(audio.codec)) {
    return `has ${audio.codec} audio; it must be AAC, MP3 or none`;
  }
  if (sides.some((side) => side < SIDES.minimum || side > SIDES.maximum)) {
    return `is ${width}x${height}; each side must have ${SIDES.minimum} to ${SIDES.maximum} pixels`;
  }
  if (window.maxClip !== undefined && short > window.maxClip) {
    return `is ${width}x${height}; '${model}' supports clips of at most ${window.maxClip}p (shorter side)`;
  }
  if (!(fps >= FPS.minimum && fps <= FPS.maximum)) {
    return `has ${fps} fps; it must have ${FPS.minimum} to ${FPS.maximum} fps`;
  }
  if (durationS < window.clipS.minimum - frameS || durationS > window.clipS.maximum + frameS) {
    return `is ${tenths(durationS)} s long; '${model}' supports clips of ${formatRange(window.clipS)}`;
  }
  return undefined;
}

/** The numeric limits of clips and segments, as returned by GET /v1/models. */
export function limitsOf({ segmentS, clipS, maxClip }: ModelWindow): ModelLimits {
  return {
    seconds: segmentS,
    clip_seconds: clipS,
    clip_sides: SIDES,
    clip_short_side: { ...SIDES, ...(maxClip !== undefined && { maximum: maxClip }) },
    clip_bytes: { maximum: CLIP_BYTES },
  };
}

/**
 * The size of a segment: that of the clip, scaled down to the ceiling of the model, with its aspect ratio and even sides.
 */
export function segmentSize(
  { width, height }: Pick<ClipFacts, 'width' | 'height'>,
  { ceiling }: ModelWindow,
): { readonly width: number; readonly height: number } {
  const scale = Math.min(1, ceiling / Math.min(width, height));
  const even = (side: number) => 2 * Math.floor((side * scale) / 2 + 1e-9);
  return { width: even(width), height: even(height) };
}

/** Formats a range for messages. */
export function formatRange({ minimum, maximum }: SecondsRange): string {
  return `${minimum} to ${maximum} s`;
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
