import { describe, expect, it, test } from 'vitest';
import type { ClipFacts } from '../../../src/contract/engines/video.ts';
import { clipFacts } from '../../../test/contract/video-store.cases.ts';
import { videoTokens } from '../tokens.ts';
import { CLIP_BYTES, clipError, segmentSize } from './clip-rules.ts';
import { windowOf } from './model-windows.ts';

const MODELS = ['vid-2.0-mini', 'vid-2.0-fast', 'vid-2.0', 'vid-2.5', 'one-of-config'] as const;
type Model = (typeof MODELS)[number];

const errorOf = (facts: Partial<ClipFacts>, model: Model = 'vid-2.0') =>
  clipError(clipFacts(facts), model, windowOf(model));
const sized = (width: number, height: number) => ({ width, height });

describe('a valid clip', () => {
  test.each(MODELS)('for %s may have any value within the limits, which are inclusive', (model) => {
    const longest = model === 'vid-2.5' ? 30 : 15;
    for (const facts of [
      {},
      { container: 'mov', videoCodec: 'hevc', audio: undefined },
      { audio: { codec: 'mp3', rateHz: 44_100, channels: 1, durationS: 4 } },
      { durationS: 2 },
      { durationS: longest },
      { fps: 60 },
      { fps: 24_000 / 1001 },
      { fps: 60_000 / 1001 },
      { lengthBytes: CLIP_BYTES },
      sized(300, 300),
      sized(300, 6000),
      sized(720, 1280),
    ]) {
      expect(errorOf(facts, model), JSON.stringify(facts)).toBeUndefined();
    }
  });

  it('may be one frame too long or too short', () => {
    expect(errorOf({ durationS: 15 + 1 / 24 })).toBeUndefined();
    expect(errorOf({ durationS: 2 - 1 / 24 })).toBeUndefined();
  });
});

describe('an invalid clip is described with the actual and the allowed value', () => {
  test.each<[Partial<ClipFacts>, string]>([
    [{ container: 'webm' }, 'is webm; it must be MP4 or QuickTime'],
    [{ videoCodec: 'vp9' }, 'has vp9 video; it must be H.264 or H.265'],
    [
      { audio: { codec: 'opus', rateHz: 48_000, channels: 2, durationS: 4 } },
      'has opus audio; it must be AAC, MP3 or none',
    ],
    [sized(299, 720), 'is 299x720; each side must have 300 to 6000 pixels'],
    [sized(6001, 720), 'is 6001x720; each side must have 300 to 6000 pixels'],
    [{ fps: 23.9 }, 'has 23.9 fps; it must have 24 to 60 fps'],
    [{ fps: 61 }, 'has 61 fps; it must have 24 to 60 fps'],
    [{ fps: Number.NaN }, 'has NaN fps; it must have 24 to 60 fps'],
    [{ durationS: 1.9 }, "is 1.9 s long; 'vid-2.0' supports clips of 2 to 15 s"],
    [{ durationS: 15.1 }, "is 15.1 s long; 'vid-2.0' supports clips of 2 to 15 s"],
    [{ lengthBytes: CLIP_BYTES + 1 }, 'has 209715201 bytes; at most 209715200 are allowed'],
  ])('%j', (facts, fault) => expect(errorOf(facts)).toBe(fault));

  test('longer than the limit of the model', () => {
    expect(errorOf({ durationS: 16 }, 'vid-2.0-mini')).toContain('2 to 15 s');
    expect(errorOf({ durationS: 16 }, 'vid-2.5')).toBeUndefined();
    expect(errorOf({ durationS: 30.5 }, 'vid-2.5')).toContain('2 to 30 s');
  });

  test.each<[Model, number, boolean]>([
    ...(['vid-2.0-mini', 'vid-2.0-fast'] as const).flatMap((model): [Model, number, boolean][] => [
      [model, 720, true],
      [model, 721, false],
    ]),
    ['vid-2.0', 1080, true],
    ['vid-2.0', 2160, true],
    ['vid-2.5', 1080, true],
    ['vid-2.5', 1081, false],
  ])('%s, of %dp: supported is %s, in both orientations', (model, short, isSupported) => {
    for (const size of [sized(short, 2 * short), sized(2 * short, short)]) {
      expect(errorOf(size, model) === undefined).toBe(isSupported);
    }
  });
});

describe('a segment', () => {
  test.each<[Model, [number, number], [number, number]]>([
    ['vid-2.0', [1280, 720], [1280, 720]],
    ['vid-2.0', [1920, 1080], [1920, 1080]],
    ['vid-2.0', [3840, 2160], [1920, 1080]],
    ['vid-2.0', [2160, 3840], [1080, 1920]],
    ['vid-2.0', [2048, 1152], [1920, 1080]],
    ['vid-2.0-mini', [641, 361], [640, 360]],
    ['vid-2.5', [300, 533], [300, 532]],
    ['vid-2.0', [1441, 1441], [1080, 1080]],
  ])('of %s for a clip of %j has the size %j', (model, [width, height], size) => {
    expect(Object.values(segmentSize({ width, height }, windowOf(model)))).toEqual(size);
  });

  test('has even sides, the aspect ratio of its clip and respects the ceiling, for every supported clip', () => {
    for (const model of MODELS) {
      for (let width = 300; width <= 6000; width += 97) {
        for (let height = 301; height <= 6000; height += 89) {
          if (errorOf(sized(width, height), model) !== undefined) continue;
          const window = windowOf(model);
          const size = segmentSize({ width, height }, window);
          expect([size.width % 2, size.height % 2]).toEqual([0, 0]);
          expect(Math.min(size.width, size.height)).toBeLessThanOrEqual(window.ceiling);
          // The tolerance is two pixels on the shorter side.
          const tolerance = (3 / Math.min(size.width, size.height)) * (width / height);
          expect(Math.abs(size.width / size.height - width / height)).toBeLessThan(tolerance);
        }
      }
    }
  });

  test('is billed together with its clip, by pixels and time', () => {
    const hd = { width: 1280, height: 720 };
    expect(videoTokens({ durationS: 5 }, { ...hd, seconds: 10 })).toEqual({
      inputTokens: 108_000,
      outputTokens: 216_000,
    });
    expect(videoTokens({ durationS: 0.001 }, { width: 300, height: 300, seconds: 0 })).toEqual({
      inputTokens: 3,
      outputTokens: 0,
    });
  });
});
