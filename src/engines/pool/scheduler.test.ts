import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Priority } from '../../contract/engines/engine.ts';
import {
  type Delivery,
  dueMs,
  lineOf,
  nextJob,
  type Served,
  type WaitingJob,
  WHOLE_PATIENCE_MS,
} from './scheduler.ts';

function job(fields: Partial<WaitingJob> & { name?: string }): WaitingJob & { name: string } {
  return {
    name: '',
    priority: 'interactive',
    owner: 'a',
    delivery: 'stream',
    arrivedMs: 0,
    aheadMs: 0,
    servedMs: undefined,
    firstAudioMs: undefined,
    audioMs: 0,
    ...fields,
  };
}

describe('dueMs', () => {
  it.each([
    ['a new stream is due at its arrival', job({ arrivedMs: 70 }), 70],
    ['a stream is due when its audio ends', job({ arrivedMs: 0, firstAudioMs: 400, audioMs: 500 }), 900],
    ['a continuation is due when the earlier speech ends', job({ arrivedMs: 100, aheadMs: 900 }), 1000],
    [
      'a continuation that came early is heard after the earlier speech',
      job({ arrivedMs: 100, aheadMs: 900, firstAudioMs: 200, audioMs: 300 }),
      1300,
    ],
    ['a text is due from its arrival', job({ delivery: 'text', arrivedMs: 70, firstAudioMs: 400 }), 70],
    ['a whole job waits for its patience', job({ delivery: 'whole', arrivedMs: 50 }), 50 + WHOLE_PATIENCE_MS],
  ])('%s', (_, waiting, expected) => {
    expect(dueMs(waiting, {})).toBe(expected);
  });

  it('counts the patience of whole jobs from the last pass that any of their class was given', () => {
    const waiting = job({ delivery: 'whole', arrivedMs: 50 });
    expect(dueMs(waiting, { 'interactive whole': 300, 'batch whole': 900 })).toBe(300 + WHOLE_PATIENCE_MS);
  });
});

describe('nextJob', () => {
  it.each([
    ['nothing when nobody waits', [], undefined],
    [
      'the higher class, however late the lower one is',
      [
        job({ name: 'old', arrivedMs: -90_000 }),
        job({ name: 'live', priority: 'realtime', owner: 'a', arrivedMs: 9 }),
      ],
      'live',
    ],
    [
      'interactive before batch',
      [job({ name: 'batch', priority: 'batch', owner: 'a' }), job({ name: 'http', arrivedMs: 5 })],
      'http',
    ],
    [
      'the listener who will run dry first, when none is dry',
      [
        job({ name: 'far ahead', firstAudioMs: 0, audioMs: 15_000 }),
        job({ name: 'nearly dry', firstAudioMs: 0, audioMs: 10_300 }),
      ],
      'nearly dry',
    ],
    [
      'a newcomer before a listener with audio in hand',
      [job({ name: 'ahead', firstAudioMs: 0, audioMs: 12_000 }), job({ name: 'new', arrivedMs: 9_900 })],
      'new',
    ],
    [
      'of several that are dry the one that has waited longest, not the one that is latest',
      [
        job({ name: 'served lately', firstAudioMs: 0, audioMs: 100, servedMs: 9_000 }),
        job({ name: 'waiting long', firstAudioMs: 0, audioMs: 5_000, servedMs: 6_000 }),
      ],
      'waiting long',
    ],
    [
      'turns between text and speech that are both due',
      [
        job({ name: 'text', delivery: 'text', arrivedMs: 9_000 }),
        job({ name: 'speech', arrivedMs: 0, firstAudioMs: 60, audioMs: 300, servedMs: 8_900 }),
      ],
      'speech',
    ],
    [
      'the text that has begun before one that has not',
      [
        job({ name: 'new', delivery: 'text', arrivedMs: 2 }),
        job({ name: 'begun', delivery: 'text', arrivedMs: 1, servedMs: 9_900 }),
      ],
      'begun',
    ],
    [
      'whole jobs in order of arrival',
      [
        job({ name: 'second', delivery: 'whole', arrivedMs: 2 }),
        job({ name: 'first', delivery: 'whole', arrivedMs: 1 }),
      ],
      'first',
    ],
    [
      'a stream that is about to run dry before a whole job with patience left',
      [
        job({ name: 'whole', delivery: 'whole', arrivedMs: 9_000 }),
        job({ name: 'stream', firstAudioMs: 0, audioMs: 10_500 }),
      ],
      'stream',
    ],
    [
      'a whole job before a stream that is well ahead',
      [
        job({ name: 'stream', firstAudioMs: 0, audioMs: 15_000 }),
        job({ name: 'whole', delivery: 'whole', arrivedMs: 9_000 }),
      ],
      'whole',
    ],
    [
      'a whole job that has waited out its patience before newcomers',
      [job({ name: 'new', arrivedMs: 9_900 }), job({ name: 'whole', delivery: 'whole', arrivedMs: 7_000 })],
      'whole',
    ],
  ])('takes %s', (_, jobs, expected) => {
    expect(nextJob(jobs, NOTHING_SERVED, 10_000)?.name).toBe(expected);
  });

  it('counts the turn of the whole line, not of one of its jobs', () => {
    const jobs = [
      job({ name: 'stream', firstAudioMs: 0, audioMs: 9_000, servedMs: 9_000 }),
      job({ name: 'whole', delivery: 'whole', arrivedMs: 0 }),
    ];
    const served = (whole: number) => ({ ...NOTHING_SERVED, lines: { 'interactive whole': whole } });
    expect(nextJob(jobs, served(9_500), 10_000)?.name).toBe('stream');
    expect(nextJob(jobs, served(7_500), 10_000)?.name).toBe('whole');
  });
});

