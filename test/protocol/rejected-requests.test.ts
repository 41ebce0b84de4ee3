import { describe, expect, it } from 'vitest';
import { EmbeddingService } from '../../plugins/responses/embeddings/service.ts';
import { ERROR_KINDS, type ErrorKind, ServiceError } from '../../src/contract/core/error.ts';
import { billedGeneration } from '../../src/generate/billed-generation.ts';
import { OpenRequests } from '../../src/kit/limits/open-requests.ts';
import { SpeechRequests } from '../../src/speak/speech-requests.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { RecordedCalls } from '../../tools/harness/doubles/recorded-calls.ts';
import { textRequest } from '../../tools/harness/models/text-responses.ts';
import { FakeEmbedEngine } from '../doubles/fake-embed-engine.ts';
import { fakeLexicons } from '../doubles/fake-lexicons.ts';
import { FakeTextEngine } from '../doubles/fake-text-engine.ts';
import { FakeTtsEngine } from '../doubles/fake-tts-engine.ts';
import { responseApp } from '../harness/response-app.ts';
import { transcriptionApp } from '../harness/transcription-app.ts';

/**
 * Rejected and failed requests of all services: a rejection before the first output leaves no usage row and costs nothing, any
 * other error leaves a failed row without consumption (docs/decisions/credits.md).
 */

const CALLER = { organization: 'a', keyId: 'key', requestId: 'req_1' } as const;
const never = new AbortController().signal;

/** Sends a request to a service whose engine fails before its first output. Returns the calls. */
type Service = (failure: () => ServiceError) => Promise<RecordedCalls>;

const speech =
  (endpoint: '/v1/audio/speech' | 'POST /v1/voices/partner'): Service =>
  async (failure) => {
    const calls = new RecordedCalls();
    const engine = new FakeTtsEngine({ runs: () => [], failure });
    const requests = new SpeechRequests({
      tts: { ids: ['svc-tts'], get: () => engine },
      calls,
      clock: new ManualClock(),
      lexicons: fakeLexicons(),
      endpoint,
      requestsPerOrganization: 1,
      voices: { find: async () => undefined, findSimilar: async () => undefined },
    });
    const params = {
      model: 'svc-tts',
      text: 'One. Two.',
      characters: 9,
      rateHz: 24_000,
      voiceId: undefined,
      voiceParam: 'voice',
      speed: 1,
      priority: 'interactive' as const,
      delivery: 'stream' as const,
    };
    await expect(requests.startSpeech(params, CALLER, never)).rejects.toThrow(ServiceError);
    return calls;
  };

const SERVICES: Readonly<Record<string, Service>> = {
  speech: speech('/v1/audio/speech'),
  'speech of the partner': speech('POST /v1/voices/partner'),
  async transcription(failure) {
    const { calls, post } = await transcriptionApp({ refusal: failure });
    expect((await post({})).ok).toBe(false);
    return calls;
  },
  async 'chat completions'(failure) {
    const calls = new RecordedCalls();
    const options = { engine: new FakeTextEngine({ refusal: failure }), model: 'm', calls, caller: CALLER };
    const { fairnessKey: _, ...request } = textRequest({});
    const events = billedGeneration({ ...options, request }, never);
    await expect(Array.fromAsync(events)).rejects.toThrow(ServiceError);
    return calls;
  },
  async responses(failure) {
    const { calls, post } = await responseApp({ refusal: failure });
    await post({ input: 'Hello.' });
    return calls;
  },
  async embeddings(failure) {
    const calls = new RecordedCalls();
    const engine = new FakeEmbedEngine({ failure });
    const service = new EmbeddingService({
      embed: { ids: ['m'], get: () => engine },
      open: new OpenRequests('text', 10),
    });
    const context = { caller: CALLER, priority: 'interactive', calls } as const;
    const params = { model: 'm', request: { inputs: ['a'] } };
    await expect(service.embed(params, context, never)).rejects.toThrow(ServiceError);
    return calls;
  },
};

const KINDS = Object.keys(ERROR_KINDS) as ErrorKind[];
const FAILURES: readonly ErrorKind[] = ['internal', 'upstream', 'timeout'];

describe.each(Object.entries(SERVICES))('%s', (_, request) => {
  it.each(KINDS)('with the error %s of its engine', async (kind) => {
    const calls = await request(() => new ServiceError(kind, 'No.'));
    expect(calls.unended).toBe(0);
    const failed = { status: 'failed', inputTokens: 0, outputTokens: 0 };
    expect(calls.rows).toMatchObject(FAILURES.includes(kind) ? [failed] : []);
    expect(calls.rows).toHaveLength(FAILURES.includes(kind) ? 1 : 0);
    for (const { characters = 0, audioSeconds = 0 } of calls.rows) {
      expect({ characters, audioSeconds }).toEqual({ characters: 0, audioSeconds: 0 });
    }
  });
});
