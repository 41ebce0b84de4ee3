import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../../src/contract/core/error.ts';
import type { PromptStart } from '../../../src/contract/engines/text.ts';
import { waitForAbort } from '../../../src/kit/async/wait-for-abort.ts';
import { lexiconEntry } from '../../../test/doubles/fake-lexicons.ts';
import { FakeSttEngine } from '../../../test/doubles/fake-stt-engine.ts';
import { called, FakeTextEngine, said } from '../../../test/doubles/fake-text-engine.ts';
import { FakeTtsEngine } from '../../../test/doubles/fake-tts-engine.ts';
import { FakeVadEngine } from '../../../test/doubles/fake-vad-engine.ts';
import { shake } from '../../../test/harness/handshake.ts';
import { type RealtimeAppParts, realtimeAppOfTest } from '../../../test/harness/realtime-app.ts';
import { KEY_A } from '../../../test/harness/test-app.ts';
import type { RealtimeClient, ServerEventFrame } from '../../../tools/harness/clients/realtime-client.ts';

const TURN = [
  { atSample: 3_200, event: { kind: 'started', onsetSample: 1_600, startSample: 0 } },
  // The last samples of a second are converted with the audio that follows.
  { atSample: 15_900, event: { kind: 'paused', endSample: 13_333 } },
  { atSample: 24_000, event: { kind: 'stopped', endSample: 13_333 } },
] as const;

function service(parts: Partial<RealtimeAppParts> = {}) {
  const text = new FakeTextEngine({ answer: () => said('Hello there. ', 'How can I help?') });
  const tts = new FakeTtsEngine();
  const stt = new FakeSttEngine();
  const vad = new FakeVadEngine({ script: () => TURN });
  const app = realtimeAppOfTest({ stt, tts, vad, text, ...parts });
  const connect = (query = '?model=svc-voice') => app.connect(query);
  return { app, connect, text, tts, stt, vad };
}

const typesOf = (events: readonly ServerEventFrame[]) => events.map(({ type }) => type);
/** One second of silence. */
const SECOND = Buffer.alloc(48_000).toString('base64');

async function speakTurn(client: RealtimeClient): Promise<void> {
  client.send({ type: 'input_audio_buffer.append', audio: SECOND });
  client.send({ type: 'input_audio_buffer.append', audio: SECOND });
}

const say = (text: string) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});

describe('a session', () => {
  test('starts with the settings of the model, in the names of the current protocol', async () => {
    const client = await service().connect();
    const { session } = await client.next('session.created');
    expect(session).toMatchObject({
      type: 'realtime',
      object: 'realtime.session',
      model: 'svc-voice',
      output_modalities: ['audio'],
      instructions: 'Be brief.',
      tools: [],
      tool_choice: 'auto',
      max_output_tokens: 'inf',
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          transcription: { model: 'svc-stt', language: null, prompt: null },
          turn_detection: { type: 'server_vad', create_response: true, interrupt_response: true },
        },
        output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'alloy' },
      },
    });
    await client.close();
  });
});

test('a name of the model opens its sessions, and the limit of sessions counts both', async () => {
  const { app, connect } = service({ conversation: { sessionsPerOrganization: 1 } });
  const client = await connect('?model=gpt-realtime');
  const { session } = await client.next('session.created');
  expect(session).toMatchObject({ type: 'realtime', model: 'gpt-realtime', instructions: 'Be brief.' });
  const url = `${app.url.replace('ws:', 'http:')}?model=svc-voice`;
  const { status, body } = await shake(url, { 'x-api-key': KEY_A });
  expect(status).toBe(429);
  expect(JSON.parse(body).error.message).toContain('1 of 1 conversations in flight');
  await client.close();
});

test('a required model is prepared before its first session', async () => {
  const prepared: PromptStart[] = [];
  const text = Object.assign(new FakeTextEngine(), {
    async prepare(start: PromptStart) {
      if (prepared.push(start) === 1)
        throw new ServiceError('overloaded', 'Loading.', { code: 'model_loading', retryAfterS: 0 });
    },
  });
  const tts = new FakeTtsEngine({ before: () => app.clock.advance(80) });
  const fastSpeech = new FakeTtsEngine();
  const conversation = { choosesSpeech: true, isRequired: true };
  const { app, connect } = service({ text, tts, fastSpeech, conversation });
  app.connections.prepareRequired();
  const lines = () => app.log.lines.map(({ message }) => message);
  await expect.poll(lines).toEqual(['speech of conversations', 'prepared a conversation model']);
  expect(prepared).toHaveLength(2);
  const measured = tts.requests.length;
  const client = await connect('?model=gpt-realtime');
  await client.next('session.created');
  expect(tts.requests).toHaveLength(measured);
  await client.close();
});

