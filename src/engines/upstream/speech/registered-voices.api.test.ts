import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { spokenVoice } from '../../../../test/media/spoken-voice.ts';
import { RecordingLogger } from '../../../../tools/harness/doubles/recording-logger.ts';
import {
  type FakeCloningUpstream,
  startFakeCloningUpstream,
} from '../../../../tools/harness/upstreams/fake-cloning-upstream.ts';
import { deadBaseUrl } from '../../../../tools/harness/upstreams/fake-upstream.ts';
import { wavHeader } from '../../../audio/wav.ts';
import { ServiceError } from '../../../contract/core/error.ts';
import type { SynthesisRequest, TtsEngine } from '../../../contract/engines/engine.ts';
import type { SpokenVoice } from '../../../contract/engines/spoken-voice.ts';
import { waitForAbort } from '../../../kit/async/wait-for-abort.ts';
import { upstreamTtsEngine } from './engine.ts';
import { RegisteredVoices } from './registered-voices.ts';

const never = new AbortController().signal;
const REQUEST: SynthesisRequest = {
  text: 'My private diary.',
  speed: 1,
  priority: 'interactive',
  fairnessKey: 'a',
  delivery: 'stream',
};

let upstream: FakeCloningUpstream;
let log: RecordingLogger;
beforeEach(() => {
  upstream = startFakeCloningUpstream();
  log = new RecordingLogger();
  onTestFinished(() => upstream.close());
});

function createEngine(
  voices: 'register' | 'inline' | 'none',
  baseUrl = upstream.baseUrl,
  deletionTimeoutMs?: number,
): TtsEngine {
  const engine = upstreamTtsEngine({
    settings: {
      kind: 'upstream',
      baseUrl,
      apiKey: undefined,
      model: 'base',
      rateHz: 24_000,
      voice: 'vivian',
      voices,
    },
    log,
    ...(deletionTimeoutMs !== undefined && { deletionTimeoutMs }),
  });
  onTestFinished(() => engine.close());
  return engine;
}

/** A voice whose clip is 2 s of samples with one value, which identifies its speech. Counts reads of the clip. */
function voiceOf(value: number): SpokenVoice & { readonly reads: () => number } {
  let reads = 0;
  const samples = new Int16Array(32_000).fill(value);
  const clip = async () => {
    reads += 1;
    return Buffer.concat([wavHeader(samples.byteLength, 16_000), new Uint8Array(samples.buffer)]);
  };
  return { ...spokenVoice({ clip }), reads: () => reads };
}

/** The distinct sample values of a synthesis with a voice. */
async function synthesizedValues(engine: TtsEngine, voice: SpokenVoice, signal = never): Promise<number[]> {
  const values = new Set<number>();
  for await (const run of engine.synthesize({ ...REQUEST, voice }, signal)) {
    for (const sample of run) values.add(sample * 32_768);
  }
  return [...values];
}

/** Blocks the next upload until `release` is called. */
function blockUploads() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  upstream.beforeUpload = () => {
    start();
    return released;
  };
  return { started, release };
}

