import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repetitions } from '../../../../test/harness/tier.ts';
import type { VadEvent, VadSettings } from '../../../contract/engines/engine.ts';
import { advanceVad, type Frame, INITIAL_VAD_STATE, type VadState } from './vad-machine.ts';

const FRAME_SAMPLES = 512;
const SETTINGS: VadSettings = {
  threshold: 0.5,
  prefixPaddingMs: 300,
  silenceDurationMs: 96,
  minSpeechDurationMs: 64,
};
const LOUD = 1e-2;
const SILENT = 0;
const SURE = 0.9;
const UNSURE = 0.4;
const NONE = 0.1;

const frame = (probability: number, energy: number | readonly number[]): Frame => ({
  probability,
  energies: typeof energy === 'number' ? [energy, energy, energy, energy] : energy,
});

/** Runs frames through the machine and returns the events, each with the index of its frame, and the final state. */
function run(
  frames: readonly Frame[],
  settings: Partial<VadSettings> = {},
  from: VadState = INITIAL_VAD_STATE,
) {
  let state = from;
  const events: (VadEvent & { frame: number })[] = [];
  for (const [index, each] of frames.entries()) {
    const step = advanceVad(state, each, { ...SETTINGS, ...settings });
    state = step.state;
    events.push(...step.events.map((event) => ({ ...event, frame: index })));
  }
  return { state, events };
}

const frames = (count: number, probability: number, energy: number | readonly number[]) =>
  Array.from({ length: count }, () => frame(probability, energy));
const kinds = (events: readonly VadEvent[]) => events.map(({ kind }) => kind);

const before = {
  silence: frames(20, NONE, SILENT),
  candidate: [...frames(20, NONE, SILENT), frame(SURE, LOUD)],
  speech: [...frames(20, NONE, SILENT), ...frames(5, SURE, LOUD)],
  pause: [...frames(20, NONE, SILENT), ...frames(5, SURE, LOUD), frame(NONE, SILENT)],
};

describe('transitions', () => {
  const cells: [keyof typeof before, string, Frame, VadState['kind'], VadEvent['kind'][]][] = [
    ['silence', 'speech', frame(SURE, LOUD), 'candidate', []],
    ['silence', 'undecided', frame(UNSURE, LOUD), 'silence', []],
    ['silence', 'silence', frame(NONE, LOUD), 'silence', []],
    ['candidate', 'speech', frame(SURE, LOUD), 'speech', ['started']],
    ['candidate', 'undecided', frame(UNSURE, LOUD), 'speech', ['started']],
    ['candidate', 'undecided, too short', frame(UNSURE, SILENT), 'candidate', []],
    ['candidate', 'silence', frame(NONE, LOUD), 'silence', []],
    ['speech', 'speech', frame(SURE, LOUD), 'speech', []],
    ['speech', 'undecided', frame(UNSURE, LOUD), 'speech', []],
    ['speech', 'silence', frame(NONE, SILENT), 'pause', ['paused']],
    ['pause', 'speech', frame(SURE, LOUD), 'speech', ['resumed']],
    ['pause', 'undecided, too short', frame(UNSURE, SILENT), 'pause', []],
    ['pause', 'silence, too short', frame(NONE, SILENT), 'pause', []],
  ];
  it.each(cells)('%s, %s', (kind, _, each, after, events) => {
    const { state } = run(before[kind]);
    expect(state.kind).toBe(kind);
    const step = advanceVad(state, each, SETTINGS);
    expect([step.state.kind, kinds(step.events)]).toEqual([after, events]);
  });

  it.each([
    ['undecided', UNSURE],
    ['silence', NONE],
  ])('pause, %s, long enough', (_, probability) => {
    const { state } = run([...before.pause, frame(probability, SILENT)]);
    const step = advanceVad(state, frame(probability, SILENT), SETTINGS);
    expect([step.state.kind, kinds(step.events)]).toEqual(['silence', ['stopped']]);
  });

  it('silence, speech: starts a turn immediately without a minimum duration', () => {
    const step = advanceVad(run(before.silence).state, frame(SURE, LOUD), {
      ...SETTINGS,
      minSpeechDurationMs: 0,
    });
    expect([step.state.kind, kinds(step.events)]).toEqual(['speech', ['started']]);
  });

  it('speech, silence: stops immediately with a silence duration of 0', () => {
    const step = advanceVad(run(before.speech).state, frame(NONE, SILENT), {
      ...SETTINGS,
      silenceDurationMs: 0,
    });
    expect([step.state.kind, kinds(step.events)]).toEqual(['silence', ['paused', 'stopped']]);
  });
});

