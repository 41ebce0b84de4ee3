import { heapStats } from 'bun:jsc';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ServiceError } from '../../../src/contract/core/error.ts';
import type {
  AudioChunk,
  SttEngine,
  TranscriptionEvent,
  TranscriptionRequest,
} from '../../../src/contract/engines/engine.ts';
import { CLOSE, type Socket } from '../../../src/http/transport/socket.ts';
import { untilAborted } from '../../../src/kit/async/until-aborted.ts';
import { noopTracer } from '../../../src/kit/logging/spans.ts';
import { createMetrics } from '../../../src/metrics/registry.ts';
import { settled } from '../../../test/doubles/fake-vad-engine.ts';
import { OrderedVadEngine, type VadOrder } from '../../../test/doubles/scripted-engines.ts';
import { metricValue } from '../../../test/harness/metric-values.ts';
import { inDeepTier } from '../../../test/harness/tier.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { MAX_BUFFERED_BYTES, MAX_TURNS, type PhoneCall } from './phone-call.ts';
import { PhoneCalls } from './phone-calls.ts';

const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;
const RATE_HZ = 16_000;
/** Sample values of the two channels. */
const CUSTOMER = 8192;
const ASSISTANT = -4096;
const START = { type: 'start', encoding: 'linear16', container: 'raw', sampleRate: RATE_HZ, channels: 2 };

/** Audio of both channels, of the given duration. */
function stereo(lengthMs: number, rateHz = RATE_HZ): Uint8Array {
  const samples = new Int16Array((lengthMs * rateHz) / 500);
  for (let i = 0; i < samples.length; i++) samples[i] = i % 2 === 0 ? CUSTOMER : ASSISTANT;
  return new Uint8Array(samples.buffer);
}

/** A socket that reports `closed` before `close` returns, as Bun's do. */
class FakeSocket implements Socket {
  readonly sent: Record<string, unknown>[] = [];
  closedWith: number | undefined;
  readonly #owner: PhoneCall;