test('a required model that cannot be prepared is reported, and its sessions try again', async () => {
  let attempts = 0;
  const text = Object.assign(new FakeTextEngine(), {
    async prepare() {
      attempts++;
      if (attempts === 1) throw new Error('no memory');
    },
  });
  const { app, connect } = service({ text, conversation: { isRequired: true } });
  app.connections.prepareRequired();
  const lines = () => app.log.lines.map(({ level, message }) => [level, message]);
  await expect.poll(lines).toEqual([['error', 'the preparation of a conversation model failed']]);
  const client = await connect();
  await client.next('session.created');
  expect(attempts).toBe(2);
  await client.close();
});

test('a request that is refused does not prepare the models', async () => {
  const prepared: PromptStart[] = [];
  const text = Object.assign(new FakeTextEngine(), {
    prepare: async (start: PromptStart) => void prepared.push(start),
  });
  const { app, connect } = service({ text, conversation: { sessionsPerOrganization: 1 } });
  const client = await connect();
  expect(prepared).toHaveLength(1);
  const url = `${app.url.replace('ws:', 'http:')}?model=svc-voice`;
  const refused = await shake(url, { 'x-api-key': KEY_A });
  expect(refused.status).toBe(429);
  const plain = await fetch(url, { headers: { 'x-api-key': KEY_A } });
  expect(plain.status).toBe(429);
  expect(prepared).toHaveLength(1);
  await client.close();
});

test('a client that leaves while its session is prepared releases its place', async () => {
  const preparing = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const text = Object.assign(new FakeTextEngine(), {
    async prepare(_: PromptStart, signal: AbortSignal) {
      if (isFirst) {
        preparing.resolve();
        await waitForAbort(signal);
        stopped.resolve();
        signal.throwIfAborted();
      }
    },
  });
  let isFirst = true;
  const { app, connect } = service({ text, conversation: { sessionsPerOrganization: 1 } });
  const url = `${app.url.replace('ws:', 'http:')}?model=svc-voice`;
  const leaving = new AbortController();
  const left = shake(url, { 'x-api-key': KEY_A }, leaving.signal);
  await preparing.promise;
  isFirst = false;
  leaving.abort();
  await expect(left).rejects.toThrow();
  await stopped.promise;
  const client = await connect();
  await client.next('session.created');
  await client.close();
});

test('sessions beyond those that the speech model can serve use the faster one', async () => {
  const fastSpeech = new FakeTtsEngine();
  // 0.1 s of audio take 80 ms.
  const tts = new FakeTtsEngine({ before: () => app.clock.advance(80) });
  const { app, connect } = service({ tts, fastSpeech, conversation: { choosesSpeech: true } });
  const hear = async (client: RealtimeClient) => {
    client.send(say('Hi.'));
    client.send({ type: 'response.create' });
    await client.next('response.done');
  };
  const [first, second] = [await connect(), await connect()];
  await hear(first);
  expect(fastSpeech.requests).toEqual([]);
  const requests = tts.requests.length;
  await hear(second);
  expect(fastSpeech.requests).not.toEqual([]);
  expect(tts.requests).toHaveLength(requests);
  await first.close();
  await expect.poll(() => app.connections.count).toBe(1);
  const third = await connect();
  await hear(third);
  expect(tts.requests.length).toBeGreaterThan(requests);
  await Promise.all([second.close(), third.close()]);
});