describe('start of a turn', () => {
  const onsetOf = (input: readonly Frame[], settings: Partial<VadSettings> = {}) =>
    run(input, settings).events.find((event) => event.kind === 'started');

  it('is the block in which the sound rises', () => {
    const started = onsetOf([
      ...frames(20, NONE, SILENT),
      frame(SURE, [0, 0, LOUD, LOUD]),
      ...frames(4, SURE, LOUD),
    ]);
    expect(started).toMatchObject({ onsetSample: 20 * FRAME_SAMPLES + 256 });
  });

  it('is before the first frame of speech when a softer sound precedes it', () => {
    const started = onsetOf([
      ...frames(20, NONE, SILENT),
      ...frames(3, UNSURE, LOUD / 100),
      ...frames(4, SURE, LOUD),
    ]);
    expect(started).toMatchObject({ onsetSample: 20 * FRAME_SAMPLES });
  });

  it('includes a sound before the closure of a plosive, but not before a longer silence', () => {
    const stop = (closure: number) => [
      ...frames(20, NONE, SILENT),
      frame(NONE, LOUD / 10),
      ...frames(closure, NONE, SILENT),
      ...frames(4, SURE, LOUD),
    ];
    expect(onsetOf(stop(2))).toMatchObject({ onsetSample: 20 * FRAME_SAMPLES });
    expect(onsetOf(stop(3))).toMatchObject({ onsetSample: 24 * FRAME_SAMPLES });
  });

  it('ignores steady noise', () => {
    const noise = LOUD / 100;
    const started = onsetOf([...frames(20, NONE, noise), ...frames(4, SURE, [noise, LOUD, LOUD, LOUD])]);
    expect(started).toMatchObject({ onsetSample: 20 * FRAME_SAMPLES + 128 });
  });

  it('has a prefix that does not extend before the stream or into the previous turn', () => {
    const turn = [...frames(4, SURE, LOUD), ...frames(5, NONE, SILENT)];
    expect(onsetOf([...frames(20, NONE, SILENT), ...turn], { prefixPaddingMs: 100 })).toMatchObject({
      startSample: 20 * FRAME_SAMPLES - 1600,
    });
    expect(onsetOf([frame(NONE, SILENT), ...turn])).toMatchObject({ startSample: 0 });
    const second = run([...turn, ...turn]).events.filter((event) => event.kind === 'started')[1];
    expect(second).toMatchObject({ onsetSample: 9 * FRAME_SAMPLES, startSample: 4 * FRAME_SAMPLES });
  });

  it('is retained when the minimum duration exceeds the length of the envelope', () => {
    const started = onsetOf([...frames(20, NONE, SILENT), ...frames(100, SURE, LOUD)], {
      minSpeechDurationMs: 2000,
    });
    expect(started).toMatchObject({ onsetSample: 20 * FRAME_SAMPLES, frame: 20 + 62 });
  });
});

describe('minimum duration of a turn', () => {
  it('counts the sound, not the frames that the model classifies as speech', () => {
    const word = [...frames(20, NONE, SILENT), ...frames(3, SURE, LOUD), ...frames(4, SURE, SILENT)];
    const all = [...word, ...frames(10, NONE, SILENT)];
    expect(kinds(run(all, { minSpeechDurationMs: 96 }).events)).toEqual(['started', 'paused', 'stopped']);
    expect(run(all, { minSpeechDurationMs: 104 }).events).toEqual([]);
  });

  it('follows the model when a noise that has just ended masks the sound', () => {
    const input = [...frames(40, NONE, 10 * LOUD), ...frames(20, SURE, LOUD)];
    expect(kinds(run(input).events)).toEqual(['started']);
  });
});