  constructor(owner: PhoneCall) {
    this.#owner = owner;
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  async ready(): Promise<void> {}

  close(code: number): void {
    if (this.closedWith !== undefined) return;
    this.closedWith = code;
    this.#owner.closed();
  }
}

/** Audio and request of one transcription. */
interface RecordedRequest {
  readonly request: TranscriptionRequest;
  readonly samples: number[];
}

interface EngineOptions {
  /** `counted`: the audio is not retained. */
  readonly recording?: 'counted';
  /** The text of a transcription, from its index among those of its kind and its audio. */
  readonly text?: (kind: 'turn' | 'partial', at: number) => string;
  /** Awaited before the text is yielded. */
  readonly before?: (kind: 'turn' | 'partial', at: number, signal: AbortSignal) => Promise<void> | void;
}

/** Records the audio it receives. A request with priority `batch` is a partial. */
class HearingEngine implements SttEngine {
  readonly languages = ['en', 'de'];
  readonly hasPreviews = false;
  readonly turns: RecordedRequest[] = [];
  readonly partials: RecordedRequest[] = [];
  readonly #options: EngineOptions;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  async *transcribe(
    audio: AsyncIterable<AudioChunk>,
    request: TranscriptionRequest,
    signal: AbortSignal,
  ): AsyncGenerator<TranscriptionEvent, void, undefined> {
    const kind = request.priority === 'batch' ? 'partial' : 'turn';
    const recorded: RecordedRequest = { request, samples: [] };
    const at = (kind === 'turn' ? this.turns : this.partials).push(recorded) - 1;
    let count = 0;
    for await (const piece of untilAborted(audio, signal)) {
      if (piece === 'pause') continue;
      count += piece.length;
      if (this.#options.recording !== 'counted') recorded.samples.push(...piece);
    }
    await this.#options.before?.(kind, at, signal);
    signal.throwIfAborted();
    const text = this.#options.text?.(kind, at) ?? (kind === 'turn' ? `Turn ${at}.` : `so far ${at}`);
    if (text !== '') yield { kind: 'delta', text };
    const counts = { inputTokens: { audio: 7, text: 0 }, outputTokens: 5, segments: [], words: [] };
    const durationS = count / 16_000;
    yield { kind: 'final', transcript: { text, language: 'en', durationS, ...counts } };
  }

  ready() {
    return { ready: true };
  }

  async close() {}
}

interface Options extends EngineOptions, RecordedCallsOptions {
  /** Speech of each detector, in ms of the customer's audio. */
  readonly speech?: readonly VadOrder['vad'][];
  readonly query?: string;
  readonly partialMs?: number;
}

/** A call with an open socket that sends 100 ms of audio at a time. */
function openTestCall({ speech = [], query = '', partialMs = 0, ...options }: Options = {}) {
  const engine = new HearingEngine(options);
  const vad = new OrderedVadEngine();
  for (const each of speech) vad.give({ vad: each });
  const log = new RecordingLogger();
  const clock = new ManualClock();
  const billing = new RecordedCalls(options);
  const metrics = createMetrics(clock);
  onTestFinished(() => metrics.close());
  const calls = new PhoneCalls({
    stt: { ids: ['svc-stt'], get: (id): SttEngine | undefined => (id === 'svc-stt' ? engine : undefined) },
    vad,
    calls: billing,
    clock,
    log,
    metrics,
    tracer: noopTracer,
    perOrganization: 1,
    silenceMs: 300,
    partialMs,
  });
  const call = calls.openCall(CALLER, new URLSearchParams(query));
  const socket = new FakeSocket(call);
  call.opened(socket);
  return {
    engine,
    vad,
    log,
    clock,
    metrics,
    calls,
    call,
    socket,
    billing,
    rows: billing.rows,
    start: (fields: object = {}) => call.received(JSON.stringify({ ...START, ...fields })),
    async talk(lengthMs: number, rateHz = RATE_HZ) {
      for (let at = 0; at < lengthMs; at += 100) {
        clock.advance(100);
        call.received(stereo(100, rateHz));
        await settled();
      }
    },
    /** Transcripts sent as `final: text`, errors as `error: text`. */
    sent: () =>
      socket.sent.map(({ type, transcription, transcriptType, error }) =>
        type === 'error' ? `error: ${error}` : `${transcriptType}: ${transcription}`,
      ),
  };
}

/** A step that a test releases. */
function gate() {
  const { promise: open, resolve: pass } = Promise.withResolvers<void>();
  return { wait: () => open, pass };
}

const ONE_TURN = [[500, 1500]] as const;

describe('a customer turn', () => {
  it('is transcribed without the assistant and has one usage row', async () => {
    const { start, talk, engine, socket, rows } = openTestCall({ speech: [ONE_TURN] });
    start();
    await talk(2500);
    expect(socket.sent).toEqual([
      {
        type: 'transcriber-response',
        transcription: 'Turn 0.',
        channel: 'customer',
        transcriptType: 'final',
      },
    ]);
    expect(rows).toEqual([
      {
        endpoint: 'POST /v1/transcribers/partner',
        organization: 'a',
        requestId: 'req_1',
        model: 'svc-stt',
        status: 'completed',
        inputTokens: 7,
        outputTokens: 5,
        audioSeconds: 1.4,
        transcript: 'Turn 0.',
      },
    ]);
    expect(engine.turns).toHaveLength(1);
    const [turn] = engine.turns;
    expect(turn?.request).toEqual({
      task: 'transcribe',
      language: undefined,
      prompt: undefined,
      timestamps: 'none',
      priority: 'realtime',
      fairnessKey: 'key',
    });
    // Its prefix, its speech and its tail, all from the customer's channel.
    expect(turn?.samples).toEqual(new Array(1.4 * RATE_HZ).fill(CUSTOMER / 32_768));
  });

  it('is transcribed from frames of any size, also without a start message', async () => {
    const { call, engine, sent } = openTestCall({ speech: [ONE_TURN] });
    const bytes = stereo(2500);
    for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7 + 3) % 4099) {
      call.received(bytes.slice(at, at + size));
    }
    await settled();
    expect(sent()).toEqual(['final: Turn 0.']);
    expect(engine.turns[0]?.samples.every((sample) => sample === CUSTOMER / 32_768)).toBe(true);
  });

