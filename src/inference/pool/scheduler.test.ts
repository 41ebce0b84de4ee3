import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Priority } from '../../contract/engines/engine.ts';
import {
  type Delivery,
  dueMs,
  nextJob,
  queueKeyOf,
  RESERVE_MS,
  type Served,
  type WaitingJob,
  WHOLE_YIELD_MS,
} from './scheduler.ts';
import { ServedTime } from './served-time.ts';

function job(fields: Partial<WaitingJob> & { name?: string }): WaitingJob & { name: string } {
  return {
    name: '',
    priority: 'interactive',
    fairnessKey: 'a',
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
    ['a new stream: its arrival', job({ arrivedMs: 70 }), 70],
    [
      'a stream: the end of its delivered audio, less the reserve',
      job({ arrivedMs: 0, firstAudioMs: 400, audioMs: 500 }),
      900 - RESERVE_MS,
    ],
    [
      'a continuation: the end of the earlier speech, less the reserve',
      job({ arrivedMs: 100, aheadMs: 900 }),
      1000 - RESERVE_MS,
    ],
    [
      'a continuation with audio delivered early: the end of the earlier speech plus its own audio, less the reserve',
      job({ arrivedMs: 100, aheadMs: 900, firstAudioMs: 200, audioMs: 300 }),
      1300 - RESERVE_MS,
    ],
    ['a continuation of speech that is almost over: its arrival', job({ arrivedMs: 100, aheadMs: 90 }), 100],
    ['a text: its arrival', job({ delivery: 'text', arrivedMs: 70, firstAudioMs: 400 }), 70],
    [
      'a whole job: its arrival plus the yield time',
      job({ delivery: 'whole', arrivedMs: 50 }),
      50 + WHOLE_YIELD_MS,
    ],
  ])('%s', (_, waiting, expected) => {
    expect(dueMs(waiting, {})).toBe(expected);
  });

  it('counts the yield time of whole jobs from the last step of any whole job of their class', () => {
    const waiting = job({ delivery: 'whole', arrivedMs: 50 });
    expect(dueMs(waiting, { 'interactive whole': 300, 'batch whole': 900 })).toBe(300 + WHOLE_YIELD_MS);
  });
});

describe('nextJob', () => {
  it.each([
    ['nothing when no job waits', [], undefined],
    [
      'the higher class, regardless of how long the lower one waits',
      [
        job({ name: 'old', arrivedMs: -90_000 }),
        job({ name: 'live', priority: 'realtime', fairnessKey: 'a', arrivedMs: 9 }),
      ],
      'live',
    ],
    [
      'interactive before batch',
      [job({ name: 'batch', priority: 'batch', fairnessKey: 'a' }), job({ name: 'http', arrivedMs: 5 })],
      'http',
    ],
    [
      'the stream with the earliest underrun, when none is due',
      [
        job({ name: 'far ahead', firstAudioMs: 0, audioMs: 15_000 }),
        job({ name: 'nearly dry', firstAudioMs: 0, audioMs: 10_300 }),
      ],
      'nearly dry',
    ],
    [
      'a new stream before a stream with unplayed audio',
      [job({ name: 'ahead', firstAudioMs: 0, audioMs: 12_000 }), job({ name: 'new', arrivedMs: 9_900 })],
      'new',
    ],
    [
      'of several due streams the one that has waited longest, not the one with the earliest deadline',
      [
        job({ name: 'served lately', firstAudioMs: 0, audioMs: 100, servedMs: 9_000 }),
        job({ name: 'waiting long', firstAudioMs: 0, audioMs: 5_000, servedMs: 6_000 }),
      ],
      'waiting long',
    ],
    [
      'text and speech alternately when both are due',
      [
        job({ name: 'text', delivery: 'text', arrivedMs: 9_000 }),
        job({ name: 'speech', arrivedMs: 0, firstAudioMs: 60, audioMs: 300, servedMs: 8_900 }),
      ],
      'speech',
    ],
    [
      'the started text before a new one',
      [
        job({ name: 'new', delivery: 'text', arrivedMs: 2 }),
        job({ name: 'started', delivery: 'text', arrivedMs: 1, servedMs: 9_900 }),
      ],
      'started',
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
      'a stream close to its underrun before a whole job within its yield time',
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
      'a whole job after its yield time before new streams',
      [job({ name: 'new', arrivedMs: 9_900 }), job({ name: 'whole', delivery: 'whole', arrivedMs: 7_000 })],
      'whole',
    ],
  ])('selects %s', (_, jobs, expected) => {
    expect(nextJob(jobs, NOTHING_SERVED, 10_000)?.name).toBe(expected);
  });

  it('counts the waiting time of the queue of whole jobs, not of one of its jobs', () => {
    const jobs = [
      job({ name: 'stream', firstAudioMs: 0, audioMs: 9_000, servedMs: 9_000 }),
      job({ name: 'whole', delivery: 'whole', arrivedMs: 0 }),
    ];
    const served = (whole: number) => ({ ...NOTHING_SERVED, queues: { 'interactive whole': whole } });
    expect(nextJob(jobs, served(9_500), 10_000)?.name).toBe('stream');
    expect(nextJob(jobs, served(7_500), 10_000)?.name).toBe('whole');
  });
});