test('a turn has the hints and log probabilities of the session', async () => {
  const token = { bytes: [65, 115, 107], logProbability: -0.5 };
  const stt = new FakeSttEngine({ tokens: [[token], []] });
  const client = await service({ stt }).connect();
  await client.next('session.created');
  const hints = { languages: ['en', 'de'], keywords: ['Blankenese'] };
  const include = ['item.input_audio_transcription.logprobs'];
  const audio = { input: { transcription: hints, turn_detection: null } };
  client.send({ type: 'session.update', session: { type: 'realtime', audio, include } });
  client.send({ type: 'input_audio_buffer.append', audio: SECOND });
  client.send({ type: 'input_audio_buffer.commit' });
  const { logprobs } = await client.next('conversation.item.input_audio_transcription.completed');
  expect(logprobs).toEqual([{ token: 'Ask', logprob: -0.5, bytes: [65, 115, 107] }]);
  expect(stt.requests).toMatchObject([{ ...hints, textTokens: true }]);
  await client.close();
});

test('a reply is spoken with the pronunciation lexicon of the organization, and its transcript is as written', async () => {
  const lexicon = [
    lexiconEntry('help', { phonemes: 'hɛlp' }),
    lexiconEntry('Hello', { respelling: 'Hullo' }),
  ];
  const { connect, tts } = service({ lexicon });
  const client = await connect();
  await client.next('session.created');
  client.send(say('Hi.'));
  client.send({ type: 'response.create' });
  const { transcript } = await client.next('response.output_audio_transcript.done');
  expect(transcript).toBe('Hello there. How can I help?');
  await client.next('response.done');
  expect(tts.requests.map(({ text }) => text).join('')).toBe('Hullo there. How can I help?');
  expect(tts.requests.flatMap(({ givenSounds = [] }) => givenSounds)).toMatchObject([{ ipa: 'hɛlp' }]);
  await client.close();
});

describe('the language of replies', () => {
  /** The language in which each of two replies is spoken: with the session, and with its own. */
  async function spoken(audio: object, response: object = {}) {
    const tts = new FakeTtsEngine({ languages: ['en-US', 'es', 'fr'] });
    const client = await service({ tts }).connect();
    await client.next('session.created');
    client.send({ type: 'session.update', session: { type: 'realtime', audio } });
    await client.next('session.updated');
    client.send(say('Hola.'));
    client.send({ type: 'response.create', response });
    await client.next('response.done');
    await client.close();
    return new Set(tts.requests.map(({ language }) => language));
  }

  test.each([
    ['nothing', {}, undefined],
    ['a language of the transcription', { input: { transcription: { language: 'es' } } }, 'es'],
    ['one that the model does not speak', { input: { transcription: { language: 'pl' } } }, undefined],
    [
      'a language of its own',
      { input: { transcription: { language: 'es' } }, output: { language: 'fr' } },
      'fr',
    ],
  ])('with %s', async (_, audio, expected) => {
    expect(await spoken(audio)).toEqual(new Set([expected]));
  });

  test('can be set for one response', async () => {
    const language = await spoken({ output: { language: 'fr' } }, { audio: { output: { language: 'es' } } });
    expect(language).toEqual(new Set(['es']));
  });
});

test('the intent of a transcription opens a session without a conversation, whatever its model', async () => {
  const { app, text } = service();
  for (const query of ['?intent=transcription', '?intent=transcription&model=svc-voice']) {
    const client = await app.connect(query);
    const { session } = await client.next('session.created');
    expect(session).toMatchObject({ type: 'transcription', audio: { input: { turn_detection: null } } });
    client.send({ type: 'input_audio_buffer.append', audio: SECOND });
    client.send({ type: 'input_audio_buffer.commit' });
    await client.next('conversation.item.input_audio_transcription.completed');
    await client.close();
  }
  expect(text.requests).toEqual([]);
});