describe("voices: 'register'", () => {
  it('uploads the clip once, with the id and the transcript of the voice', async () => {
    const engine = createEngine('register');
    const [anna, bert] = [voiceOf(5), voiceOf(7)];
    expect(await synthesizedValues(engine, anna)).toEqual([5]);
    expect(await synthesizedValues(engine, bert)).toEqual([7]);
    expect(await synthesizedValues(engine, anna)).toEqual([5]);
    expect(upstream.uploads).toBe(2);
    expect([anna.reads(), bert.reads()]).toEqual([1, 1]);
    expect(upstream.voices.get(anna.id)).toMatchObject({ refText: anna.refText, consent: anna.id });
    expect(upstream.bodies[0]).toEqual({
      model: 'base',
      input: REQUEST.text,
      voice: anna.id,
      response_format: 'pcm',
      stream_format: 'audio',
    });
  });

  it('uploads once for concurrent requests, even if one of them is aborted', async () => {
    const engine = createEngine('register');
    const anna = voiceOf(5);
    const { started, release } = blockUploads();
    const leaving = new AbortController();
    const left = synthesizedValues(engine, anna, leaving.signal);
    await started;
    const others = [synthesizedValues(engine, anna), synthesizedValues(engine, anna)];
    leaving.abort(new Error('hung up'));
    await expect(left).rejects.toThrow('hung up');
    release();
    expect(await Promise.all(others)).toEqual([[5], [5]]);
    expect([upstream.uploads, anna.reads()]).toEqual([1, 1]);
  });

  it('uploads again, once, after the server has lost the voice', async () => {
    const engine = createEngine('register');
    const anna = voiceOf(5);
    await synthesizedValues(engine, anna);
    upstream.restart('restores');
    await synthesizedValues(engine, anna);
    expect(upstream.uploads).toBe(1);
    upstream.restart('forgets');
    const all = await Promise.all([
      synthesizedValues(engine, anna),
      synthesizedValues(engine, anna),
      synthesizedValues(engine, anna),
    ]);
    expect(all).toEqual([[5], [5], [5]]);
    expect(upstream.uploads).toBe(2);
    expect(log.lines).toEqual([]);
  });

  it('retries only once if the server rejects the text', async () => {
    const engine = createEngine('register');
    const anna = voiceOf(5);
    await synthesizedValues(engine, anna);
    const blank = Array.fromAsync(engine.synthesize({ ...REQUEST, text: ' ', voice: anna }, never));
    await expect(blank).rejects.toMatchObject({ kind: 'upstream', message: /HTTP status 400/ });
    expect([upstream.uploads, upstream.bodies.length]).toEqual([2, 3]);
  });

  it('fails the request if the upload fails, and the next request uploads again', async () => {
    const engine = createEngine('register');
    upstream.maxVoices = 0;
    const anna = voiceOf(5);
    await expect(synthesizedValues(engine, anna)).rejects.toMatchObject({
      kind: 'upstream',
      code: 'upstream_error',
    });
    expect(upstream.bodies).toEqual([]);
    upstream.maxVoices = 1;
    expect(await synthesizedValues(engine, anna)).toEqual([5]);
  });

  it('sends nothing if the clip is not available', async () => {
    const gone = spokenVoice({
      clip: () => Promise.reject(new ServiceError('not_found', 'The stored voice was deleted.')),
    });
    await expect(synthesizedValues(createEngine('register'), gone)).rejects.toMatchObject({
      kind: 'not_found',
    });
    expect([upstream.uploads, upstream.bodies.length]).toEqual([0, 0]);
  });

  it('is not ready if the server is unavailable', async () => {
    const engine = createEngine('register', await deadBaseUrl());
    await expect(synthesizedValues(engine, voiceOf(5))).rejects.toMatchObject({ kind: 'upstream' });
    expect(engine.ready().ready).toBe(false);
  });

  it('aborts an upload when the engine closes', async () => {
    const engine = createEngine('register');
    const { started } = blockUploads();
    const speaking = synthesizedValues(engine, voiceOf(5));
    await started;
    await engine.close();
    await expect(speaking).rejects.toMatchObject({ kind: 'overloaded' });
  });

  it('deletes a deleted voice from the server, and ignores voices that the server does not know', async () => {
    const engine = createEngine('register');
    const [anna, bert] = [voiceOf(5), voiceOf(7)];
    for (const voice of [anna, bert]) await synthesizedValues(engine, voice);
    // Another process may have uploaded it.
    await createEngine('register').deleteVoice?.(anna.id);
    expect([...upstream.voices.keys()]).toEqual([bert.id]);
    for (const voice of [anna, spokenVoice(), bert]) await engine.deleteVoice?.(voice.id);
    expect(upstream.voices.size).toBe(0);
    expect(log.lines).toEqual([]);
  });

  it('deletes a voice after its running upload', async () => {
    const engine = createEngine('register');
    const anna = voiceOf(5);
    const { started, release } = blockUploads();
    const speaking = synthesizedValues(engine, anna).catch(() => undefined);
    await started;
    const removed = engine.deleteVoice?.(anna.id);
    release();
    await Promise.all([removed, speaking]);
    expect([upstream.uploads, upstream.deletions]).toEqual([1, 1]);
    expect(upstream.voices.size).toBe(0);
  });

  it('aborts a running upload when the deletion times out', async () => {
    const engine = createEngine('register', upstream.baseUrl, 50);
    const anna = voiceOf(5);
    const { started, release } = blockUploads();
    const speaking = expect(synthesizedValues(engine, anna)).rejects.toMatchObject({
      code: 'voice_not_found',
    });
    await started;
    await engine.deleteVoice?.(anna.id);
    await speaking;
    expect(upstream.deletions).toBe(1);
    release();
  });

  it('reports a failed deletion, and uploads the voice again for the next request', async () => {
    const engine = createEngine('register');
    const anna = voiceOf(5);
    await synthesizedValues(engine, anna);
    upstream.isStuck = true;
    await expect(engine.deleteVoice?.(anna.id)).rejects.toMatchObject({
      kind: 'upstream',
      message: /HTTP status 500/,
    });
    expect(await synthesizedValues(engine, anna)).toEqual([5]);
    expect(upstream.uploads).toBe(2);
  });

  it('uses the configured voice for requests without a voice', async () => {
    const own = Array.fromAsync(createEngine('register').synthesize(REQUEST, never));
    await expect(own).rejects.toMatchObject({ kind: 'upstream' });
    expect(upstream.bodies).toMatchObject([{ voice: 'vivian' }]);
    expect(upstream.uploads).toBe(0);
  });
});

