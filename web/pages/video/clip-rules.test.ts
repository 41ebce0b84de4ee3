import { describe, expect, test } from 'vitest';
import { CLIP_BYTES, clipError, limitsOf } from '../../../plugins/video/clips/clip-rules.ts';
import { windowOf } from '../../../plugins/video/clips/model-windows.ts';
import type { ClipFacts } from '../../../src/contract/engines/video.ts';
import { clipHint, formatRange, type LocalClip } from './clip-rules.ts';

const MODELS = ['vid-2.0-mini', 'vid-2.0-fast', 'vid-2.0', 'vid-2.5', 'some-upstream'];

/** A model as returned by GET /v1/models. */
const served = (id: string) => ({ id, limits: limitsOf(windowOf(id)) });

/** Whether the service rejects a clip with these properties. */
function error({ bytes, picture }: Required<LocalClip>, model: string): boolean {
  const { width, height, seconds } = picture;
  const facts = { container: 'mp4', videoCodec: 'avc', audio: undefined, fps: 24 } as unknown as ClipFacts;
  const clip = { ...facts, width, height, durationS: seconds, lengthBytes: bytes };
  return clipError(clip, model, windowOf(model)) !== undefined;
}

describe('hints match the validation of the service', () => {
  const clip = (width: number, height: number, seconds: number, bytes = 1000) => ({
    bytes,
    picture: { width, height, seconds },
  });
  const clips: [string, Required<LocalClip>][] = [
    ['a fine clip', clip(640, 360, 5)],
    ['a large file', clip(640, 360, 5, CLIP_BYTES)],
    ['a file that is too large', clip(640, 360, 5, CLIP_BYTES + 1)],
    ['a small picture', clip(300, 300, 5)],
    ['a picture that is too small', clip(640, 299, 5)],
    ['a wide picture', clip(6000, 400, 5)],
    ['a picture that is too wide', clip(6001, 400, 5)],
    ['1080p', clip(1920, 1080, 5)],
    ['upright 1080p', clip(1080, 1920, 5)],
    ['4K', clip(3840, 2160, 5)],
    ['a frame less than two seconds', clip(640, 360, 1.96)],
    ['one second', clip(640, 360, 1)],
    ['a frame more than 15 seconds', clip(640, 360, 15.04)],
    ['20 seconds', clip(640, 360, 20)],
    ['half a minute', clip(640, 360, 30)],
    ['a minute', clip(640, 360, 60)],
  ];
  test.each(clips)('%s', (_, each) => {
    const hinted = MODELS.map((model) => clipHint(each, served(model)) !== undefined);
    expect(hinted).toEqual(MODELS.map((model) => error(each, model)));
  });
});

test('a clip that the browser cannot decode is checked only for its size', () => {
  expect(clipHint({ bytes: 1000 }, served('vid-2.0'))).toBeUndefined();
  expect(clipHint({ bytes: CLIP_BYTES + 1 }, served('vid-2.0'))).toMatch(/at most 209715200/);
  const endless = { bytes: 1000, picture: { width: 640, height: 360, seconds: Infinity } };
  expect(clipHint(endless, served('vid-2.0'))).toBeUndefined();
});

test('models without limits have no hints', () => {
  expect(
    clipHint({ bytes: 1e12, picture: { width: 1, height: 1, seconds: 1e6 } }, { id: 'm' }),
  ).toBeUndefined();
});

test.each([
  [{ minimum: 2, maximum: 15 }, '2 to 15'],
  [{ maximum: 9 }, 'at most 9'],
  [{ minimum: 2 }, 'at least 2'],
])('formats the range %j', (range, words) => {
  expect(formatRange(range)).toBe(words);
});