const NOTHING_SERVED: Served = { lines: {}, owners: new Map() };

const PRIORITIES: readonly Priority[] = ['realtime', 'interactive', 'batch'];

/** One processor that serves `jobs` with passes of 100 ms, each pass making `audioMs` of audio. */
function simulate(
  jobs: readonly {
    priority: Priority;
    owner: string;
    delivery: Delivery;
    arrivedMs: number;
    passes: number;
  }[],
  audioMs: number,
) {
  type Run = { -readonly [K in keyof WaitingJob]: WaitingJob[K] } & { left: number; history: number[] };
  const runs: Run[] = jobs.map(({ passes, ...fields }) => ({ ...job(fields), left: passes, history: [] }));
  const lines: { -readonly [Line in keyof Served['lines']]: Served['lines'][Line] } = {};
  const owners = new Map<string, number>();
  const order: { run: Run; waiting: Run[] }[] = [];
  for (let nowMs = 0; runs.some((run) => run.left > 0); nowMs += 100) {
    const waiting = runs.filter((run) => run.left > 0 && run.arrivedMs <= nowMs);
    for (const owner of owners.keys())
      if (!waiting.some((each) => each.owner === owner)) owners.delete(owner);
    const run = nextJob(waiting, { lines, owners }, nowMs);
    if (run === undefined) continue;
    lines[lineOf(run)] = nowMs;
    owners.set(run.owner, nowMs);
    run.left -= 1;
    run.history.push(nowMs);
    run.servedMs = nowMs + 100;
    run.firstAudioMs ??= nowMs + 100;
    run.audioMs += audioMs;
    order.push({ run, waiting });
  }
  return { runs, order };
}

const load = fc.array(
  fc.record({
    priority: fc.constantFrom(...PRIORITIES),
    owner: fc.constantFrom('a', 'b', 'c'),
    delivery: fc.constantFrom<Delivery[]>('stream', 'whole', 'text'),
    arrivedMs: fc.integer({ min: 0, max: 5000 }),
    passes: fc.integer({ min: 1, max: 12 }),
  }),
  { minLength: 1, maxLength: 25 },
);