const NOTHING_SERVED: Served = { queues: {}, keys: new ServedTime() };

const PRIORITIES: readonly Priority[] = ['realtime', 'interactive', 'batch'];

interface SimulatedJob {
  readonly priority: Priority;
  readonly fairnessKey: string;
  readonly delivery: Delivery;
  readonly arrivedMs: number;
  readonly steps: number;
  /** Default: 100. */
  readonly stepMs?: number;
}

/** Simulates one worker that serves `jobs` step by step. Each step generates `audioMs` of audio. */
function simulate(jobs: readonly SimulatedJob[], audioMs: number) {
  type Run = { -readonly [K in keyof WaitingJob]: WaitingJob[K] } & {
    readonly stepMs: number;
    left: number;
    history: number[];
  };
  const runs: Run[] = jobs.map(({ steps, stepMs = 100, ...fields }) => ({
    ...job(fields),
    stepMs,
    left: steps,
    history: [],
  }));
  const queues: { -readonly [QueueKey in keyof Served['queues']]: Served['queues'][QueueKey] } = {};
  const keys = new ServedTime();
  const order: { run: Run; waiting: Run[] }[] = [];
  let nowMs = 0;
  while (runs.some((run) => run.left > 0)) {
    const waiting = runs.filter((run) => run.left > 0 && run.arrivedMs <= nowMs);
    for (const each of PRIORITIES) if (!waiting.some(({ priority }) => priority === each)) keys.clear(each);
    const run = nextJob(waiting, { queues, keys }, nowMs);
    if (run === undefined) {
      nowMs += 100;
      continue;
    }
    queues[queueKeyOf(run)] = nowMs;
    keys.start(run);
    run.left -= 1;
    run.history.push(nowMs);
    nowMs += run.stepMs;
    keys.finish(run, run.stepMs);
    run.servedMs = nowMs;
    run.firstAudioMs ??= nowMs;
    run.audioMs += audioMs;
    order.push({ run, waiting });
  }
  return { runs, order };
}

const load = fc.array(
  fc.record({
    priority: fc.constantFrom(...PRIORITIES),
    fairnessKey: fc.constantFrom('a', 'b', 'c'),
    delivery: fc.constantFrom<Delivery[]>('stream', 'whole', 'text'),
    arrivedMs: fc.integer({ min: 0, max: 5000 }),
    steps: fc.integer({ min: 1, max: 12 }),
  }),
  { minLength: 1, maxLength: 25 },
);

