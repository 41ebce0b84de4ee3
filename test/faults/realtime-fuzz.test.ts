import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/contract/core/error.ts';
import type { SttEngine, TtsEngine, VadEngine, VadEvent } from '../../src/contract/engines/engine.ts';
import { untilAborted } from '../../src/kit/async/until-aborted.ts';
import { seededRandom } from '../../src/kit/math/seeded-random.ts';
import type { ServerEventFrame } from '../../tools/harness/clients/realtime-client.ts';
import { settled } from '../doubles/fake-vad-engine.ts';
import { FrameFuzz } from '../generators/frame-fuzz.ts';
import { realtimeApp } from '../harness/realtime-app.ts';
import { repetitions } from '../harness/tier.ts';

/**
 * Sends thousands of valid and invalid frames over real WebSockets to the app, whose engines fail at random. Each client checks
 * all server events with the order rules, including the rejected events and their `event_id`.
 */

const CONNECTIONS = 20;
const FRAMES_EACH = repetitions(500, 5000);
const MAX_UNHANDLED_FRAMES = 100;
const random = seededRandom(20_261_121);
const chance = (probability: number) => random() < probability;

const FAILURES = ['The engine is gone.', 'private words'] as const;

function failure(): unknown {
  return chance(0.5) ? new ServiceError('upstream', FAILURES[0]) : new Error(FAILURES[1]);
}

const stt: SttEngine = {
  languages: ['en', 'de'],
  hasPreviews: false,
  async *transcribe(audio, _, signal) {
    let samples = 0;
    for await (const piece of untilAborted(audio, signal)) if (piece !== 'pause') samples += piece.length;
    const words = Array.from({ length: Math.floor(random() * 4) }, (_, at) => `word${at} `);
    for (const text of words) {
      await settled();
      yield { kind: 'delta', text };
    }
    if (chance(0.1)) throw failure();
    const counts = { inputTokens: { audio: 1, text: 0 }, outputTokens: 1, segments: [], words: [] };
    const transcript = { text: words.join(''), language: 'en', durationS: samples / 16_000, ...counts };
    yield { kind: 'final', transcript };
  },
  ready: () => ({ ready: true }),
  close: async () => {},
};

const tts: TtsEngine = {
  rateHz: 24_000,
  async *synthesize(_, signal) {
    for (let run = 0; run < 3; run++) {
      await settled();
      signal.throwIfAborted();
      if (chance(0.05)) throw failure();
      yield new Float32Array(240);
    }
  },
  ready: () => ({ ready: true }),
  close: async () => {},
};

/** Reports speech starts and ends at random. */
const vad: VadEngine = {
  openStream() {
    let written = 0;
    let isSpeech = false;
    return {
      async write(samples) {
        written += samples.length;
        await settled();
        if (chance(0.02)) throw failure();
        if (!chance(0.3)) return [];
        isSpeech = !isSpeech;
        const at = written;
        const started: VadEvent[] = [{ kind: 'started', onsetSample: at, startSample: at }];
        const ended: VadEvent[] = [
          { kind: 'paused', endSample: at },
          { kind: 'stopped', endSample: at },
        ];
        return isSpeech ? started : ended;
      },
      end: async () => [],
      close: () => {},
    };
  },
  ready: () => ({ ready: true }),
  close: async () => {},
};

let app: ReturnType<typeof realtimeApp>;
beforeAll(() => {
  app = realtimeApp({ stt, tts, vad });
});
afterAll(() => app.stop());

/** Error codes of an event. */
function codesOf({ error, response }: ServerEventFrame): unknown[] {
  const details = (response as { status_details?: { error?: { code?: unknown } } } | undefined)
    ?.status_details;
  return [(error as { code?: unknown } | undefined)?.code, details?.error?.code];
}

describe(`${CONNECTIONS * FRAMES_EACH} frames over ${CONNECTIONS} connections`, () => {
  const codes = new Set<unknown>();
  let sent = 0;

  test.each(Array.from({ length: CONNECTIONS }, (_, seed) => seed))(
    'connection %i follows the order rules',
    async (seed) => {
      const fuzz = new FrameFuzz(seededRandom(seed));
      const dialect = ['?events=spec', '?events=ga', ''][seed % 3];
      const client = await app.connect(dialect, { traced: false });
      client.send({ type: 'session.update', session: { output_modalities: ['audio'] } });
      for (let frame = 0; frame < FRAMES_EACH; frame++) {
        client.send(fuzz.next());
        sent += 1;
        if (frame % MAX_UNHANDLED_FRAMES === MAX_UNHANDLED_FRAMES - 1) await client.handled();
      }
      // Fails if responses are missing, duplicate, out of order, malformed or have a wrong event_id.
      await client.close('quiet');
      for (const event of client.events) for (const code of codesOf(event)) codes.add(code);
    },
  );

  test('the log has only the simulated errors of the engines', () => {
    expect(sent).toBe(CONNECTIONS * FRAMES_EACH);
    const errors = app.log.lines.filter(({ level }) => level === 'error').map(({ error }) => error);
    expect(
      errors.filter(
        (error) => !FAILURES.some((simulated) => error instanceof Error && error.message === simulated),
      ),
    ).toEqual([]);
  });

  test('an append beyond the limit is rejected, and the buffer is kept', async () => {
    const client = await app.connect('', { traced: false });
    const audio = new Uint8Array(25 * 1024 * 1024).toBase64();
    client.send({ type: 'input_audio_buffer.append', audio });
    client.send({ type: 'input_audio_buffer.append', event_id: 'over', audio: 'AAAA' });
    client.send({ type: 'input_audio_buffer.commit' });
    const error = await client.next('error');
    expect(error).toMatchObject({ error: { code: 'buffer_overflow', event_id: 'over', param: 'audio' } });
    await client.next('input_audio_buffer.committed');
    await client.close('quiet');
    for (const code of codesOf(error)) codes.add(code);
  });

  test('every error code occurred', () => {
    codes.delete(undefined);
    expect([...codes].sort()).toEqual([
      'buffer_overflow',
      'internal_error',
      'invalid_request_error',
      'response_in_progress',
      'unsupported_feature',
      'upstream_error',
    ]);
  });
});

test('a frame above the size limit closes the connection with 1009', async () => {
  const client = await app.connect('', { traced: false });
  client.send(`"${'x'.repeat(36 * 1024 * 1024)}"`);
  expect((await client.closed).code).toBe(1009);
});
