import { describe, expect, test } from 'vitest';
import { FakeSttEngine, type FakeSttOptions } from '../../../test/doubles/fake-stt-engine.ts';
import { FakeTurnEnd } from '../../../test/doubles/fake-turn-end.ts';
import { FakeVadEngine, type ScriptedVadEvent, settled } from '../../../test/doubles/fake-vad-engine.ts';
import { ManualClock } from '../../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls } from '../../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../../tools/harness/doubles/recording-logger.ts';
import { DEFAULT_VAD_SETTINGS } from '../../contract/engines/engine.ts';
import { noopTracer } from '../../kit/logging/spans.ts';
import { Playback } from '../playback.ts';
import type { ConversationSettings, TurnDetection } from '../settings.ts';
import { type UserEvent, UserTurns } from './user-turns.ts';

const RATE_HZ = 16_000;
const FORMAT = { encoding: 'pcm16', rateHz: RATE_HZ } as const;
const ms = (value: number) => value * (RATE_HZ / 1000);
const REACTIONS = { createResponse: true, interruptResponse: true };
const SERVER_VAD: TurnDetection = {
  type: 'server_vad',
  vad: DEFAULT_VAD_SETTINGS,
  idleTimeoutMs: undefined,
  ...REACTIONS,
};
const SEMANTIC_VAD: TurnDetection = {
  type: 'semantic_vad',
  eagerness: 'auto',
  vad: { ...DEFAULT_VAD_SETTINGS, silenceDurationMs: 4000 },
  ...REACTIONS,
};

/** Speech from 500 to 1500 ms. */
const SPEECH: readonly ScriptedVadEvent[] = [
  { atSample: ms(700), event: { kind: 'started', onsetSample: ms(500), startSample: ms(200) } },
  { atSample: ms(1600), event: { kind: 'paused', endSample: ms(1500) } },
];
const SHORT_SPEECH = [
  ...SPEECH,
  { atSample: ms(2000), event: { kind: 'stopped', endSample: ms(1500) } },
] as const;
/** Speech from 500 ms on, without a pause. */
const LONG_SPEECH = SPEECH.slice(0, 1);

interface Parts {
  readonly script?: readonly ScriptedVadEvent[];
  readonly stt?: FakeSttOptions;
  readonly turnEnd?: FakeTurnEnd;
  readonly detection?: TurnDetection;
  /** Speech of the assistant that is left to play at the start, in ms. */
  readonly assistantMs?: number;
  /** Words of the assistant that are played at the start. */
  readonly assistantText?: string;
  readonly interruptibleMs?: () => number;
}

function listening(parts: Parts = {}) {
  const { script = SHORT_SPEECH, detection = SERVER_VAD, assistantMs = 0, assistantText = '' } = parts;
  const clock = new ManualClock();
  const calls = new RecordedCalls();
  const log = new RecordingLogger();
  const stt = new FakeSttEngine({ hasPreviews: true, ...parts.stt });
  const turnEnd = parts.turnEnd ?? new FakeTurnEnd();
  const playback = new Playback(clock);
  const events: UserEvent[] = [];
  const previews: (string | undefined)[] = [];
  const settings = {
    inputFormat: FORMAT,
    turnDetection: detection,
    transcription: {},
  } as unknown as ConversationSettings;
  const turns: UserTurns = new UserTurns(
    {
      clock,
      calls,
      log,
      playback,
      turnEnd,
      tracer: noopTracer,
      model: 'svc-stt',
      vad: new FakeVadEngine({ script: (stream) => (stream === 0 ? script : []) }),
      stt: { ids: ['svc-stt'], get: () => stt },
      caller: { organization: 'a', keyId: 'key', requestId: 'req_1' } as never,
      guardsInterruptions: true,
      interruptibleMs: parts.interruptibleMs ?? (() => playback.aheadMs),
      report(event) {
        events.push(event);
        if (event.kind === 'turn_committed') turns.transcribe(event.itemId);
      },
      onPreview: (_, transcript) => previews.push(transcript),
      onPreviewRevoked: () => previews.push(undefined),
      onTurnEnd: () => undefined,
    },
    settings,
  );
  if (assistantMs > 0) {
    playback.addAudio('item_assistant', new Uint8Array(2 * ms(assistantMs)), FORMAT);
    playback.addWords('item_assistant', [{ text: assistantText, startMs: 0, endMs: assistantMs }]);
  }
  /** Sends silence in real time, up to a position. */
  const hear = async (toMs: number) => {
    while (turns.receivedMs < toMs) {
      clock.advance(20);
      turns.append(new Uint8Array(2 * ms(20)));
      await settled();
    }
    await settled();
  };
  const kinds = () => events.map(({ kind }) => kind);
  return { turns, hear, kinds, events, previews, calls, log, stt, turnEnd, playback, clock };
}

