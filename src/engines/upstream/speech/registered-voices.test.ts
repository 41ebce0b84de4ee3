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

function open(
  voices: 'register' | 'inline' | 'none',
  baseUrl = upstream.baseUrl,
  forgetMs?: number,
): TtsEngine {
  const engine = upstreamTtsEngine({
    settings: {
      ...{ kind: 'upstream', baseUrl, apiKey: undefined, model: 'base', rateHz: 24_000 },
      ...{ voice: 'vivian', voices },
    },
    log,
    ...(forgetMs !== undefined && { forgetMs }),
  });
  onTestFinished(() => engine.close());
  return engine;
}

/** A voice whose clip is 2 s of one value, by which its speech is known; with how often it was read. */
function voiceOf(value: number): SpokenVoice & { readonly reads: () => number } {
  let reads = 0;
  const samples = new Int16Array(32_000).fill(value);
  const clip = async () => {
    reads += 1;
    return Buffer.concat([wavHeader(samples.byteLength, 16_000), new Uint8Array(samples.buffer)]);
  };
  return { ...spokenVoice({ clip }), reads: () => reads };
}

/** The value of all samples that a voice gives. */
async function said(engine: TtsEngine, voice: SpokenVoice, signal = never): Promise<number[]> {
  const values = new Set<number>();
  for await (const run of engine.synthesize({ ...REQUEST, voice }, signal)) {
    for (const sample of run) values.add(sample * 32_768);
  }
  return [...values];
}

/** An upload that goes on when the test says so. */
function heldUpload() {
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  upstream.beforeUpload = () => {
    begin();
    return held;
  };
  return { begun, goOn };
}

describe('a server that voices are registered with', () => {
  it('gets the clip once, under the id of the voice, with its words', async () => {
    const engine = open('register');
    const [anna, bert] = [voiceOf(5), voiceOf(7)];
    expect(await said(engine, anna)).toEqual([5]);
    expect(await said(engine, bert)).toEqual([7]);
    expect(await said(engine, anna)).toEqual([5]);
    expect(upstream.uploads).toBe(2);
    expect([anna.reads(), bert.reads()]).toEqual([1, 1]);
    expect(upstream.voices.get(anna.id)).toMatchObject({ refText: anna.refText, consent: anna.id });
    expect(upstream.asked[0]).toEqual({
      model: 'base',
      input: REQUEST.text,
      voice: anna.id,
      response_format: 'pcm',
      stream_format: 'audio',
    });
  });

  it('gets it once for requests that come at the same time, whoever of them leaves', async () => {
    const engine = open('register');
    const anna = voiceOf(5);
    const { begun, goOn } = heldUpload();
    const leaving = new AbortController();
    const left = said(engine, anna, leaving.signal);
    await begun;
    const others = [said(engine, anna), said(engine, anna)];
    leaving.abort(new Error('hung up'));
    await expect(left).rejects.toThrow('hung up');
    goOn();
    expect(await Promise.all(others)).toEqual([[5], [5]]);
    expect([upstream.uploads, anna.reads()]).toEqual([1, 1]);
  });

  it('that has forgotten it gets it again, once for all who notice', async () => {
    const engine = open('register');
    const anna = voiceOf(5);
    await said(engine, anna);
    upstream.restart('restores');
    await said(engine, anna);
    expect(upstream.uploads).toBe(1);
    upstream.restart('forgets');
    const all = await Promise.all([said(engine, anna), said(engine, anna), said(engine, anna)]);
    expect(all).toEqual([[5], [5], [5]]);
    expect(upstream.uploads).toBe(2);
    expect(log.lines).toEqual([]);
  });

  it('that refuses a text, and knows the voice, is not asked for ever', async () => {
    const engine = open('register');
    const anna = voiceOf(5);
    await said(engine, anna);
    const blank = Array.fromAsync(engine.synthesize({ ...REQUEST, text: ' ', voice: anna }, never));
    await expect(blank).rejects.toMatchObject({ kind: 'upstream', message: /HTTP status 400/ });
    expect([upstream.uploads, upstream.asked.length]).toEqual([2, 3]);
  });

  it('that has no room for it fails the request, and is tried again by the next', async () => {
    const engine = open('register');
    upstream.maxVoices = 0;
    const anna = voiceOf(5);
    await expect(said(engine, anna)).rejects.toMatchObject({ kind: 'upstream', code: 'upstream_error' });
    expect(upstream.asked).toEqual([]);
    upstream.maxVoices = 1;
    expect(await said(engine, anna)).toEqual([5]);
  });

  it('is sent nothing of a voice whose clip cannot be had', async () => {
    const gone = spokenVoice({
      clip: () => Promise.reject(new ServiceError('not_found', 'The stored voice was deleted.')),
    });
    await expect(said(open('register'), gone)).rejects.toMatchObject({ kind: 'not_found' });
    expect([upstream.uploads, upstream.asked.length]).toEqual([0, 0]);
  });

  it('and is away says so', async () => {
    const engine = open('register', await deadBaseUrl());
    await expect(said(engine, voiceOf(5))).rejects.toMatchObject({ kind: 'upstream' });
    expect(engine.ready().ready).toBe(false);
  });

  it('is left when the engine closes', async () => {
    const engine = open('register');
    const { begun } = heldUpload();
    const speaking = said(engine, voiceOf(5));
    await begun;
    await engine.close();
    await expect(speaking).rejects.toMatchObject({ kind: 'overloaded' });
  });

  it('deletes it when it was deleted here, and whatever it does not know is deleted already', async () => {
    const engine = open('register');
    const [anna, bert] = [voiceOf(5), voiceOf(7)];
    for (const voice of [anna, bert]) await said(engine, voice);
    // Another process may have given it away.
    await open('register').deleteVoice?.(anna.id);
    expect([...upstream.voices.keys()]).toEqual([bert.id]);
    for (const voice of [anna, spokenVoice(), bert]) await engine.deleteVoice?.(voice.id);
    expect(upstream.voices.size).toBe(0);
    expect(log.lines).toEqual([]);
  });

  it('deletes it after an upload of it that is under way', async () => {
    const engine = open('register');
    const anna = voiceOf(5);
    const { begun, goOn } = heldUpload();
    const speaking = said(engine, anna).catch(() => undefined);
    await begun;
    const forgotten = engine.deleteVoice?.(anna.id);
    goOn();
    await Promise.all([forgotten, speaking]);
    expect([upstream.uploads, upstream.deletions]).toEqual([1, 1]);
    expect(upstream.voices.size).toBe(0);
  });

  it('is not waited for by a deletion for long: the upload is broken off', async () => {
    const engine = open('register', upstream.baseUrl, 50);
    const anna = voiceOf(5);
    const { begun, goOn } = heldUpload();
    const speaking = expect(said(engine, anna)).rejects.toMatchObject({ code: 'voice_not_found' });
    await begun;
    await engine.deleteVoice?.(anna.id);
    await speaking;
    expect(upstream.deletions).toBe(1);
    goOn();
  });

  it('and cannot delete it says so, and gets it again when somebody needs it', async () => {
    const engine = open('register');
    const anna = voiceOf(5);
    await said(engine, anna);
    upstream.isStuck = true;
    await expect(engine.deleteVoice?.(anna.id)).rejects.toMatchObject({
      kind: 'upstream',
      message: /HTTP status 500/,
    });
    expect(await said(engine, anna)).toEqual([5]);
    expect(upstream.uploads).toBe(2);
  });

  it('speaks with its own voice when none is asked for', async () => {
    const own = Array.fromAsync(open('register').synthesize(REQUEST, never));
    await expect(own).rejects.toMatchObject({ kind: 'upstream' });
    expect(upstream.asked).toMatchObject([{ voice: 'vivian' }]);
    expect(upstream.uploads).toBe(0);
  });
});

