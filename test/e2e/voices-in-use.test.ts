/** Stored voices on the three speech endpoints of the real process. */

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { VoiceRecord } from '../../src/contract/stores/voice-store.ts';
import { RealtimeClient, type ServerEventFrame } from '../../tools/harness/clients/realtime-client.ts';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  NO_TEXT,
  OTHER_KEY,
  SERVICE_KEY,
} from '../../tools/harness/services/launcher.ts';
import {
  type FakeCloningUpstream,
  startFakeCloningUpstream,
} from '../../tools/harness/upstreams/fake-cloning-upstream.ts';
import { KOKORO_MIX } from '../media/spoken-voice.ts';
import { clipOf, type StoredVoiceFiles, storedVoiceFiles } from '../media/stored-voice.ts';

const VALUE = 5000;
const TEXT = 'Hello.';
/** Samples in a response of the upstream server. */
const SAMPLES = 100;
/** Text of about 10 s for a clip. */
const STORY =
  'The old clock in the hall struck nine. Nobody in the house was awake to hear it, and the cat went on sleeping by the fire.';

let upstream: FakeCloningUpstream;
let service: LaunchedService;
let voices: StoredVoiceFiles;
let anna: VoiceRecord;
let deleted: VoiceRecord;
beforeAll(async () => {
  upstream = startFakeCloningUpstream();
  service = await launchService({
    config: `
      [models."svc-tts"]
      kind = "upstream"
      base_url = "${upstream.baseUrl}"
      model = "base"
      voices = "register"
      [models."inline"]
      kind = "upstream"
      base_url = "${upstream.baseUrl}"
      model = "base"
      voices = "inline"
      [models."own-voice"]
      kind = "piper"
      [models."adapted"]
      kind = "kokoro"
      voices = "presets"
      ${NO_RECOGNISER}
      ${NO_TEXT}`,
    env: { PLUGINS: 'speech,partner,realtime,voices' },
  });
  voices = await storedVoiceFiles(service.dataDir);
  anna = await voices.put(clipOf(VALUE));
  deleted = await voices.put(clipOf(1));
  await voices.delete('a', deleted.id);
});
afterAll(async () => {
  await voices?.close();
  await service?.stop();
  await upstream?.close();
});
beforeEach(() => {
  upstream.bodies.length = 0;
});