  it('may be a single channel at another sample rate', async () => {
    const { start, call, engine, sent } = openTestCall({ speech: [ONE_TURN] });
    start({ sampleRate: 8000, channels: 1 });
    call.received(new Uint8Array(2.5 * 8000 * 2));
    await settled();
    expect(sent()).toEqual(['final: Turn 0.']);
    expect(engine.turns[0]?.samples).toHaveLength(1.4 * 16_000);
  });

  it.each([
    ['', {}, undefined],
    ['', { language: 'de' }, 'de'],
    ['', { language: 'de-DE' }, 'de'],
    ['?language=de_AT', {}, 'de'],
    ['?language=', { language: 'German' }, 'de'],
    ['', { language: 'xx' }, undefined],
    ['language=en', { language: 'de' }, 'en'],
  ])('has the language of the query (%s) or of the start message (%j)', async (query, fields, language) => {
    const { start, talk, engine } = openTestCall({ speech: [ONE_TURN], query });
    start(fields);
    await talk(2500);
    expect(engine.turns[0]?.request.language).toBe(language);
  });

  it('without words is not sent and has no usage row', async () => {
    const { start, talk, sent, rows, billing } = openTestCall({ speech: [ONE_TURN], text: () => '' });
    start();
    await talk(2500);
    expect([sent(), rows, billing.openings.length, billing.unended]).toEqual([[], [], 1, 0]);
  });

  it('is sent after earlier turns, even if it was transcribed first', async () => {
    const step = gate();
    const { start, talk, sent, rows } = openTestCall({
      speech: [[...ONE_TURN, [2500, 3000]]],
      before: (_, at) => (at === 0 ? step.wait() : undefined),
    });
    start();
    await talk(4000);
    expect([sent(), rows.length]).toEqual([[], 1]);
    step.pass();
    await settled();
    expect(sent()).toEqual(['final: Turn 0.', 'final: Turn 1.']);
  });

  it('that fails is sent as an error and has its row; the call continues', async () => {
    const { start, talk, sent, rows, socket, log } = openTestCall({
      speech: [[...ONE_TURN, [2500, 3000]]],
      before: (_, at) => {
        if (at === 0) throw new ServiceError('upstream', 'The other server hung up.');
      },
    });
    start();
    await talk(4000);
    expect(sent()).toEqual(['error: The other server hung up.', 'final: Turn 1.']);
    expect(rows.map(({ status }) => status)).toEqual(['failed', 'completed']);
    expect(socket.closedWith).toBeUndefined();
    expect(log.lines).toMatchObject([{ message: 'transcription failed', fields: { request_id: 'req_1' } }]);
  });

  it.each([new Error('private words'), new ServiceError('internal', 'private words')])(
    'that fails does not expose internal details',
    async (error) => {
      const before = () => {
        throw error;
      };
      const { start, talk, sent } = openTestCall({ speech: [ONE_TURN], before });
      start();
      await talk(2500);
      expect(sent()).toEqual(['error: Internal server error.']);
    },
  );

  it('that the credits do not cover is rejected and not transcribed', async () => {
    const opening = () => {
      throw new ServiceError('insufficient_quota', 'This may cost 2 credits.');
    };
    const { start, talk, sent, rows, engine } = openTestCall({ speech: [ONE_TURN], partialMs: 200, opening });
    start();
    await talk(2500);
    expect([sent(), rows, engine.partials]).toEqual([['error: This may cost 2 credits.'], [], []]);
  });