const WHOLE_TURN = [
  'speech_started',
  'speech_stopped',
  'turn_committed',
  'transcript_delta',
  'transcript_completed',
];

describe('a turn without speech of the assistant', () => {
  test('is reported as it is detected', async () => {
    const { hear, kinds, calls } = listening({ stt: { deltas: ['Hello.'] } });
    await hear(800);
    expect(kinds()).toEqual(['speech_started']);
    await hear(2100);
    expect(kinds()).toEqual(WHOLE_TURN);
    expect(calls.rows).toHaveLength(1);
  });

  test('is previewed at a pause, and the preview is revoked when speech continues', async () => {
    const script = [...SPEECH, { atSample: ms(2000), event: { kind: 'resumed' } }] as const;
    const { hear, previews } = listening({ script, stt: { deltas: ['Hello.'] } });
    await hear(1900);
    expect(previews).toEqual(['Hello.']);
    await hear(2100);
    expect(previews).toEqual(['Hello.', undefined]);
  });
});

describe('with semantic detection, a turn', () => {
  test('ends in its pause when it is complete', async () => {
    const { hear, kinds, turnEnd, events } = listening({ script: SPEECH, detection: SEMANTIC_VAD });
    await hear(1680);
    expect(kinds()).toEqual(['speech_started']);
    await hear(1740);
    expect(kinds()).toContain('transcript_completed');
    expect(events[1]).toMatchObject({ kind: 'speech_stopped', audioEndMs: 1500 });
    // The turn with its padding and 200 ms of its pause.
    expect(turnEnd.requests.map(({ length }) => length)).toEqual([ms(1500)]);
  });

  test('goes on while it is incomplete, up to the longest pause', async () => {
    const script = [
      ...SPEECH,
      { atSample: ms(5500), event: { kind: 'stopped', endSample: ms(1500) } },
    ] as const;
    const turnEnd = new FakeTurnEnd(() => 0.2);
    const stt = { sentenceEnd: 0.1 };
    const { hear, kinds } = listening({ script, detection: SEMANTIC_VAD, turnEnd, stt });
    await hear(5400);
    expect(kinds()).toEqual(['speech_started']);
    expect(turnEnd.requests).toHaveLength(7);
    await hear(5600);
    expect(kinds()).toContain('transcript_completed');
  });

  test('is not ended by a decision about an earlier pause', async () => {
    const script = [...SPEECH, { atSample: ms(1800), event: { kind: 'resumed' } }] as const;
    const { promise, resolve } = Promise.withResolvers<number>();
    const { hear, kinds } = listening({
      script,
      detection: SEMANTIC_VAD,
      turnEnd: new FakeTurnEnd(() => promise),
    });
    await hear(1900);
    resolve(1);
    await hear(2000);
    expect(kinds()).toEqual(['speech_started']);
  });

  test.each([
    [0.2, 5400],
    // A long pause can end a doubtful sentence.
    [0.5, 2050],
  ])(
    'goes on while its words are a sentence with probability %d, although it sounds complete',
    async (sentenceEnd, toMs) => {
      const script = [
        ...SPEECH,
        { atSample: ms(5500), event: { kind: 'stopped', endSample: ms(1500) } },
      ] as const;
      const { hear, kinds } = listening({ script, detection: SEMANTIC_VAD, stt: { sentenceEnd } });
      await hear(toMs - 100);
      expect(kinds()).toEqual(['speech_started']);
      await hear(toMs + 200);
      expect(kinds()).toContain('transcript_completed');
    },
  );

  test.each([
    ['auto', 2900, 3100],
    ['low', 3900, 4100],
  ] as const)('goes on inside a dictated number for longer (%s)', async (eagerness, beforeMs, afterMs) => {
    const stt = { deltas: ['My number', ' is 555.'] };
    const detection = { ...SEMANTIC_VAD, eagerness };
    const { hear, kinds } = listening({ script: SPEECH, detection, stt });
    await hear(beforeMs);
    expect(kinds()).toEqual(['speech_started']);
    await hear(afterMs);
    expect(kinds()).toContain('speech_stopped');
  });

  test('waits for its words, if the engine transcribes during pauses', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stt = { beforePreview: () => promise };
    const { hear, kinds } = listening({ script: SPEECH, detection: SEMANTIC_VAD, stt });
    await hear(1900);
    expect(kinds()).toEqual(['speech_started']);
    resolve();
    await hear(1960);
    expect(kinds()).toContain('speech_stopped');
  });

  test('is not ended by the words of an earlier pause that was too short to be examined', async () => {
    const script = [
      ...SPEECH,
      { atSample: ms(1650), event: { kind: 'resumed' } },
      { atSample: ms(2500), event: { kind: 'paused', endSample: ms(2500) } },
    ] as const;
    const { promise } = Promise.withResolvers<void>();
    let previews = 0;
    const stt = { beforePreview: async () => (previews++ === 0 ? undefined : promise) };
    const { hear, kinds, previews: reported } = listening({ script, detection: SEMANTIC_VAD, stt });
    await hear(1640);
    expect(reported).toHaveLength(1);
    await hear(2700 + 500);
    expect(kinds()).toEqual(['speech_started']);
  });

  test('is ended by its prosody if the words do not arrive', async () => {
    const stt = { hasPreviews: false };
    const early = listening({ script: SPEECH, detection: SEMANTIC_VAD, stt });
    await early.hear(1740);
    expect(early.kinds()).toContain('speech_stopped');
    const { promise } = Promise.withResolvers<void>();
    const late = listening({
      script: SPEECH,
      detection: SEMANTIC_VAD,
      stt: { beforePreview: () => promise },
    });
    await late.hear(2200);
    expect(late.kinds()).toEqual(['speech_started']);
    await late.hear(2400);
    expect(late.kinds()).toContain('speech_stopped');
  });

  test('ends after 1.5 s of silence if the model fails', async () => {
    const turnEnd = new FakeTurnEnd(() => Promise.reject(new Error('crashed')));
    const { hear, kinds, log } = listening({ script: SPEECH, detection: SEMANTIC_VAD, turnEnd });
    await hear(2900);
    expect(kinds()).toEqual(['speech_started']);
    await hear(3100);
    expect(kinds()).toContain('transcript_completed');
    expect(log.lines.map(({ message }) => message)).toContain('end-of-turn detection failed');
  });
});

