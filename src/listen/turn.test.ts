import { describe, expect, it } from 'vitest';
import { FakeSttEngine, type FakeSttOptions } from '../../test/doubles/fake-stt-engine.ts';
import { RecordingTracer } from '../../test/doubles/recording-tracer.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import type { UsageEntry } from '../contract/accounts/usage.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { Tracer } from '../contract/core/tracer.ts';
import type { SttEngine, TranscriptionEvent } from '../contract/engines/engine.ts';
import { noopTracer } from '../kit/logging/spans.ts';
import { LISTEN_FORMAT } from './audio-format.ts';
import { AudioQueue } from './audio-queue.ts';
import type { TranscriptionParams, TurnTranscriptionEvent } from './turn.ts';
import { TurnAudio } from './turn-audio.ts';
import type { SegmentedTurn } from './turn-segmenter.ts';
import { Turns } from './turns.ts';

const PARAMS: TranscriptionParams = {
  model: 'svc-stt',
  task: 'transcribe',
  language: 'en',
  prompt: 'Weather.',
};
const FORMAT = { encoding: 'pcm16', rateHz: 16_000 } as const;
const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;

interface Options extends FakeSttOptions, RecordedCallsOptions {
  readonly engine?: SttEngine;
  readonly tracer?: Tracer;
}

/** Records events and usage rows in order. */
function driver(options: Options = {}) {
  const fake = new FakeSttEngine(options);
  const engine = options.engine ?? fake;
  const happened: (TurnTranscriptionEvent | (UsageEntry & { kind: 'row' }))[] = [];
  const log = new RecordingLogger();
  const calls = new RecordedCalls({
    ...options,
    stored: (row) => void happened.push({ kind: 'row', ...row }),
  });
  const turns = new Turns({
    stt: { ids: ['svc-stt'], get: (id): SttEngine | undefined => (id === 'svc-stt' ? engine : undefined) },
    calls,
    log,
    tracer: options.tracer ?? noopTracer,
    caller: CALLER,
    report: (event) => void happened.push(event),
  });
  const transcriptions = {
    start: (turn: SegmentedTurn, params: TranscriptionParams) => turns.add(turn, params).start(),
    confirm: (turn: SegmentedTurn, params: TranscriptionParams, maxS?: number) =>
      turns.add(turn, params).confirm(maxS),
    stop: (itemId: string) => turns.get(itemId)?.stop(),
    abandon: (itemId: string) => turns.get(itemId)?.abandon(),
    close: () => turns.close(),
  };
  const commit = (turn: SegmentedTurn, params: TranscriptionParams) => {
    void transcriptions.confirm(turn, params);
    transcriptions.start(turn, params);
  };
  const kinds = () => happened.map(({ kind }) => kind);
  const rows = () => happened.filter((each) => each.kind === 'row');
  return { turns, transcriptions, commit, fake, happened, kinds, rows, calls, log };
}

/** Insufficient credits. */
function quota(): never {
  throw new ServiceError('insufficient_quota', 'This may cost 2 credits.', { code: 'insufficient_quota' });
}
const NO_CREDITS = {
  kind: 'failed',
  itemId: 'item_1',
  error: expect.objectContaining({ kind: 'insufficient_quota', message: 'This may cost 2 credits.' }),
};

/** A complete turn of 100 ms. */
function completeTurn(itemId: SegmentedTurn['itemId'] = 'item_1'): SegmentedTurn {
  return { itemId, audio: TurnAudio.of(new Uint8Array(3200), FORMAT) };
}

/** A turn whose audio is still arriving. */
function arriving(itemId: SegmentedTurn['itemId'] = 'item_1'): SegmentedTurn {
  return { itemId, audio: new TurnAudio() };
}

/** Resolves after all pending promises; the code under test waits for nothing else. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A step that the test releases. */
function gate() {
  const { promise: open, resolve: pass } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const wait = () => {
    reach();
    return open;
  };
  return { wait, pass, reached };
}