  it('reserves credits for its maximum length', async () => {
    const { start, talk, billing } = openTestCall({ speech: [ONE_TURN] });
    start({ sampleRate: 8000 });
    await talk(1000, 8000);
    expect(billing.openings).toMatchObject([{ maxUsage: { audioSeconds: MAX_BUFFERED_BYTES / 2 / 8000 } }]);
  });
});

describe('partials', () => {
  it('transcribe the whole turn repeatedly and stop at its end', async () => {
    const { start, talk, sent, engine, metrics } = openTestCall({ speech: [ONE_TURN], partialMs: 400 });
    start();
    await talk(3000);
    expect(sent()).toEqual(['partial: so far 0', 'partial: so far 1', 'partial: so far 2', 'final: Turn 0.']);
    expect(await metricValue(metrics, 'partner_partials_total')).toBe(3);
    expect(await metricValue(metrics, 'partner_turns_total{status="completed"}')).toBe(1);
    expect(await metricValue(metrics, 'partner_final_seconds_count')).toBe(1);
    expect(await metricValue(metrics, 'partner_open_calls')).toBe(1);
    // The turn starts at 200 ms; it is detected at 600 ms and transcribed after each further 400 ms.
    expect(engine.partials.map(({ samples }) => samples.length / 16)).toEqual([500, 900, 1300]);
    expect(engine.partials.flatMap(({ samples }) => samples).every((each) => each > 0)).toBe(true);
    expect(engine.partials[0]?.request).toMatchObject({ priority: 'batch', fairnessKey: 'key' });
  });

  it('are sent only if the text has changed and is not empty', async () => {
    const text = (kind: string, at: number) =>
      kind === 'turn' ? 'All.' : (['', 'some', 'some'][at] ?? 'more');
    const { start, talk, sent, engine } = openTestCall({ speech: [ONE_TURN], partialMs: 300, text });
    start();
    await talk(3000);
    expect(engine.partials.length).toBeGreaterThan(3);
    expect(sent()).toEqual(['partial: some', 'partial: more', 'final: All.']);
  });

  it('are not created without speech, nor when they are turned off', async () => {
    const silent = openTestCall({ speech: [[]], partialMs: 100 });
    silent.start();
    await silent.talk(3000);
    expect([silent.engine.partials, silent.engine.turns]).toEqual([[], []]);
    const off = openTestCall({ speech: [ONE_TURN], partialMs: 0 });
    off.start();
    await off.talk(3000);
    expect([off.engine.partials, off.sent()]).toEqual([[], ['final: Turn 0.']]);
  });

  it('use at most half of the time: the pause is as long as the last transcription', async () => {
    const step = gate();
    const { start, talk, engine } = openTestCall({
      speech: [[[500, 9000]]],
      partialMs: 100,
      before: (kind, at) => (kind === 'partial' && at === 0 ? step.wait() : undefined),
    });
    start();
    await talk(2600);
    // One at a time: it started at 700 ms.
    expect(engine.partials).toHaveLength(1);
    step.pass();
    await settled();
    await talk(1800);
    expect(engine.partials).toHaveLength(1);
    await talk(100);
    expect(engine.partials).toHaveLength(2);
  });

  it('are not sent after the end of their turn, even if the engine finishes late', async () => {
    const step = gate();
    const { start, talk, sent } = openTestCall({
      speech: [ONE_TURN],
      partialMs: 400,
      before: (kind) => (kind === 'partial' ? step.wait() : undefined),
    });
    start();
    await talk(3000);
    step.pass();
    await settled();
    expect(sent()).toEqual(['final: Turn 0.']);
  });

  it('that fail are skipped', async () => {
    const { start, talk, sent, log } = openTestCall({
      speech: [ONE_TURN],
      partialMs: 400,
      before: (kind) => {
        if (kind === 'partial') throw new ServiceError('overloaded', 'Too much to do.');
      },
    });
    start();
    await talk(3000);
    expect([sent(), log.lines]).toEqual([['final: Turn 0.'], []]);
  });

  it('stop after 30 s, the window of a transcription model', async () => {
    const { start, talk, engine } = openTestCall({ speech: [[[500, 60_000]]], partialMs: 1000 });
    start();
    await talk(45_000);
    const maxLengthS = Math.max(...engine.partials.map(({ samples }) => samples.length / 16_000));
    expect(maxLengthS).toBeGreaterThan(28);
    expect(maxLengthS).toBeLessThanOrEqual(30);
  });
});

