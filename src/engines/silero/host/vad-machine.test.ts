import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { VadEvent, VadSettings } from '../../../contract/engines/engine.ts';
import { type Frame, initial, next, type VadState } from './vad-machine.ts';

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

/** Events with the frame at whose end each came, and the state at the end. */
function run(frames: readonly Frame[], settings: Partial<VadSettings> = {}, from: VadState = initial) {
  let state = from;
  const events: (VadEvent & { frame: number })[] = [];
  for (const [index, each] of frames.entries()) {
    const step = next(state, each, { ...SETTINGS, ...settings });
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

describe('every state with every frame', () => {
  const cells: [keyof typeof before, string, Frame, VadState['kind'], VadEvent['kind'][]][] = [
    ['silence', 'sure of speech', frame(SURE, LOUD), 'candidate', []],
    ['silence', 'unsure', frame(UNSURE, LOUD), 'silence', []],
    ['silence', 'sure of none', frame(NONE, LOUD), 'silence', []],
    ['candidate', 'sure of speech', frame(SURE, LOUD), 'speech', ['started']],
    ['candidate', 'unsure', frame(UNSURE, LOUD), 'speech', ['started']],
    ['candidate', 'unsure, too short', frame(UNSURE, SILENT), 'candidate', []],
    ['candidate', 'sure of none', frame(NONE, LOUD), 'silence', []],
    ['speech', 'sure of speech', frame(SURE, LOUD), 'speech', []],
    ['speech', 'unsure', frame(UNSURE, LOUD), 'speech', []],
    ['speech', 'sure of none', frame(NONE, SILENT), 'pause', ['paused']],
    ['pause', 'sure of speech', frame(SURE, LOUD), 'speech', ['resumed']],
    ['pause', 'unsure, too short', frame(UNSURE, SILENT), 'pause', []],
    ['pause', 'sure of none, too short', frame(NONE, SILENT), 'pause', []],
  ];
  it.each(cells)('%s, %s', (kind, _, each, after, events) => {
    const { state } = run(before[kind]);
    expect(state.kind).toBe(kind);
    const step = next(state, each, SETTINGS);
    expect([step.state.kind, kinds(step.events)]).toEqual([after, events]);
  });

  it.each([
    ['unsure', UNSURE],
    ['sure of none', NONE],
  ])('pause, %s, long enough', (_, probability) => {
    const { state } = run([...before.pause, frame(probability, SILENT)]);
    const step = next(state, frame(probability, SILENT), SETTINGS);
    expect([step.state.kind, kinds(step.events)]).toEqual(['silence', ['stopped']]);
  });

  it('silence starts a turn at once when no least duration is asked for', () => {
    const step = next(run(before.silence).state, frame(SURE, LOUD), { ...SETTINGS, minSpeechDurationMs: 0 });
    expect([step.state.kind, kinds(step.events)]).toEqual(['speech', ['started']]);
  });

  it('speech stops at once when no silence is asked for', () => {
    const step = next(run(before.speech).state, frame(NONE, SILENT), { ...SETTINGS, silenceDurationMs: 0 });
    expect([step.state.kind, kinds(step.events)]).toEqual(['silence', ['paused', 'stopped']]);
  });
});

describe('where a turn begins', () => {
  const onsetOf = (heard: readonly Frame[], settings: Partial<VadSettings> = {}) =>
    run(heard, settings).events.find((event) => event.kind === 'started');

  it('is the block in which the sound rises', () => {
    const started = onsetOf([
      ...frames(20, NONE, SILENT),
      frame(SURE, [0, 0, LOUD, LOUD]),
      ...frames(4, SURE, LOUD),
    ]);
    expect(started).toMatchObject({ onsetSample: 20 * FRAME_SAMPLES + 256 });
  });

  it('is before the frame of which the model was sure, when a softer sound leads to it', () => {
    const started = onsetOf([
      ...frames(20, NONE, SILENT),
      ...frames(3, UNSURE, LOUD / 100),
      ...frames(4, SURE, LOUD),
    ]);
    expect(started).toMatchObject({ onsetSample: 20 * FRAME_SAMPLES });
  });

  it('reaches over the closure of a plosive, not over a longer silence', () => {
    const stop = (closure: number) => [
      ...frames(20, NONE, SILENT),
      frame(NONE, LOUD / 10),
      ...frames(closure, NONE, SILENT),
      ...frames(4, SURE, LOUD),
    ];
    expect(onsetOf(stop(2))).toMatchObject({ onsetSample: 20 * FRAME_SAMPLES });
    expect(onsetOf(stop(3))).toMatchObject({ onsetSample: 24 * FRAME_SAMPLES });
  });

  it('is not led astray by steady noise', () => {
    const noise = LOUD / 100;
    const started = onsetOf([...frames(20, NONE, noise), ...frames(4, SURE, [noise, LOUD, LOUD, LOUD])]);
    expect(started).toMatchObject({ onsetSample: 20 * FRAME_SAMPLES + 128 });
  });

  it('has its prefix before it, but not before the stream or in the turn before', () => {
    const turn = [...frames(4, SURE, LOUD), ...frames(5, NONE, SILENT)];
    expect(onsetOf([...frames(20, NONE, SILENT), ...turn], { prefixPaddingMs: 100 })).toMatchObject({
      startSample: 20 * FRAME_SAMPLES - 1600,
    });
    expect(onsetOf([frame(NONE, SILENT), ...turn])).toMatchObject({ startSample: 0 });
    const second = run([...turn, ...turn]).events.filter((event) => event.kind === 'started')[1];
    expect(second).toMatchObject({ onsetSample: 9 * FRAME_SAMPLES, startSample: 4 * FRAME_SAMPLES });
  });

  it('is remembered when the least duration is longer than the memory', () => {
    const started = onsetOf([...frames(20, NONE, SILENT), ...frames(100, SURE, LOUD)], {
      minSpeechDurationMs: 2000,
    });
    expect(started).toMatchObject({ onsetSample: 20 * FRAME_SAMPLES, frame: 20 + 62 });
  });
});

describe('how long a turn must be', () => {
  it('counts the sound, not how long the model was sure', () => {
    const word = [...frames(20, NONE, SILENT), ...frames(3, SURE, LOUD), ...frames(4, SURE, SILENT)];
    const all = [...word, ...frames(10, NONE, SILENT)];
    expect(kinds(run(all, { minSpeechDurationMs: 96 }).events)).toEqual(['started', 'paused', 'stopped']);
    expect(run(all, { minSpeechDurationMs: 104 }).events).toEqual([]);
  });

  it('believes the model when a noise that has just ended hides the sound', () => {
    const heard = [...frames(40, NONE, 10 * LOUD), ...frames(20, SURE, LOUD)];
    expect(kinds(run(heard).events)).toEqual(['started']);
  });
});

describe('where a turn ends', () => {
  const endsOf = (heard: readonly Frame[], settings: Partial<VadSettings> = {}) =>
    run([...frames(20, NONE, SILENT), ...frames(10, SURE, LOUD), ...heard], settings).events.filter(
      (event) => event.kind === 'paused' || event.kind === 'stopped',
    );

  it('is the block in which the sound falls, however late the model is', () => {
    const ends = endsOf([
      frame(SURE, [LOUD, 0, 0, 0]),
      ...frames(3, SURE, SILENT),
      ...frames(5, NONE, SILENT),
    ]);
    expect(ends).toMatchObject([
      { kind: 'paused', endSample: 30 * FRAME_SAMPLES + 128, frame: 34 },
      // 96 ms after the end of the sound have long passed.
      { kind: 'stopped', endSample: 30 * FRAME_SAMPLES + 128, frame: 34 },
    ]);
  });

  it('does not follow a noise that begins after it', () => {
    const ends = endsOf([...frames(3, SURE, SILENT), ...frames(40, NONE, LOUD / 2)], {
      silenceDurationMs: 500,
    });
    expect(ends.at(-1)).toMatchObject({ kind: 'stopped', endSample: 34 * FRAME_SAMPLES });
  });

  it('is what the model says where noise hides it', () => {
    const noise = LOUD / 50;
    const { events } = run([
      ...frames(40, NONE, noise),
      ...frames(10, SURE, LOUD),
      ...frames(10, SURE, noise),
      ...frames(10, NONE, noise),
    ]);
    expect(events.find(({ kind }) => kind === 'paused')).toMatchObject({ endSample: 58 * FRAME_SAMPLES });
  });

  it('is later when more silence is asked for', () => {
    const stopAt = (silenceDurationMs: number) =>
      endsOf(frames(40, NONE, SILENT), { silenceDurationMs }).at(-1)?.frame;
    expect([stopAt(96), stopAt(320), stopAt(321)]).toEqual([32, 39, 40]);
  });
});

describe('threshold', () => {
  const heard = (probability: number) => [
    ...frames(5, 0, SILENT),
    ...frames(10, probability, LOUD),
    ...frames(10, 0, SILENT),
  ];
  it('at 0 takes whatever is heard, at 1 nothing', () => {
    expect(kinds(run(heard(0.01), { threshold: 0 }).events)).toEqual(['started', 'paused', 'stopped']);
    expect(run(heard(1), { threshold: 1 }).events).toEqual([]);
  });

  it('between, takes what is above it', () => {
    expect(run(heard(0.3), { threshold: 0.3 }).events).toEqual([]);
    expect(kinds(run(heard(0.31), { threshold: 0.3 }).events)).toEqual(['started', 'paused', 'stopped']);
  });
});

it('whatever is heard, turns are in order and inside the stream', () => {
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
    fc.property(fc.array(anyFrame, { maxLength: 200 }), anySettings, (heard, settings) => {
      let last: VadEvent['kind'] = 'stopped';
      let reached = 0;
      let paused = 0;
      for (const event of run(heard, settings).events) {
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
    { numRuns: 300 },
  );
});