describe('a committed turn', () => {
  it('is transcribed with the session settings, and its row is stored before its result is reported', async () => {
    const { commit, fake, happened } = driver();
    commit(completeTurn(), PARAMS);
    expect(happened).toEqual([]);
    await settled();
    expect(happened).toEqual([
      { kind: 'delta', itemId: 'item_1', text: 'Ask' },
      { kind: 'delta', itemId: 'item_1', text: ' not.' },
      {
        kind: 'row',
        endpoint: '/v1/audio/transcriptions',
        organization: 'a',
        requestId: 'req_1',
        model: 'svc-stt',
        status: 'completed',
        inputTokens: 13,
        outputTokens: 3,
        audioSeconds: 0.1,
        transcript: 'Ask not.',
      },
      {
        kind: 'completed',
        itemId: 'item_1',
        transcript: 'Ask not.',
        tokens: { audio: 11, text: 2, output: 3 },
      },
    ]);
    expect(fake.requests).toEqual([
      {
        task: 'transcribe',
        language: 'en',
        prompt: 'Weather.',
        timestamps: 'none',
        priority: 'realtime',
        fairnessKey: CALLER.keyId,
      },
    ]);
  });

  it('without speech completes with an empty transcript', async () => {
    const { commit, happened } = driver({ deltas: [] });
    commit(completeTurn(), PARAMS);
    await settled();
    expect(happened).toMatchObject([
      { kind: 'row', status: 'completed' },
      { kind: 'completed', transcript: '' },
    ]);
    expect(happened[0]).not.toHaveProperty('transcript');
  });

  it('that is translated is billed as a translation', async () => {
    const { commit, fake, rows } = driver();
    commit(completeTurn(), { ...PARAMS, task: 'translate' });
    await settled();
    expect(fake.requests).toMatchObject([{ task: 'translate' }]);
    expect(rows()).toMatchObject([{ endpoint: '/v1/audio/translations' }]);
  });

  it.each<[string, FakeSttOptions, Partial<TranscriptionParams>, string]>([
    [
      'for an unknown model',
      {},
      { model: 'other' },
      `Unknown model 'other'. Available models: svc-stt. The operator adds models as [models."other"] in CONFIG.`,
    ],
    [
      'for an overloaded engine',
      { refusal: () => new ServiceError('overloaded', 'Too much to do.') },
      {},
      'Too much to do.',
    ],
    [
      'for a model that cannot translate',
      { refusal: () => new ServiceError('invalid_request', 'This model cannot translate.') },
      { task: 'translate' },
      'This model cannot translate.',
    ],
    ['for an internal error', { refusal: () => new Error('What it is.') }, {}, 'What it is.'],
  ])('%s fails with the error and has a row', async (_, options, params, message) => {
    const { commit, happened } = driver(options);
    const turn = completeTurn();
    commit(turn, { ...PARAMS, ...params });
    await settled();
    expect(happened).toMatchObject([
      { kind: 'row', status: 'failed', audioSeconds: 0, outputTokens: 0 },
      { kind: 'failed', itemId: 'item_1', error: expect.objectContaining({ message }) },
    ]);
    expect(turn.audio.unreadBytes).toBe(0);
  });

  it('that fails midway has a row with the usage so far', async () => {
    const failure = () => new ServiceError('upstream', 'The other server hung up.');
    const { commit, happened, log } = driver({ failure });
    commit(completeTurn(), PARAMS);
    await settled();
    expect(happened.slice(2)).toMatchObject([
      { kind: 'row', status: 'failed', audioSeconds: 0.1, outputTokens: 2, transcript: 'Ask not.' },
      { kind: 'failed', error: expect.objectContaining({ message: 'The other server hung up.' }) },
    ]);
    expect(log.lines).toMatchObject([{ message: 'transcription failed', fields: { request_id: 'req_1' } }]);
  });

  it('fails if the engine ends without a transcript', async () => {
    const engine = { ...new FakeSttEngine(), async *transcribe() {} } as unknown as SttEngine;
    const { commit, kinds } = driver({ engine });
    commit(completeTurn(), PARAMS);
    await settled();
    expect(kinds()).toEqual(['row', 'failed']);
  });
});

describe('a turn without speech', () => {
  it('has no row if `silence` is `no_row`', async () => {
    const { commit, happened, calls } = driver({ deltas: [] });
    commit(completeTurn(), { ...PARAMS, silence: 'no_row' });
    await settled();
    expect(happened).toMatchObject([{ kind: 'completed', transcript: '' }]);
    expect([calls.openings.length, calls.unended]).toEqual([1, 0]);
  });

  it('has a row if it fails', async () => {
    const failure = () => new ServiceError('upstream', 'The other server hung up.');
    const { commit, rows } = driver({ deltas: [], failure });
    commit(completeTurn(), { ...PARAMS, silence: 'no_row' });
    await settled();
    expect(rows()).toMatchObject([{ status: 'failed' }]);
  });
});