describe('end of a turn', () => {
  const endsOf = (input: readonly Frame[], settings: Partial<VadSettings> = {}) =>
    run([...frames(20, NONE, SILENT), ...frames(10, SURE, LOUD), ...input], settings).events.filter(
      (event) => event.kind === 'paused' || event.kind === 'stopped',
    );

  it('is the block in which the sound falls, regardless of the lag of the model', () => {
    const ends = endsOf([
      frame(SURE, [LOUD, 0, 0, 0]),
      ...frames(3, SURE, SILENT),
      ...frames(5, NONE, SILENT),
    ]);
    expect(ends).toMatchObject([
      { kind: 'paused', endSample: 30 * FRAME_SAMPLES + 128, frame: 34 },
      // More than 96 ms have passed since the end of the sound.
      { kind: 'stopped', endSample: 30 * FRAME_SAMPLES + 128, frame: 34 },
    ]);
  });

  it('does not include a noise that starts after it', () => {
    const ends = endsOf([...frames(3, SURE, SILENT), ...frames(40, NONE, LOUD / 2)], {
      silenceDurationMs: 500,
    });
    expect(ends.at(-1)).toMatchObject({ kind: 'stopped', endSample: 34 * FRAME_SAMPLES });
  });

  it('follows the model when noise masks it', () => {
    const noise = LOUD / 50;
    const { events } = run([
      ...frames(40, NONE, noise),
      ...frames(10, SURE, LOUD),
      ...frames(10, SURE, noise),
      ...frames(10, NONE, noise),
    ]);
    expect(events.find(({ kind }) => kind === 'paused')).toMatchObject({ endSample: 58 * FRAME_SAMPLES });
  });

  it('is reported later for a longer silence duration', () => {
    const stopAt = (silenceDurationMs: number) =>
      endsOf(frames(40, NONE, SILENT), { silenceDurationMs }).at(-1)?.frame;
    expect([stopAt(96), stopAt(320), stopAt(321)]).toEqual([32, 39, 40]);
  });
});

describe('threshold', () => {
  const inputOf = (probability: number) => [
    ...frames(5, 0, SILENT),
    ...frames(10, probability, LOUD),
    ...frames(10, 0, SILENT),
  ];
  it('accepts any sound at 0 and nothing at 1', () => {
    expect(kinds(run(inputOf(0.01), { threshold: 0 }).events)).toEqual(['started', 'paused', 'stopped']);
    expect(run(inputOf(1), { threshold: 1 }).events).toEqual([]);
  });

  it('accepts probabilities above it', () => {
    expect(run(inputOf(0.3), { threshold: 0.3 }).events).toEqual([]);
    expect(kinds(run(inputOf(0.31), { threshold: 0.3 }).events)).toEqual(['started', 'paused', 'stopped']);
  });
});

it('emits events in order and within the stream for any input', () => {
  const anyFrame = fc
    .record({
      probability: fc.double({ min: 0, max: 1, noNaN: true }),
      level: fc.integer({ min: -9, max: 0 }),
    })
    .map(({ probability, level }) => frame(probability, 10 ** level));
  const anySettings = fc.record({
    threshold: fc.double({ min: 0, max: 1, noNaN: true }),
    prefixPaddingMs: fc.integer({ min: 0, max: 5000 }),
    silenceDurationMs: fc.integer({ min: 0, max: 1000 }),
    minSpeechDurationMs: fc.integer({ min: 0, max: 300 }),
  });
  const follows: Record<string, readonly string[]> = {
    stopped: ['started'],
    started: ['paused'],
    paused: ['resumed', 'stopped'],
    resumed: ['paused'],
  };
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 200 }), anySettings, (input, settings) => {
      let last: VadEvent['kind'] = 'stopped';
      let reached = 0;
      let paused = 0;
      for (const event of run(input, settings).events) {
        expect(follows[last]).toContain(event.kind);
        last = event.kind;
        const end = (event.frame + 1) * FRAME_SAMPLES;
        if (event.kind === 'started') {
          expect(event.startSample).toBeLessThanOrEqual(event.onsetSample);
          expect(event.startSample).toBeGreaterThanOrEqual(reached);
          expect(event.onsetSample).toBeLessThan(end);
          reached = event.onsetSample;
        }
        if (event.kind === 'paused' || event.kind === 'stopped') {
          expect(event.endSample).toBeGreaterThanOrEqual(reached);
          expect(event.endSample).toBeLessThanOrEqual(end);
          if (event.kind === 'stopped') {
            expect(event.endSample).toBe(paused);
            reached = event.endSample;
          }
          paused = event.endSample;
        }
      }
    }),
    { numRuns: repetitions(100, 300) },
  );
});
