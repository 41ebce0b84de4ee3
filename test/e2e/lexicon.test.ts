/** The pronunciation lexicon of CONFIG and of an organization in every kind of speech, on the real process with Kokoro and a Piper voice. */

import { beforeAll, expect, test } from 'vitest';
import { RealtimeClient } from '../../tools/harness/clients/realtime-client.ts';
import type { ServiceAccess } from '../../tools/harness/services/launcher.ts';
import { embeddedService } from '../harness/group-servers.ts';

const RATE_HZ = 24_000;
const TEXT = 'Tomato';
/** Sounds that differ from those of the dictionary. */
const SOUNDS = 'təmˈɑːtoʊ';
const SSML = `<speak><phoneme ph="${SOUNDS}">Tomato</phoneme></speak>`;

let service: ServiceAccess;
beforeAll(async () => {
  service = await embeddedService();
});

async function send(method: string, path: string, body?: object, key = service.key): Promise<Response> {
  const response = await service.fetch(path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.status, response.ok ? '' : await response.clone().text()).toBe(200);
  return response;
}

async function speak(fields: object, key = service.key): Promise<string> {
  const body = { model: 'svc-tts', response_format: 'pcm', ...fields };
  return hashOf(await (await send('POST', '/v1/audio/speech', body, key)).bytes());
}

async function speakToPartner(key = service.key): Promise<string> {
  const message = { type: 'voice-request', text: TEXT, sampleRate: RATE_HZ };
  return hashOf(await (await send('POST', '/v1/voices/partner', { message }, key)).bytes());
}

async function speakRealtime(): Promise<string> {
  const url = `${service.baseUrl.replace('http', 'ws')}/v1/realtime`;
  const client = await RealtimeClient.connect(url, { headers: { authorization: `Bearer ${service.key}` } });
  await client.next('session.created');
  client.send({ type: 'session.update', session: { output_modalities: ['audio'] } });
  const content = [{ type: 'input_text', text: TEXT }];
  client.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
  client.send({ type: 'response.create' });
  const events = await client.collect('response.done');
  await client.close();
  const deltas = events.filter(({ type }) => type === 'response.audio.delta');
  return hashOf(Buffer.concat(deltas.map(({ delta }) => Buffer.from(String(delta), 'base64'))));
}

/** A short name of the samples, because a failed comparison prints both sides. */
function hashOf(samples: Uint8Array): string {
  return `${samples.length} bytes ${new Bun.CryptoHasher('sha256').update(samples).digest('hex')}`;
}

test('a word has the given sounds in HTTP, partner and realtime speech of its organization only', async () => {
  const [plain, given] = [await speak({ input: TEXT }), await speak({ input: SSML, input_type: 'ssml' })];
  expect(given).not.toBe(plain);
  expect(await speakToPartner()).toBe(plain);
  await send('PUT', '/v1/audio/lexicon', { word: 'tomato', language: 'en', phonemes: SOUNDS });
  expect(await speak({ input: TEXT })).toBe(given);
  expect(await speakToPartner()).toBe(given);
  expect(await speakRealtime()).toBe(given);
  expect(await speak({ input: TEXT }, service.otherKey)).toBe(plain);
  // SSML takes precedence.
  const own = '<speak><phoneme ph="təmˈeɪɾoʊ">Tomato</phoneme></speak>';
  expect(await speak({ input: own, input_type: 'ssml' })).toBe(plain);
  await send('DELETE', '/v1/audio/lexicon?word=tomato&language=en');
  expect(await speak({ input: TEXT })).toBe(plain);
});

test('a Piper voice speaks the sounds of SSML and of the lexicon', async () => {
  const model = 'svc-tts-fast';
  const phoneme = (ph: string) =>
    speak({ model, input: `<speak><phoneme ph="${ph}">Red</phoneme></speak>`, input_type: 'ssml' });
  const written = await speak({ model, input: 'Red' });
  expect(await phoneme('ɹˈɛd')).toBe(written);
  const given = await phoneme('ɹˈoʊd');
  expect(given).not.toBe(written);
  await send('PUT', '/v1/audio/lexicon', { word: 'red', language: 'en-US', phonemes: 'ɹˈoʊd' });
  expect(await speak({ model, input: 'Red' })).toBe(given);
  expect(await speak({ model, input: 'Red' }, service.otherKey)).toBe(written);
  await send('DELETE', '/v1/audio/lexicon?word=red&language=en-US');
  expect(await speak({ model, input: 'Red' })).toBe(written);
});

test('an entry of CONFIG holds for all organizations, and that of an organization takes precedence', async () => {
  const input = 'The aubergine.';
  // A respelling is text, which each model receives. This one is fast.
  const speakFast = (text: string, key?: string) => speak({ model: 'svc-tts-fast', input: text }, key);
  const eggplant = await speakFast('The eggplant.');
  expect(await speakFast(input, service.otherKey)).toBe(eggplant);
  await send('PUT', '/v1/audio/lexicon', { word: 'Aubergine', respelling: 'potato' });
  expect(await speakFast(input)).toBe(await speakFast('The potato.'));
  expect(await speakFast(input, service.otherKey)).toBe(eggplant);
});

test('the words of a response are those of the text', async () => {
  const body = { model: 'svc-tts', input: 'The aubergine is ripe.', response_format: 'pcm' };
  const fields = { stream_format: 'json', timestamps: ['word'] };
  const response = await send('POST', '/v1/audio/speech', { ...body, ...fields }, service.otherKey);
  const { words } = (await response.json()) as { words: { word: string; start: number; end: number }[] };
  expect(words.map(({ word }) => word)).toEqual(['The', 'aubergine', 'is', 'ripe.']);
  for (const { start, end } of words) expect(end).toBeGreaterThan(start);
});