describe('a server that is sent the clip with each request', () => {
  it('clones from it; a request reads it once for all of its sentences', async () => {
    const engine = open('inline');
    const anna = voiceOf(5);
    expect(await said(engine, anna)).toEqual([5]);
    expect(await said(engine, anna)).toEqual([5]);
    expect(upstream.asked[0]).toEqual({
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

it('a server that clones nothing is sent nothing of a stored voice', async () => {
  const anna = voiceOf(5);
  await expect(said(open('none'), anna)).rejects.toMatchObject({ kind: 'invalid_request', param: 'voice' });
  expect([upstream.uploads, upstream.asked.length, anna.reads()]).toEqual([0, 0, 0]);
});

describe('what is remembered of uploads', () => {
  it('is bounded: whoever was not used for the longest time is uploaded again', async () => {
    const uploaded: string[] = [];
    const registeredVoices = new RegisteredVoices(async ({ id }) => void uploaded.push(id), 2);
    const [a, b, c] = [spokenVoice(), spokenVoice(), spokenVoice()];
    for (const voice of [a, b, a, c, a, b]) await registeredVoices.of(voice).uploaded;
    expect(uploaded).toEqual([a.id, b.id, c.id, b.id]);
  });

  it('is given up after an upload that is under way, which patience ends', async () => {
    const steps: string[] = [];
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    const registeredVoices = new RegisteredVoices(async (_, signal) => {
      await Promise.race([held, waitForAbort(signal)]);
      steps.push(signal.aborted ? 'broken off' : 'uploaded');
      signal.throwIfAborted();
    });
    const [anna, bert] = [spokenVoice(), spokenVoice()];
    const refused = expect(registeredVoices.of(bert).uploaded).rejects.toMatchObject({ code: 'voice_not_found' });
    await registeredVoices.forget(bert.id, AbortSignal.abort());
    await refused;
    void registeredVoices.of(anna);
    const forgotten = registeredVoices.forget(anna.id, never).then(() => steps.push('forgotten'));
    await new Promise((resolve) => setImmediate(resolve));
    steps.push('go on');
    goOn();
    await forgotten;
    expect(steps).toEqual(['broken off', 'go on', 'uploaded', 'forgotten']);
    await registeredVoices.forget(spokenVoice().id, never);
  });

  it('that was lost before stays when another one has replaced it since', () => {
    let uploads = 0;
    const registeredVoices = new RegisteredVoices(async () => {
      uploads += 1;
    });
    const voice = spokenVoice();
    const first = registeredVoices.of(voice);
    registeredVoices.lost(voice, first);
    const second = registeredVoices.of(voice);
    registeredVoices.lost(voice, first);
    expect(registeredVoices.of(voice)).toBe(second);
    expect(uploads).toBe(2);
  });
});