const post = (path: string, body: object, key = SERVICE_KEY) =>
  service.fetch(path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const speak = (fields: object, key?: string) =>
  post('/v1/audio/speech', { model: 'svc-tts', input: TEXT, response_format: 'pcm', ...fields }, key);
const speakToPartner = (query: string, message: object = {}, key?: string) =>
  post(
    `/v1/voices/partner?${query}`,
    { message: { type: 'voice-request', text: TEXT, sampleRate: 24_000, ...message } },
    key,
  );

/** 16-bit samples of a realtime response. */
function audioOf(events: readonly ServerEventFrame[]): number[] {
  const audio = events.flatMap(({ type, delta }) =>
    type === 'response.audio.delta' ? [Buffer.from(delta as string, 'base64')] : [],
  );
  return [...new Int16Array(Uint8Array.from(Buffer.concat(audio)).buffer)];
}

const samplesOf = async (response: Response) => [...new Int16Array(await response.arrayBuffer())];
const ANNA_SAMPLES = new Array(SAMPLES).fill(VALUE);

async function connect() {
  const client = await RealtimeClient.connect(`${service.baseUrl.replace('http', 'ws')}/v1/realtime`, {
    headers: { 'x-api-key': SERVICE_KEY },
  });
  onTestFinished(() => client.close());
  await client.next('session.created');
  const update = (session: object) => client.send({ type: 'session.update', session });
  const say = () => {
    const content = [{ type: 'input_text', text: TEXT }];
    client.send({ type: 'conversation.item.create', item: { role: 'user', content } });
    client.send({ type: 'response.create' });
  };
  return { client, update, say };
}

describe('POST /v1/audio/speech', () => {
  it.each(['svc-tts', 'inline'])('synthesizes with a stored voice with the model %s', async (model) => {
    for (const voice of [anna.id, { id: anna.id }]) {
      const response = await speak({ model, voice });
      expect(response.status).toBe(200);
      expect(await samplesOf(response)).toEqual(ANNA_SAMPLES);
    }
    const wav = await speak({ model, voice: anna.id, response_format: 'wav' });
    expect((await samplesOf(wav)).slice(22)).toEqual(ANNA_SAMPLES);
  });

  it('registers a voice again after a restart of the upstream server, once for all sentences', async () => {
    await speak({ voice: anna.id });
    upstream.restart('forgets');
    const before = upstream.uploads;
    const response = await speak({ voice: anna.id, input: 'One. Two. Three.' });
    expect(await samplesOf(response)).toEqual([...ANNA_SAMPLES, ...ANNA_SAMPLES, ...ANNA_SAMPLES]);
    expect(upstream.uploads).toBe(before + 1);
  });

  // Similar to no id, whose random parts have the digits of hexadecimal numbers: the error suggests none.
  const UNKNOWN = `tts-vc-voice_${'x'.repeat(32)}`;
  it.each([
    ['of another organization', () => anna.id, OTHER_KEY],
    ['that was deleted', () => deleted.id, SERVICE_KEY],
    ['that never existed', () => UNKNOWN, SERVICE_KEY],
  ])('rejects a voice %s like an unknown one, before synthesis', async (_, voice, key) => {
    const response = await speak({ voice: voice() }, key);
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error).toMatchObject({ type: 'invalid_request_error', param: 'voice', code: 'voice_not_found' });
    const unknown = (await (await speak({ voice: UNKNOWN })).json()) as { error: typeof error };
    const message = unknown.error.message.replace(UNKNOWN, voice());
    expect({ error }).toEqual({ error: { ...unknown.error, message } });
    expect(upstream.bodies).toEqual([]);
  });

  it('sends the name of another voice to the server', async () => {
    const response = await speak({ voice: 'alloy' });
    // The server has no such voice.
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'voice', code: 'voice_not_found' } });
    expect(upstream.bodies).toMatchObject([{ voice: 'alloy' }]);
  });

  it('rejects a stored voice for a model without stored voices', async () => {
    const response = await speak({ model: 'own-voice', voice: anna.id });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { param: 'voice', message: expect.stringContaining('does not support stored voices') },
    });
  });
});

describe('POST /v1/voices/partner', () => {
  it('synthesizes with the stored voice of the body or of the query', async () => {
    for (const response of [
      await speakToPartner('model=svc-tts', { voiceId: anna.id }),
      await speakToPartner(`model=svc-tts&voice_id=${anna.id}`),
    ]) {
      expect(response.status).toBe(200);
      expect(await samplesOf(response)).toEqual(ANNA_SAMPLES);
    }
  });

  it.each([
    ['of another organization', () => anna.id, OTHER_KEY],
    ['that was deleted', () => deleted.id, SERVICE_KEY],
  ])('rejects a voice %s', async (_, voiceId, key) => {
    const response = await speakToPartner('model=svc-tts', { voiceId: voiceId() }, key);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', param: 'message.voiceId', code: 'voice_not_found' },
    });
    expect(upstream.bodies).toEqual([]);
  });
});

describe('WS /v1/realtime', () => {
  it('synthesizes with the stored voice of the session without waiting for session.updated', async () => {
    const { client, update, say } = await connect();
    update({ output_modalities: ['audio'], audio: { output: { voice: anna.id } } });
    say();
    expect(await client.next('session.updated')).toMatchObject({
      session: { audio: { output: { voice: anna.id } } },
    });
    const events = await client.collect('response.done');
    expect(audioOf(events)).toEqual(ANNA_SAMPLES);
    expect(events.at(-1)).toMatchObject({
      response: { status: 'completed', audio: { output: { voice: anna.id } } },
    });
  });

  it.each([
    ['of another organization', async () => (await voices.put(clipOf(1), { organization: 'b' })).id],
    ['that was deleted', async () => deleted.id],
  ])('rejects a voice %s and keeps the current voice', async (_, idOf) => {
    const { client, update } = await connect();
    update({ audio: { output: { voice: anna.id } } });
    await client.next('session.updated');
    update({ audio: { output: { voice: await idOf(), speed: 2 } } });
    expect(await client.next('error')).toMatchObject({
      error: { code: 'invalid_request_error', param: 'session.audio.output.voice' },
    });
    expect(await client.next('session.updated')).toMatchObject({
      session: { audio: { output: { voice: anna.id, speed: 2 } } },
    });
  });

  it('fails a response whose voice was deleted; the session continues', async () => {
    const { client, update, say } = await connect();
    const brief = await voices.put(clipOf(7));
    update({ output_modalities: ['audio'], audio: { output: { voice: brief.id } } });
    await client.next('session.updated');
    await voices.delete('a', brief.id);
    say();
    expect(await client.next('response.done')).toMatchObject({
      response: {
        status: 'failed',
        status_details: {
          error: {
            code: 'upstream_error',
            message: expect.stringContaining('must be the id of a stored voice'),
          },
        },
      },
    });
    update({ audio: { output: { voice: null } }, tts_model: 'own-voice' });
    say();
    expect(await client.next('response.done')).toMatchObject({ response: { status: 'completed' } });
  });
});