describe('the call of a committed turn', () => {
  it('has the given label and audio limit, and confirm resolves when it is open', async () => {
    const { transcriptions, calls, rows } = driver();
    const turn = completeTurn();
    const params = { ...PARAMS, endpoint: 'POST /v1/transcribers/partner' } as const;
    transcriptions.start(turn, params);
    expect(await transcriptions.confirm(turn, params, 60)).toBe(true);
    expect(await transcriptions.confirm(turn, params, 90)).toBe(true);
    expect(calls.openings).toMatchObject([{ endpoint: params.endpoint, maxUsage: { audioSeconds: 60 } }]);
    await settled();
    expect(rows()).toMatchObject([{ endpoint: params.endpoint, audioSeconds: 0.1 }]);
  });

  it('that is rejected makes confirm resolve to false', async () => {
    const { transcriptions } = driver({ opening: quota });
    const turn = completeTurn();
    transcriptions.start(turn, PARAMS);
    expect(await transcriptions.confirm(turn, PARAMS)).toBe(false);
  });

  it('is opened while the turn waits, for its length', async () => {
    const { transcriptions, calls, kinds } = driver();
    const turn = completeTurn();
    void transcriptions.confirm(turn, PARAMS);
    await settled();
    expect(calls.openings).toEqual([
      {
        endpoint: '/v1/audio/transcriptions',
        model: 'svc-stt',
        caller: CALLER,
        maxUsage: { inputTokens: 3, outputTokens: 251, audioSeconds: 0.1 },
      },
    ]);
    expect(kinds()).toEqual([]);
    transcriptions.start(turn, PARAMS);
    await settled();
    expect(kinds()).toEqual(['delta', 'delta', 'row', 'completed']);
    expect([calls.openings.length, calls.unended]).toEqual([1, 0]);
  });

  it('is open before the engine starts', async () => {
    const step = gate();
    const { commit, fake, kinds } = driver({ opening: step.wait });
    commit(completeTurn(), PARAMS);
    await settled();
    expect(fake.requests).toEqual([]);
    step.pass();
    await settled();
    expect(kinds()).toEqual(['delta', 'delta', 'row', 'completed']);
  });

  it('that is rejected is reported, and no engine starts', async () => {
    const { commit, fake, happened } = driver({ opening: quota });
    const turn = completeTurn();
    commit(turn, PARAMS);
    await settled();
    expect(happened).toEqual([NO_CREDITS]);
    expect([fake.requests, turn.audio.unreadBytes]).toEqual([[], 0]);
  });

  it('that is rejected after the connection closed reports nothing', async () => {
    const step = gate();
    const { transcriptions, commit, happened } = driver({
      opening: async () => {
        await step.wait();
        quota();
      },
    });
    commit(completeTurn(), PARAMS);
    void transcriptions.confirm(completeTurn('item_2'), PARAMS);
    transcriptions.abandon('item_2');
    const closing = transcriptions.close();
    step.pass();
    await closing;
    expect(happened).toEqual([]);
  });
});