describe('a start message', () => {
  it('that is invalid closes the call with an error; an open turn has its row', async () => {
    const { start, talk, sent, socket, rows } = openTestCall({ speech: [[[500, 9000]]] });
    start();
    await talk(1500);
    start({ encoding: 'mulaw' });
    await settled();
    expect(sent()).toEqual([expect.stringMatching(/^error: 'encoding' must be .*linear16/)]);
    expect(socket.closedWith).toBe(CLOSE.policy);
    expect(rows).toMatchObject([{ status: 'completed', transcript: 'Turn 0.' }]);
  });

  it('that arrives later changes the audio format from there on', async () => {
    const { start, talk, sent, engine } = openTestCall({ speech: [ONE_TURN, ONE_TURN] });
    await talk(2500);
    start({ sampleRate: 8000 });
    await talk(2500, 8000);
    expect(sent()).toEqual(['final: Turn 0.', 'final: Turn 1.']);
    expect(engine.turns.map(({ samples }) => samples.length)).toEqual([22_400, 22_400]);
  });

  it('does not include other text frames', async () => {
    const { call, talk, sent, socket } = openTestCall({ speech: [ONE_TURN] });
    for (const text of ['', 'hello', '{"type":"model-output"}', '{"type":"stop"}', '[1]'])
      call.received(text);
    await talk(2500);
    expect([sent(), socket.closedWith]).toEqual([['final: Turn 0.'], undefined]);
  });
});

