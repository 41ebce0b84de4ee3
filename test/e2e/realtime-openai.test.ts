import { beforeAll, describe, expect, test } from 'vitest';
import { pcmToWav } from '../../src/audio/wav.ts';
import { SPEECH_RATE_HZ } from '../../src/contract/engines/audio.ts';
import { transcriptWords } from '../../tools/harness/media/transcript-normalizer.ts';
import {
  appends,
  type RealtimeAccess,
  silentPcm,
  spokenPcm,
  usageRows,
} from '../../tools/harness/services/realtime-service.ts';
import { embeddedService } from '../harness/group-servers.ts';
import { type NodeClient, openNodeClient } from '../harness/node-client.ts';
import { repetitions } from '../harness/tier.ts';

/** The realtime classes of the unmodified OpenAI package in Node, against the real process with real models. */

const TEXT = 'Please book a table for two people on Friday evening.';
const ANSWER = 'Your train leaves from platform three in ten minutes.';

let service: RealtimeAccess;
let spoken: Buffer;
beforeAll(async () => {
  service = await embeddedService();
  spoken = await spokenPcm(service, TEXT, 'svc-tts-fast');
});

const COMMON = [
  'session.created',
  'session.updated',
  'input_audio_buffer.speech_started',
  'input_audio_buffer.speech_stopped',
  'input_audio_buffer.committed',
  'conversation.item.input_audio_transcription.delta',
  'conversation.item.input_audio_transcription.completed',
  'conversation.item.created',
  'conversation.item.added',
  'conversation.item.done',
  'response.created',
  'response.output_item.added',
  'response.content_part.added',
  'response.content_part.done',
  'response.output_item.done',
  'response.done',
];
const SPEC_AUDIO = [
  'response.audio.delta',
  'response.audio.done',
  'response.audio_transcript.delta',
  'response.audio_transcript.done',
];
const GA_AUDIO = SPEC_AUDIO.map((type) => type.replace('.audio', '.output_audio'));

type Module = `openai/${'beta/' | ''}realtime/${'ws' | 'websocket'}`;

function open(
  module: Module,
  query = '',
  key = service.key,
  target: object = { model: 'svc-stt' },
): NodeClient {
  const native = module.endsWith('websocket');
  const options = {
    module,
    baseURL: `${service.tlsUrl}/v1${query}`,
    key,
    props: {
      ...target,
      ...(native ? { dangerouslyAllowBrowser: true } : { options: { rejectUnauthorized: false } }),
    },
    types: [...COMMON, ...SPEC_AUDIO, ...GA_AUDIO],
  };
  return openNodeClient(
    'openai-realtime.mjs',
    options,
    native ? { NODE_EXTRA_CA_CERTS: service.certificate } : {},
  );
}

/** Closes the connection, ends the client and expects no errors. */
async function leave(client: NodeClient): Promise<void> {
  client.do({ close: true });
  expect(await client.until('close', ({ kind }) => kind === 'close')).toMatchObject({ code: 1000 });
  await client.end();
  expect(client.messages.filter(({ kind }) => kind === 'error' || kind === 'uncaught')).toEqual([]);
}

/** Commits a clip manually and expects its transcript. */
async function expectTranscription(client: NodeClient): Promise<void> {
  expect((await client.event('session.created')).session).toMatchObject({ object: 'realtime.session' });
  client.do({
    send: {
      type: 'session.update',
      session: {
        type: 'transcription',
        audio: { input: { transcription: { model: 'svc-stt', language: 'en' } } },
      },
    },
  });
  const { session } = await client.event('session.updated');
  expect(session.audio.input).toMatchObject({ transcription: { language: 'en' }, turn_detection: null });
  for (const audio of appends(spoken)) client.do({ send: { type: 'input_audio_buffer.append', audio } });
  client.do({ send: { type: 'input_audio_buffer.commit' } });
  const { item_id } = await client.event('input_audio_buffer.committed');
  const { transcript, usage } = await client.event('conversation.item.input_audio_transcription.completed');
  expect(transcriptWords(transcript)).toEqual(transcriptWords(TEXT));
  expect(usage).toMatchObject({ type: 'tokens', input_token_details: { text_tokens: 0 } });
  const deltas = client.events('conversation.item.input_audio_transcription.delta');
  expect(deltas.map(({ delta }) => delta).join('')).toBe(transcript);
  expect(new Set(deltas.map((event) => event.item_id))).toEqual(new Set([item_id]));
}