describe('a spoken turn', () => {
  test('starts with the evaluation of the prompt before it', async () => {
    const starts: PromptStart[] = [];
    class CachingEngine extends FakeTextEngine {
      async prepare(start: PromptStart): Promise<void> {
        starts.push(start);
      }
    }
    const client = await service({ text: new CachingEngine() }).connect();
    await client.next('session.created');
    client.send(say('Hi.'));
    client.send({ type: 'response.create', response: { output_modalities: ['text'] } });
    await client.next('response.done');
    await speakTurn(client);
    await client.next('input_audio_buffer.speech_started');
    expect(starts.map(({ messages }) => messages.map(({ role }) => role))).toEqual([
      ['system'],
      ['system', 'user', 'assistant'],
    ]);
    await client.close();
  });

  test('is transcribed and answered with speech', async () => {
    const { connect, text, app } = service();
    const client = await connect();
    await client.next('session.created');
    await speakTurn(client);
    const events = await client.collect('response.done');
    expect(typesOf(events)).toEqual([
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.completed',
      'response.created',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'conversation.item.done',
      'response.output_item.done',
      'response.done',
    ]);
    const { response } = events.at(-1) as unknown as { response: { output: unknown[]; usage: object } };
    expect(response.output).toMatchObject([
      {
        status: 'completed',
        content: [{ type: 'output_audio', transcript: 'Hello there. How can I help?' }],
      },
    ]);
    expect(text.requests[0]?.messages).toEqual([
      { role: 'system', text: 'Be brief.' },
      { role: 'user', parts: [{ kind: 'text', text: 'Ask not.' }] },
    ]);
    expect(app.rows.map(({ endpoint, status }) => `${endpoint} ${status}`).sort()).toEqual([
      '/v1/audio/speech completed',
      '/v1/audio/transcriptions completed',
      'POST /v1/chat/completions completed',
    ]);
    await client.close();
  });
});

describe('a reply with nothing to speak', () => {
  test.each(['…', '—', '👍', '**'])(
    '%s is completed without audio, and only the text is billed',
    async (reply) => {
      const { connect, app, tts } = service({ text: new FakeTextEngine({ answer: () => said(reply) }) });
      const client = await connect();
      client.send(say('Hi!'));
      client.send({ type: 'response.create' });
      const events = await client.collect('response.done');
      expect(events.at(-1)).toMatchObject({ response: { status: 'completed', output: [] } });
      expect(typesOf(events)).not.toContain('response.output_audio.delta');
      expect(tts.requests).toEqual([]);
      expect(app.rows.map(({ endpoint, status }) => `${endpoint} ${status}`)).toEqual([
        'POST /v1/chat/completions completed',
      ]);
      await client.close();
    },
  );

  test('of words that the speech engine cannot read is completed without audio', async () => {
    const tts = new FakeTtsEngine({ runs: () => [] });
    const text = new FakeTextEngine({ answer: () => said('日本。') });
    const { connect, app } = service({ text, tts });
    const client = await connect();
    client.send(say('Hi!'));
    client.send({ type: 'response.create' });
    const events = await client.collect('response.done');
    expect(events.at(-1)).toMatchObject({ response: { status: 'completed' } });
    expect(app.rows.map(({ endpoint }) => endpoint)).toEqual(['POST /v1/chat/completions']);
    await client.close();
  });
});

describe('a typed turn', () => {
  test('is answered with text', async () => {
    const client = await service().connect();
    client.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
    client.send(say('Hi!'));
    client.send({ type: 'response.create' });
    await client.next('session.updated');
    const events = await client.collect('response.done');
    expect(typesOf(events)).toEqual([
      'conversation.item.added',
      'conversation.item.done',
      'response.created',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'conversation.item.done',
      'response.output_item.done',
      'response.done',
    ]);
    await client.close();
  });
});

describe('a function call', () => {
  test('is reported when it is complete, and its output continues the conversation', async () => {
    const answers = [called(0, 'weather', '{"city":', '"Rome"}'), said('It is sunny.')];
    const text = new FakeTextEngine({ answer: (_, at) => answers[at] ?? [] });
    const { connect } = service({ text });
    const client = await connect();
    const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object' } }];
    client.send({ type: 'session.update', session: { type: 'realtime', tools } });
    client.send(say('Weather in Rome?'));
    client.send({ type: 'response.create' });
    await client.next('response.created');
    const events = await client.collect('response.done');
    expect(typesOf(events)).toEqual([
      'response.output_item.added',
      'conversation.item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'conversation.item.done',
      'response.output_item.done',
      'response.done',
    ]);
    client.send({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: 'call_0', output: '{"sun":true}' },
    });
    client.send({ type: 'response.create' });
    await client.next('response.done');
    expect(text.requests[1]?.messages.slice(1)).toEqual([
      { role: 'user', parts: [{ kind: 'text', text: 'Weather in Rome?' }] },
      {
        role: 'assistant',
        text: undefined,
        toolCalls: [{ id: 'call_0', name: 'weather', arguments: '{"city":"Rome"}' }],
      },
      { role: 'tool', toolCallId: 'call_0', text: '{"sun":true}' },
    ]);
    await client.close();
  });
});