describe('schedule over time', () => {
  it('serves a class only when no higher class waits', () => {
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

  it('serves a whole job while streams of its class exceed the capacity', () => {
    const streams = Array.from({ length: 20 }, (_, at) => ({
      priority: 'interactive' as const,
      fairnessKey: 'a',
      delivery: 'stream' as const,
      arrivedMs: at * 100,
      steps: 40,
    }));
    const whole = {
      priority: 'interactive',
      fairnessKey: 'a',
      delivery: 'whole',
      arrivedMs: 1000,
      steps: 5,
    } as const;
    const { runs } = simulate([...streams, whole], 50);
    const history = runs.at(-1)?.history ?? [];
    expect(history).toHaveLength(5);
    expect(maxGap(whole.arrivedMs, history)).toBeLessThanOrEqual(WHOLE_YIELD_MS + 21 * 100);
  });

  it('runs texts to their end one after the other and serves speech in between', () => {
    const text = (arrivedMs: number) =>
      ({ priority: 'interactive', fairnessKey: 'a', delivery: 'text', arrivedMs, steps: 4 }) as const;
    const speech = {
      priority: 'interactive',
      fairnessKey: 'a',
      delivery: 'stream',
      arrivedMs: 0,
      steps: 12,
    } as const;
    const { runs, order } = simulate([text(0), text(0), text(0), speech], 50);
    const texts = order.map(({ run }) => runs.indexOf(run)).filter((index) => index < 3);
    expect(texts).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    expect(maxGap(0, runs[3]?.history ?? [])).toBeLessThanOrEqual(300);
  });

  it('bounds the wait of a job to one step of each other job', () => {
    const jobs = Array.from({ length: 60 }, (_, at) => ({
      priority: 'interactive' as const,
      fairnessKey: 'a',
      delivery: 'stream' as const,
      arrivedMs: at * 150,
      steps: 4,
    }));
    for (const { history, arrivedMs } of simulate(jobs, 80).runs) {
      expect(history).toHaveLength(4);
      expect(maxGap(arrivedMs, history)).toBeLessThanOrEqual(60 * 100);
    }
  });
});

describe('fairness between API keys', () => {
  const of = (fairnessKey: string, delivery: Delivery, arrivedMs: number, steps: number) =>
    ({ priority: 'interactive', fairnessKey, delivery, arrivedMs, steps }) as const;

  it.each<Delivery>(['stream', 'text'])(
    'a key is not delayed by the flood of another key (%s)',
    (delivery) => {
      const flood = Array.from({ length: 200 }, (_, at) => of('flood', delivery, at, 3));
      const light = Array.from({ length: 10 }, (_, at) => of('light', delivery, 5000 + at * 2000, 1));
      const { runs } = simulate([...flood, ...light], 50);
      for (const { fairnessKey, arrivedMs, history } of runs.slice(200)) {
        expect(fairnessKey).toBe('light');
        // The running step, and the rest of the started text.
        expect(maxGap(arrivedMs, history)).toBeLessThanOrEqual(delivery === 'stream' ? 100 : 300);
      }
    },
  );

  it('a request of several short steps waits for the running step of another key only', () => {
    const flood = Array.from({ length: 8 }, () => ({ ...of('flood', 'stream', 0, 20), stepMs: 300 }));
    const light = (['stream', 'text'] as const).map((delivery, at) =>
      of('light', delivery, 5050 + at * 5000, 3),
    );
    const { runs } = simulate([...flood, ...light], 0);
    for (const { arrivedMs, history } of runs.slice(8))
      expect((history.at(-1) ?? 0) - arrivedMs).toBeLessThanOrEqual(300 + 2 * 100);
  });

  it('keys share the time evenly, regardless of the length of their steps', () => {
    const long = Array.from({ length: 4 }, () => ({ ...of('long', 'stream', 0, 10), stepMs: 300 }));
    const short = Array.from({ length: 4 }, () => of('short', 'stream', 0, 30));
    const { order } = simulate([...long, ...short], 1);
    const firstForty = order.slice(0, 40).filter(({ run }) => run.fairnessKey === 'long');
    expect(firstForty).toHaveLength(10);
  });

  it('a key that returns after each request has no advantage over a key that waits', () => {
    const requests = Array.from({ length: 20 }, (_, at) => of('returns', 'stream', at * 150, 1));
    const waits = of('waits', 'stream', 0, 20);
    const { order } = simulate([...requests, waits], 1);
    const firstTwenty = order.slice(0, 20).filter(({ run }) => run.fairnessKey === 'waits');
    expect(firstTwenty.length).toBeGreaterThanOrEqual(9);
  });

  it('keys share steps evenly, regardless of their numbers of streams', () => {
    const jobs = [
      ...Array.from({ length: 30 }, () => of('a', 'stream', 0, 10)),
      ...Array.from({ length: 3 }, () => of('b', 'stream', 0, 10)),
    ];
    const { order } = simulate(jobs, 1);
    const firstSixty = order.slice(0, 60).filter(({ run }) => run.fairnessKey === 'b');
    expect(firstSixty).toHaveLength(30);
  });
});

function maxGap(fromMs: number, history: readonly number[]): number {
  return Math.max(...history.map((atMs, index) => atMs - (history[index - 1] ?? fromMs)));
}