describe('a turn that starts before it is committed', () => {
  it('reports nothing until it is committed and its call is open', async () => {
    const step = gate();
    const { transcriptions, fake, kinds, happened, calls } = driver({ opening: step.wait });
    const turn = completeTurn();
    transcriptions.start(turn, PARAMS);
    await settled();
    expect(fake.requests).toHaveLength(1);
    void transcriptions.confirm(turn, PARAMS);
    await settled();
    expect([kinds(), calls.openings]).toEqual([[], []]);
    step.pass();
    await settled();
    expect(kinds()).toEqual(['delta', 'row', 'completed']);
    expect(happened[0]).toMatchObject({ text: 'Ask not.' });
  });

  it('reports the rejection of its call and no text', async () => {
    const { transcriptions, happened, calls } = driver({ opening: quota });
    const turn = completeTurn();
    transcriptions.start(turn, PARAMS);
    await settled();
    void transcriptions.confirm(turn, PARAMS);
    await settled();
    expect(happened).toEqual([NO_CREDITS]);
    expect(calls.openings).toEqual([]);
  });

  it('stops the engine when its call is rejected', async () => {
    const step = gate();
    const { transcriptions, fake, happened, log } = driver({ opening: quota, before: step.wait });
    const turn = completeTurn();
    transcriptions.start(turn, PARAMS);
    await step.reached;
    void transcriptions.confirm(turn, PARAMS);
    await settled();
    step.pass();
    await settled();
    expect(happened).toEqual([NO_CREDITS]);
    expect(fake.leftEarly).toBe(1);
    expect(log.lines).toMatchObject([{ level: 'info' }]);
  });

  it('is transcribed while its audio arrives', async () => {
    const { transcriptions, fake, kinds, rows } = driver();
    const turn = arriving();
    transcriptions.start(turn, PARAMS);
    const run = new AudioQueue(LISTEN_FORMAT);
    run.push(new Uint8Array(4 * 8000));
    turn.audio.add(run, 0, 6000);
    turn.audio.pause();
    await settled();
    expect(fake.heard).toEqual([expect.closeTo(6000, -3)]);
    turn.audio.add(run, 6000, 8000);
    turn.audio.end();
    void transcriptions.confirm(turn, PARAMS);
    await settled();
    expect(fake.heard).toEqual([8000]);
    expect(rows()).toMatchObject([{ status: 'completed', audioSeconds: 0.5 }]);
    expect(kinds().at(-1)).toBe('completed');
  });

  it('that fails frees its audio and reports the failure when it is committed', async () => {
    const refusal = () => new ServiceError('overloaded', 'Too much to do.');
    const { transcriptions, happened } = driver({ refusal });
    const turn = arriving();
    transcriptions.start(turn, PARAMS);
    await settled();
    const run = new AudioQueue(LISTEN_FORMAT);
    run.push(new Uint8Array(4 * 8000));
    turn.audio.add(run, 0, 8000);
    expect(turn.audio.unreadBytes).toBe(0);
    expect(happened).toEqual([]);
    void transcriptions.confirm(turn, PARAMS);
    await settled();
    expect(happened).toMatchObject([{ kind: 'row', status: 'failed' }, { kind: 'failed' }]);
  });

  it.each<[string, (turn: SegmentedTurn) => void]>([
    ['while its audio arrives', () => undefined],
    ['after its audio was dropped', (turn) => turn.audio.drop()],
    ['after it finished', (turn) => turn.audio.end()],
  ])('and is dropped %s leaves no usage row and no event', async (_, before) => {
    const { transcriptions, fake, kinds, log } = driver();
    const turn = arriving();
    transcriptions.start(turn, PARAMS);
    before(turn);
    if (kinds().length === 0) await settled();
    transcriptions.stop('item_1');
    await transcriptions.close();
    expect(kinds().filter((kind) => kind !== 'delta')).toEqual([]);
    expect(log.lines).toEqual([]);
    expect(fake.requests).toHaveLength(1);
  });
});

describe('a committed turn that is stopped', () => {
  it('while its audio arrives frees the engine immediately', async () => {
    const { transcriptions, commit, fake, happened, log } = driver();
    commit(arriving(), PARAMS);
    await settled();
    transcriptions.stop('item_1');
    await transcriptions.close();
    expect(log.lines).toEqual([]);
    expect(fake.leftEarly).toBe(1);
    expect(happened).toMatchObject([{ kind: 'row', status: 'cancelled', audioSeconds: 0, inputTokens: 0 }]);
  });

  it.each([0, 1])('before delta %d has a row with the usage so far and reports nothing more', async (at) => {
    const step = gate();
    const { transcriptions, commit, fake, happened } = driver({
      before: (delta) => (delta === at ? step.wait() : undefined),
    });
    commit(completeTurn(), PARAMS);
    await step.reached;
    transcriptions.stop('item_1');
    step.pass();
    await transcriptions.close();
    expect(fake.leftEarly).toBe(1);
    expect(happened.slice(at)).toMatchObject([
      { kind: 'row', status: 'cancelled', audioSeconds: at === 0 ? 0 : 0.1, outputTokens: at },
    ]);
  });

  it('reports nothing even if the engine ignores the abort', async () => {
    const step = gate();
    const engine = {
      ...new FakeSttEngine(),
      async *transcribe(): AsyncGenerator<TranscriptionEvent> {
        await step.wait();
        yield { kind: 'delta', text: 'late' };
      },
    } as unknown as SttEngine;
    const { transcriptions, commit, happened } = driver({ engine });
    commit(completeTurn(), PARAMS);
    await step.reached;
    transcriptions.stop('item_1');
    step.pass();
    await transcriptions.close();
    expect(happened).toMatchObject([{ kind: 'row', status: 'cancelled', outputTokens: 0 }]);
  });

  it('while its row is being stored has one row and no result', async () => {
    const step = gate();
    const { transcriptions, commit, kinds, rows } = driver({ storing: step.wait });
    commit(completeTurn(), PARAMS);
    await step.reached;
    transcriptions.stop('item_1');
    step.pass();
    await transcriptions.close();
    expect(kinds()).toEqual(['delta', 'delta', 'row']);
    expect(rows()).toMatchObject([{ status: 'completed' }]);
  });

  it('after its result has one row', async () => {
    const { transcriptions, commit, kinds } = driver();
    commit(completeTurn(), PARAMS);
    await settled();
    transcriptions.stop('item_1');
    await transcriptions.close();
    expect(kinds()).toEqual(['delta', 'delta', 'row', 'completed']);
  });
});