describe('during speech of the assistant', () => {
  test.each([
    ['a back-channel', ['Mhm,', ' okay.']],
    ['a cough', [' (coughs)']],
    ['noise', []],
  ])('%s is ignored and not billed', async (_, deltas) => {
    const { hear, events, calls, turns, stt, previews } = listening({ stt: { deltas }, assistantMs: 9000 });
    await hear(2500);
    expect(events).toEqual([]);
    await turns.close();
    expect(calls.rows).toEqual([]);
    expect(stt.requests.length).toBeGreaterThan(0);
    expect(previews.filter((preview) => preview !== undefined)).toEqual([]);
  });

  test('words are an interruption, reported from the start of the turn', async () => {
    const { hear, kinds, calls } = listening({ stt: { deltas: ['Wait,', ' stop.'] }, assistantMs: 9000 });
    await hear(1100);
    expect(kinds()).toEqual([]);
    await hear(2100);
    expect(kinds()).toEqual([...WHOLE_TURN.slice(0, 4), ...WHOLE_TURN.slice(3)]);
    expect(calls.rows).toHaveLength(1);
  });

  test('words interrupt before the first pause', async () => {
    const deltasOf = (request: number) => (request === 0 ? [] : ['No,', ' not that one.']);
    const { hear, kinds } = listening({ script: LONG_SPEECH, stt: { deltasOf }, assistantMs: 9000 });
    await hear(1140);
    expect(kinds()).toEqual([]);
    await hear(1200);
    expect(kinds()).toEqual(['speech_started']);
  });

  test('its own words are an echo', async () => {
    const { hear, events } = listening({
      stt: { deltas: ['kitchen closes', ' at ten'] },
      assistantMs: 9000,
      assistantText: 'The kitchen closes at ten.',
    });
    await hear(2500);
    expect(events).toEqual([]);
  });

  test('a short answer to its last words is a turn', async () => {
    const { hear, kinds } = listening({ stt: { deltas: ['Yes.'] }, assistantMs: 1000 });
    await hear(2100);
    expect(kinds()).toEqual(WHOLE_TURN);
  });

  test('a turn whose transcription fails is reported', async () => {
    const { hear, kinds } = listening({
      stt: { hasPreviews: false, failure: () => new Error('broken') },
      assistantMs: 9000,
    });
    await hear(2100);
    expect(kinds()).toContain('transcript_failed');
  });

  test('words are examined once if the engine has no previews', async () => {
    const { hear, kinds } = listening({
      stt: { hasPreviews: false, deltas: ['Stop.'] },
      assistantMs: 9000,
    });
    await hear(2100);
    expect(kinds()).toEqual(WHOLE_TURN);
  });

  test('a commit of the client is a turn, whatever was said', async () => {
    const { hear, kinds, turns } = listening({ stt: { deltas: [' (coughs)'] }, assistantMs: 9000 });
    await hear(900);
    expect(kinds()).toEqual([]);
    expect(turns.commit()).toBe(true);
    await hear(1000);
    expect(kinds()).toEqual(['speech_started', ...WHOLE_TURN.slice(1)]);
  });

  test('a cleared turn reports nothing', async () => {
    const { hear, events, turns } = listening({ assistantMs: 9000, stt: { deltas: [] } });
    await hear(900);
    turns.clear();
    await hear(1000);
    expect(events).toEqual([]);
  });
});