describe('the schedule over time', () => {
  it('never serves a class while a higher one waits', () => {
    fc.assert(
      fc.property(load, fc.integer({ min: 20, max: 400 }), (jobs, audioMs) => {
        for (const { run, waiting } of simulate(jobs, audioMs).order) {
          const best = Math.min(...waiting.map((each) => PRIORITIES.indexOf(each.priority)));
          expect(PRIORITIES.indexOf(run.priority)).toBe(best);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('gives a whole job its turns while streams of its class want more than there is', () => {
    const streams = Array.from({ length: 20 }, (_, at) => ({
      priority: 'interactive' as const,
      owner: 'a',
      delivery: 'stream' as const,
      arrivedMs: at * 100,
      passes: 40,
    }));
    const whole = {
      priority: 'interactive',
      owner: 'a',
      delivery: 'whole',
      arrivedMs: 1000,
      passes: 5,
    } as const;
    const { runs } = simulate([...streams, whole], 50);
    const history = runs.at(-1)?.history ?? [];
    expect(history).toHaveLength(5);
    expect(maxGap(whole.arrivedMs, history)).toBeLessThanOrEqual(WHOLE_PATIENCE_MS + 21 * 100);
  });

  it('runs texts to their end one after the other, and speech has its turns between them', () => {
    const text = (arrivedMs: number) =>
      ({ priority: 'interactive', owner: 'a', delivery: 'text', arrivedMs, passes: 4 }) as const;
    const speech = {
      priority: 'interactive',
      owner: 'a',
      delivery: 'stream',
      arrivedMs: 0,
      passes: 12,
    } as const;
    const { runs, order } = simulate([text(0), text(0), text(0), speech], 50);
    const texts = order.map(({ run }) => runs.indexOf(run)).filter((index) => index < 3);
    expect(texts).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    expect(maxGap(0, runs[3]?.history ?? [])).toBeLessThanOrEqual(300);
  });

  it('lets no job wait longer than one turn of everybody else who is there', () => {
    const jobs = Array.from({ length: 60 }, (_, at) => ({
      priority: 'interactive' as const,
      owner: 'a',
      delivery: 'stream' as const,
      arrivedMs: at * 150,
      passes: 4,
    }));
    for (const { history, arrivedMs } of simulate(jobs, 80).runs) {
      expect(history).toHaveLength(4);
      expect(maxGap(arrivedMs, history)).toBeLessThanOrEqual(60 * 100);
    }
  });
});

describe('owners', () => {
  const of = (owner: string, delivery: Delivery, arrivedMs: number, passes: number) =>
    ({ priority: 'interactive', owner, delivery, arrivedMs, passes }) as const;

  it.each<Delivery>(['stream', 'text'])('one who floods (%s) does not delay another', (delivery) => {
    const flood = Array.from({ length: 200 }, (_, at) => of('flood', delivery, at, 3));
    const light = Array.from({ length: 10 }, (_, at) => of('light', delivery, 5000 + at * 2000, 1));
    const { runs } = simulate([...flood, ...light], 50);
    for (const { owner, arrivedMs, history } of runs.slice(200)) {
      expect(owner).toBe('light');
      // The pass that runs, and what is left of the text that has begun.
      expect(maxGap(arrivedMs, history)).toBeLessThanOrEqual(delivery === 'stream' ? 100 : 300);
    }
  });

  it('share streams evenly, however many each has', () => {
    const jobs = [
      ...Array.from({ length: 30 }, () => of('a', 'stream', 0, 10)),
      ...Array.from({ length: 3 }, () => of('b', 'stream', 0, 10)),
    ];
    const { order } = simulate(jobs, 1);
    const firstSixty = order.slice(0, 60).filter(({ run }) => run.owner === 'b');
    expect(firstSixty).toHaveLength(30);
  });
});

function maxGap(fromMs: number, history: readonly number[]): number {
  return Math.max(...history.map((atMs, index) => atMs - (history[index - 1] ?? fromMs)));
}