describe("voices: 'inline'", () => {
  it('sends the clip with each request, and reads it once for all sentences', async () => {
    const engine = createEngine('inline');
    const anna = voiceOf(5);
    expect(await synthesizedValues(engine, anna)).toEqual([5]);
    expect(await synthesizedValues(engine, anna)).toEqual([5]);
    expect(upstream.bodies[0]).toEqual({
      model: 'base',
      input: REQUEST.text,
      ref_audio: expect.stringMatching(/^data:audio\/wav;base64,UklGR/),
      ref_text: anna.refText,
      task_type: 'Base',
      response_format: 'pcm',
      stream_format: 'audio',
    });
    await engine.deleteVoice?.(anna.id);
    expect([upstream.uploads, upstream.deletions, anna.reads()]).toEqual([0, 0, 1]);
  });
});

it("voices: 'none' rejects stored voices and sends nothing", async () => {
  const anna = voiceOf(5);
  await expect(synthesizedValues(createEngine('none'), anna)).rejects.toMatchObject({
    kind: 'invalid_request',
    param: 'voice',
  });
  expect([upstream.uploads, upstream.bodies.length, anna.reads()]).toEqual([0, 0, 0]);
});

describe('RegisteredVoices', () => {
  it('evicts the least recently used voice', async () => {
    const uploaded: string[] = [];
    const registeredVoices = new RegisteredVoices(async ({ id }) => void uploaded.push(id), 2);
    const [a, b, c] = [spokenVoice(), spokenVoice(), spokenVoice()];
    for (const voice of [a, b, a, c, a, b]) await registeredVoices.ensure(voice).uploaded;
    expect(uploaded).toEqual([a.id, b.id, c.id, b.id]);
  });

  it('removes a voice after its running upload, which the timeout aborts', async () => {
    const steps: string[] = [];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const registeredVoices = new RegisteredVoices(async (_, signal) => {
      await Promise.race([released, waitForAbort(signal)]);
      steps.push(signal.aborted ? 'aborted' : 'uploaded');
      signal.throwIfAborted();
    });
    const [anna, bert] = [spokenVoice(), spokenVoice()];
    const rejection = expect(registeredVoices.ensure(bert).uploaded).rejects.toMatchObject({
      code: 'voice_not_found',
    });
    await registeredVoices.remove(bert.id, AbortSignal.abort());
    await rejection;
    void registeredVoices.ensure(anna);
    const removed = registeredVoices.remove(anna.id, never).then(() => steps.push('forgotten'));
    await new Promise((resolve) => setImmediate(resolve));
    steps.push('go on');
    release();
    await removed;
    expect(steps).toEqual(['aborted', 'go on', 'uploaded', 'forgotten']);
    await registeredVoices.remove(spokenVoice().id, never);
  });

  it('does not invalidate a newer registration', () => {
    let uploads = 0;
    const registeredVoices = new RegisteredVoices(async () => {
      uploads += 1;
    });
    const voice = spokenVoice();
    const first = registeredVoices.ensure(voice);
    registeredVoices.invalidate(voice, first);
    const second = registeredVoices.ensure(voice);
    registeredVoices.invalidate(voice, first);
    expect(registeredVoices.ensure(voice)).toBe(second);
    expect(uploads).toBe(2);
  });
});