describe('a committed turn that has not started', () => {
  it.each(['stop', 'abandon', 'close'] as const)(
    'has a row without usage after %s, and frees its audio',
    async (end) => {
      const { turns, fake, happened } = driver();
      const turn = turns.add(completeTurn(), PARAMS);
      void turn.confirm();
      if (end === 'close') await turns.close();
      else turn[end]();
      turn.start();
      await turns.close();
      expect(happened).toMatchObject([{ kind: 'row', status: 'cancelled', audioSeconds: 0, inputTokens: 0 }]);
      expect([fake.requests, turn.audio.unreadBytes]).toEqual([[], 0]);
    },
  );
});

describe('the turns of a connection', () => {
  it('are those that were neither stopped nor abandoned and have no result', async () => {
    const { turns } = driver({ refusal: () => new Error('why') });
    const [first, second, third] = [completeTurn('item_1'), completeTurn('item_2'), completeTurn('item_3')];
    for (const turn of [first, second, third]) turns.add(turn, PARAMS);
    expect([turns.pendingBytes, turns.unreadBytes]).toEqual([9600, 9600]);
    expect(turns.add(first, { ...PARAMS, task: 'translate' })).toBe(turns.get('item_1'));
    turns.get('item_1')?.abandon();
    const stopped = turns.get('item_2');
    stopped?.start();
    stopped?.stop();
    expect([turns.pendingBytes, turns.unreadBytes]).toEqual([0, 3200]);
    expect([turns.get('item_1'), turns.get('item_2')]).toEqual([undefined, undefined]);
    const failing = turns.get('item_3');
    void failing?.confirm();
    failing?.start();
    await settled();
    expect([turns.get('item_3'), turns.unreadBytes]).toEqual([undefined, 0]);
  });
});

describe('close', () => {
  it('writes one row per committed turn and waits for the engines', async () => {
    const step = gate();
    const { transcriptions, commit, fake, kinds, rows } = driver({ before: step.wait });
    commit(completeTurn('item_1'), PARAMS);
    transcriptions.start(completeTurn('item_2'), PARAMS);
    const third = completeTurn('item_3');
    transcriptions.start(third, PARAMS);
    void transcriptions.confirm(third, PARAMS);
    void transcriptions.confirm(completeTurn('item_4'), { ...PARAMS, task: 'translate' });
    transcriptions.abandon('item_4');
    await step.reached;
    let closed = false;
    const closing = transcriptions.close().then(() => {
      closed = true;
    });
    await settled();
    expect(closed).toBe(false);
    step.pass();
    await closing;
    expect(fake.leftEarly).toBe(3);
    expect(kinds()).toEqual(['row', 'row', 'row']);
    expect(rows().map(({ status, endpoint, audioSeconds }) => [status, endpoint, audioSeconds])).toEqual([
      ['cancelled', '/v1/audio/translations', 0],
      ['cancelled', '/v1/audio/transcriptions', 0],
      ['cancelled', '/v1/audio/transcriptions', 0],
    ]);
  });

  it('resolves immediately if nothing runs, and is idempotent', async () => {
    const { transcriptions, kinds } = driver();
    await transcriptions.close();
    await transcriptions.close();
    expect(kinds()).toEqual([]);
  });

  it('waits for rows that are being stored', async () => {
    const step = gate();
    const { transcriptions, rows } = driver({ storing: step.wait });
    void transcriptions.confirm(completeTurn(), PARAMS);
    transcriptions.abandon('item_1');
    const closing = transcriptions.close();
    await step.reached;
    step.pass();
    await closing;
    expect(rows()).toMatchObject([{ status: 'cancelled', inputTokens: 0, outputTokens: 0, audioSeconds: 0 }]);
  });
});

it('a turn has its own trace, linked to the request that opened the connection', async () => {
  const tracer = new RecordingTracer();
  const request = tracer.startSpan('request');
  const { transcriptions } = request.runInContext(() => driver({ tracer }));
  request.runInContext(() => transcriptions.start(completeTurn(), PARAMS));
  await transcriptions.close();
  expect(tracer.spans[1]).toMatchObject({
    name: 'turn',
    parent: undefined,
    cause: request.traceparent,
    ended: true,
    attributes: { request_id: 'req_1', model: 'svc-stt' },
  });
});