/** Requests the speech of a text and checks events, usage and audio. */
async function expectSpeech(client: NodeClient, dialect: 'spec' | 'ga'): Promise<void> {
  const [delta = '', done = '', textDelta = '', textDone = ''] = dialect === 'ga' ? GA_AUDIO : SPEC_AUDIO;
  client.do({
    send: { type: 'session.update', session: { type: 'transcription', output_modalities: ['audio'] } },
  });
  expect((await client.event('session.updated')).session.output_modalities).toEqual(['audio']);
  client.do({
    send: {
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: ANSWER }] },
    },
  });
  const created = await client.event('conversation.item.created');
  client.do({ send: { type: 'response.create' } });
  const { response } = await client.event('response.created');
  await client.event('response.output_item.added');
  await client.event('response.content_part.added');
  expect((await client.event(textDone)).transcript).toBe(ANSWER);
  await client.event(done);
  expect((await client.event('response.content_part.done')).part).toMatchObject({ transcript: ANSWER });
  await client.event('response.output_item.done');
  const end = await client.event('response.done');
  expect(end.response).toMatchObject({
    id: response.id,
    status: 'completed',
    usage: { input_tokens: expect.any(Number) },
  });
  expect(
    client
      .events(textDelta)
      .map((event) => event.delta)
      .join(''),
  ).toBe(ANSWER);

  const other = dialect === 'ga' ? SPEC_AUDIO : GA_AUDIO;
  for (const type of other) expect(client.events(type), type).toEqual([]);
  const added = client.events('conversation.item.added');
  if (dialect === 'ga') {
    expect(added.map(({ item }) => item.role)).toContain('assistant');
    expect(added.map(({ item }) => item.id)).toContain(created.item.id);
  } else expect(added).toEqual([]);

  const [row] = await usageRows(service, 1);
  expect(row).toMatchObject({ endpoint: '/v1/audio/speech', status: 'completed', characters: ANSWER.length });
  const pcm = Buffer.concat(client.events(delta).map((event) => Buffer.from(event.delta, 'base64')));
  await expectWords(pcm, ANSWER);
}

/** Expects that the service transcribes audio to the given words. */
async function expectWords(pcm: Buffer, text: string): Promise<void> {
  const body = new FormData();
  body.set('model', 'svc-stt');
  body.set('file', new File([pcmToWav(pcm, SPEECH_RATE_HZ)], 'speech.wav'));
  const headers = { 'x-api-key': service.key };
  const response = await service.fetch('/v1/audio/transcriptions', { method: 'POST', headers, body });
  const { text: heard } = (await response.json()) as { text: string };
  expect(transcriptWords(heard)).toEqual(transcriptWords(text));
}

/** Both kinds of class, the event names of both dialects, and, in the deep tier, the other combinations. */
const CLASSES: [Module, string, 'spec' | 'ga'][] = [
  ['openai/realtime/ws', '?events=ga', 'ga'],
  ['openai/realtime/websocket', '', 'spec'],
  ['openai/beta/realtime/ws', '', 'spec'],
  ['openai/beta/realtime/websocket', '', 'spec'],
  ['openai/realtime/ws', '', 'spec'],
];

describe.each(CLASSES.slice(0, repetitions(2, CLASSES.length)))(
  '%s with the query %j',
  (module, query, dialect) => {
    test('transcribes a committed clip and speaks a text', async () => {
      const client = open(module, query);
      const { protocol } = await client.until('open', ({ kind }) => kind === 'open');
      expect(protocol).toBe(module.endsWith('websocket') ? 'realtime' : '');
      await expectTranscription(client);
      await expectSpeech(client, dialect);
      await leave(client);
    });
  },
);

/** Modules that send the same events over other WebSocket clients. */
const MODULES: readonly Module[] = ['openai/realtime/ws', 'openai/realtime/websocket'];

