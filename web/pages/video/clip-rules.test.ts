import { describe, expect, test } from 'vitest';
import { CLIP_BYTES, clipFault } from '../../../plugins/video/clip-rules.ts';
import { windowOf as servedWindow } from '../../../plugins/video/model-windows.ts';
import type { ClipFacts } from '../../../src/contract/video.ts';
import { clipHint, type LocalClip, windowOf } from './clip-rules.ts';

const MODELS = ['vid-2.0-mini', 'vid-2.0-fast', 'vid-2.0', 'vid-2.5', 'some-upstream'];

test.each(MODELS)('the window of %s is that of the service', (model) => {
  const { segmentS, clipS, mostClip } = servedWindow(model);
  expect(windowOf(model)).toEqual({ segmentS, clipS, mostClip });
});

/** What the service says of a clip with these facts and nothing else wrong. */
function refused({ bytes, picture }: Required<LocalClip>, model: string): boolean {
  const { width, height, seconds } = picture;
  const facts = { container: 'mp4', videoCodec: 'avc', audio: undefined, fps: 24 } as unknown as ClipFacts;
  const clip = { ...facts, width, height, durationS: seconds, lengthBytes: bytes };
  return clipFault(clip, model, servedWindow(model)) !== undefined;
}

describe('what is hinted at is what the service refuses', () => {
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
    const hinted = MODELS.map((model) => clipHint(each, model) !== undefined);
    expect(hinted).toEqual(MODELS.map((model) => refused(each, model)));
  });
});

test('what the browser cannot read is not judged but by its length', () => {
  expect(clipHint({ bytes: 1000 }, 'vid-2.0')).toBeUndefined();
  expect(clipHint({ bytes: CLIP_BYTES + 1 }, 'vid-2.0')).toMatch(/at most 209715200/);
});