describe('the end of a call', () => {
  it('during a turn transcribes it and then releases all resources', async () => {
    const step = gate();
    const { start, talk, call, calls, rows } = openTestCall({ speech: [[[500, 9000]]], before: step.wait });
    start();
    await talk(1500);
    call.closed();
    await settled();
    expect(rows).toEqual([]);
    expect(() => calls.openCall(CALLER, new URLSearchParams())).toThrow('1 of 1 partner calls in flight');
    step.pass();
    await settled();
    expect(rows).toMatchObject([{ status: 'completed', audioSeconds: 1.3, transcript: 'Turn 0.' }]);
    calls.openCall(CALLER, new URLSearchParams()).closed();
    await calls.close();
  });

  it('immediately after its audio still detects the turn', async () => {
    const { start, call, rows, calls } = openTestCall({ speech: [ONE_TURN] });
    start();
    call.received(stereo(1200));
    call.closed();
    await settled();
    expect(rows).toMatchObject([{ status: 'completed' }]);
    await calls.close();
  });

  it('without speech or without audio is immediate', async () => {
    for (const said of [false, true]) {
      const { start, talk, call, calls, rows } = openTestCall({ speech: [[]] });
      if (said) {
        start();
        await talk(1000);
      }
      call.closed();
      await settled();
      expect(rows).toEqual([]);
      calls.openCall(CALLER, new URLSearchParams());
    }
  });

  it('on shutdown sends the last turn first', async () => {
    const step = gate();
    const { start, talk, calls, sent, socket, rows } = openTestCall({
      speech: [[[500, 9000]]],
      before: step.wait,
    });
    start();
    await talk(1500);
    const drained = calls.drain(new AbortController().signal);
    await settled();
    expect(socket.closedWith).toBeUndefined();
    await talk(500);
    step.pass();
    await drained;
    expect([sent(), socket.closedWith]).toEqual([['final: Turn 0.'], CLOSE.goingAway]);
    expect(rows).toMatchObject([{ status: 'completed', audioSeconds: 1.3 }]);
  });

  it('on shutdown is immediate for a call without speech', async () => {
    const { calls, socket } = openTestCall();
    await calls.drain(new AbortController().signal);
    expect(socket.closedWith).toBe(CLOSE.goingAway);
  });

  it('after the drain period stops the engines; the turn has its row', async () => {
    const late = new AbortController();
    const { start, talk, calls, rows, sent, socket } = openTestCall({
      speech: [[[500, 9000]]],
      before: (_, __, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    });
    start();
    await talk(1500);
    const drained = calls.drain(late.signal);
    await settled();
    late.abort();
    await drained;
    expect(rows).toMatchObject([{ status: 'cancelled' }]);
    expect([sent(), socket.closedWith]).toEqual([[], CLOSE.goingAway]);
  });
});

describe('limits', () => {
  it('close the call with an error if too much audio is unprocessed', async () => {
    const { start, call, sent, socket } = openTestCall();
    start();
    const minute = new Uint8Array(MAX_BUFFERED_BYTES * 2);
    call.received(minute);
    expect(socket.closedWith).toBeUndefined();
    call.received(stereo(100));
    expect(sent()).toEqual([expect.stringMatching(/^error: Audio arrives faster/)]);
    expect(socket.closedWith).toBe(CLOSE.tryAgainLater);
    await settled();
  });

  it('close the call with an error if too many turns are pending; each has its row', async () => {
    const step = gate();
    const speech = Array.from({ length: MAX_TURNS + 1 }, (_, i) => [i * 1000 + 100, i * 1000 + 400] as const);
    const { start, talk, sent, socket, rows, calls } = openTestCall({ speech: [speech], before: step.wait });
    start();
    await talk(MAX_TURNS * 1000);
    expect(socket.closedWith).toBeUndefined();
    await talk(400);
    expect(sent()).toEqual([expect.stringMatching(/^error: Audio arrives faster/)]);
    expect(socket.closedWith).toBe(CLOSE.tryAgainLater);
    step.pass();
    await calls.drain(new AbortController().signal);
    expect(rows).toHaveLength(MAX_TURNS + 1);
  });

  it('of models and languages are checked before the upgrade', () => {
    const { calls, call } = openTestCall();
    call.closed();
    expect(() => calls.openCall(CALLER, new URLSearchParams('model=other'))).toThrow('Unknown model');
    expect(() => calls.openCall(CALLER, new URLSearchParams('language=xx'))).toThrow(
      "'language' must be one of en, de.",
    );
  });
});

// The memory of all tests in this process is measured.
const accumulatesNoMemory = async () => {
  const speech = Array.from({ length: 180 }, (_, i) => [i * 10_000 + 1000, i * 10_000 + 5000] as const);
  const { start, talk, sent } = openTestCall({ speech: [speech], partialMs: 700, recording: 'counted' });
  const memoryBytes = () => {
    Bun.gc(true);
    const { heapSize, extraMemorySize } = heapStats();
    return heapSize + extraMemorySize;
  };
  start();
  await talk(300_000);
  const before = memoryBytes();
  await talk(1_500_000);
  expect(sent().filter((text) => text.startsWith('final'))).toHaveLength(180);
  // Without discarding it would be 96 MB.
  expect(memoryBytes() - before).toBeLessThan(10_000_000);
};
inDeepTier(() => it('half an hour of audio does not accumulate memory', accumulatesNoMemory));

describe('a detector', () => {
  it('that fails is reported once, and the next one continues', async () => {
    const { start, talk, sent, socket, log } = openTestCall({ speech: ['fail', ONE_TURN] });
    start();
    await talk(2700);
    expect(sent()).toEqual(['error: Internal server error.', 'final: Turn 0.']);
    expect(socket.closedWith).toBeUndefined();
    expect(log.lines).toMatchObject([{ message: 'voice activity detection failed' }]);
  });
});