test.each(MODULES.slice(0, repetitions(1, MODULES.length)))(
  '%s opens a transcription session by its intent, and receives log probabilities',
  async (module) => {
    const client = open(module, '', service.key, { intent: 'transcription' });
    expect((await client.event('session.created')).session).toMatchObject({ type: 'transcription' });
    const model = 'gpt-live-transcribe';
    const include = ['item.input_audio_transcription.logprobs'];
    const transcription = { model, languages: ['en', 'de'], keywords: ['Friday'], delay: 'low' };
    const input = { format: { type: 'audio/pcm', rate: 24_000 }, transcription, turn_detection: null };
    client.do({
      send: { type: 'session.update', session: { type: 'transcription', audio: { input }, include } },
    });
    const { session } = await client.event('session.updated');
    expect(session).toMatchObject({ include, audio: { input: { transcription } } });
    for (const audio of appends(spoken)) client.do({ send: { type: 'input_audio_buffer.append', audio } });
    client.do({ send: { type: 'input_audio_buffer.commit' } });
    const completed = await client.event('conversation.item.input_audio_transcription.completed');
    expect(transcriptWords(completed.transcript)).toEqual(transcriptWords(TEXT));
    const { logprobs } = completed;
    expect(Buffer.from(logprobs.flatMap(({ bytes }: { bytes: number[] }) => bytes)).toString()).toBe(
      completed.transcript,
    );
    for (const { logprob } of logprobs) expect(logprob).toBeLessThanOrEqual(0);
    const deltas = client.events('conversation.item.input_audio_transcription.delta');
    expect(deltas.flatMap((event) => event.logprobs)).toEqual(logprobs);
    await leave(client);
  },
);

test('server VAD detects turns and reports their position in the audio', async () => {
  const client = open('openai/realtime/ws');
  await client.event('session.created');
  const turn_detection = { type: 'server_vad', silence_duration_ms: 400 };
  client.do({
    send: {
      type: 'session.update',
      session: { type: 'transcription', audio: { input: { turn_detection } } },
    },
  });
  await client.event('session.updated');
  const lengthMs = spoken.length / 48;
  const stream = Buffer.concat([silentPcm(1000), spoken, silentPcm(1500), spoken, silentPcm(1500)]);
  for (const audio of appends(stream)) client.do({ send: { type: 'input_audio_buffer.append', audio } });
  const completed = 'conversation.item.input_audio_transcription.completed';
  await client.event(completed);
  await client.event(completed);
  const turns = client.events('input_audio_buffer.committed').map(({ item_id, previous_item_id }) => {
    const one = (type: string) => client.events(type).find((event) => event.item_id === item_id);
    return {
      previous_item_id,
      item_id,
      startMs: one('input_audio_buffer.speech_started')?.audio_start_ms,
      endMs: one('input_audio_buffer.speech_stopped')?.audio_end_ms,
      words: transcriptWords(one(completed)?.transcript),
    };
  });
  expect(turns.map(({ words }) => words)).toEqual(new Array(2).fill(transcriptWords(TEXT)));
  expect(turns.map((turn) => turn.previous_item_id)).toEqual([null, turns[0]?.item_id]);
  // Clips have short silence at both ends. A turn includes 300 ms before the onset and 400 ms after the end.
  for (const [index, fromMs] of [1000, 2500 + lengthMs].entries()) {
    const { startMs, endMs } = turns[index] ?? {};
    expect(startMs).toBeGreaterThan(fromMs - 500);
    expect(startMs).toBeLessThan(fromMs + 300);
    expect(endMs).toBeGreaterThan(fromMs + lengthMs - 400);
    expect(endMs).toBeLessThan(fromMs + lengthMs + 700);
  }
  const rows = await usageRows(service, 2);
  expect(rows.map(({ endpoint, status }) => [endpoint, status])).toEqual(
    new Array(2).fill(['/v1/audio/transcriptions', 'completed']),
  );
  await leave(client);
});

test('an error event is emitted as an error, with the id of the client event', async () => {
  const client = open('openai/realtime/ws');
  await client.event('session.created');
  client.do({ send: { type: 'response.cancel', event_id: 'mine_1' } });
  const { error } = await client.until('error', ({ kind }) => kind === 'error');
  expect(error).toMatchObject({
    type: 'invalid_request_error',
    code: 'invalid_request_error',
    event_id: 'mine_1',
  });
  await client.end();
});

const REJECTED: [Module, string, RegExp][] = [
  ['openai/realtime/ws', 'wrong-key', /Unexpected server response: 401/],
  ['openai/realtime/websocket', 'wrong-key', /network error|non-101/i],
  ['openai/beta/realtime/ws', 'wrong-key', /Unexpected server response: 401/],
];

test.each(REJECTED.slice(0, repetitions(2, REJECTED.length)))(
  '%s with an invalid key is rejected before the upgrade',
  async (module, key, words) => {
    const client = open(module, '', key);
    const { message } = await client.until('error', ({ kind }) => kind === 'error');
    expect(message).toMatch(words);
    await client.end();
    expect(client.messages.some(({ kind }) => kind === 'open' || kind === 'event')).toBe(false);
  },
);