describe('a model with preset voices', () => {
  const MODEL = 'adapted';

  it('synthesizes the same audio with an adapted voice on all three endpoints', async () => {
    const { id } = await voices.put(clipOf(1), { adaptation: KOKORO_MIX });
    const own = await samplesOf(await speak({ model: MODEL }));
    const stored = await samplesOf(await speak({ model: MODEL, voice: id }));
    expect(stored.length).toBeGreaterThan(12_000);
    expect(stored).not.toEqual(own);
    expect(await samplesOf(await speakToPartner(`model=${MODEL}&voice_id=${id}`))).toEqual(stored);
    const { client, update, say } = await connect();
    update({ output_modalities: ['audio'], tts_model: MODEL, audio: { output: { voice: id } } });
    say();
    expect(audioOf(await client.collect('response.done'))).toEqual(stored);
    expect(await samplesOf(await speak({ model: MODEL }))).toEqual(own);
  });

  it('synthesizes the same audio with a named voice on all three endpoints', async () => {
    const nova = await samplesOf(await speak({ model: MODEL, voice: 'nova' }));
    expect(nova.length).toBeGreaterThan(12_000);
    expect(await samplesOf(await speak({ model: MODEL, voice: { id: 'af_nova' } }))).toEqual(nova);
    expect(await samplesOf(await speakToPartner(`model=${MODEL}&voice_id=Nova`))).toEqual(nova);
    const { client, update, say } = await connect();
    update({ output_modalities: ['audio'], tts_model: MODEL, audio: { output: { voice: 'nova' } } });
    say();
    expect(audioOf(await client.collect('response.done'))).toEqual(nova);
  });

  it('returns 503 with retry-after while a voice has no adaptation', async () => {
    const response = await speak({ model: MODEL, voice: anna.id });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.json()).toMatchObject({ error: { param: 'voice' } });
  });
});

it('an enrolled voice works with all models; deletion includes the upstream server', async () => {
  const clip = await speak({ model: 'own-voice', input: STORY, response_format: 'wav' });
  const form = new FormData();
  form.append('audio_sample', new File([await clip.bytes()], 'clip.wav', { type: 'audio/wav' }));
  for (const [name, value] of Object.entries({ name: 'Joe', consent: 'Joe agrees.', ref_text: STORY })) {
    form.append(name, value);
  }
  const headers = { 'x-api-key': SERVICE_KEY };
  const enrolled = await service.fetch('/v1/audio/voices', { method: 'POST', headers, body: form });
  expect(enrolled.status).toBe(200);
  const { voice_id: id } = (await enrolled.json()) as { voice_id: string };
  for (const model of ['svc-tts', 'inline', 'adapted']) {
    expect((await speak({ model, voice: id })).status).toBe(200);
    expect((await speakToPartner(`model=${model}&voice_id=${id}`)).status).toBe(200);
  }
  expect(upstream.voices.get(id)).toMatchObject({ refText: STORY });
  const { client, update, say } = await connect();
  update({ output_modalities: ['audio'], audio: { output: { voice: id } } });
  say();
  expect(await client.next('response.done')).toMatchObject({ response: { status: 'completed' } });

  await service.fetch(`/v1/audio/voices/${id}`, { method: 'DELETE', headers });
  expect(upstream.voices.has(id)).toBe(false);
  expect((await speak({ voice: id })).status).toBe(400);
  expect((await speakToPartner(`voice_id=${id}`)).status).toBe(400);
  client.send({ type: 'response.create' });
  expect(await client.next('response.done')).toMatchObject({ response: { status: 'failed' } });
});
