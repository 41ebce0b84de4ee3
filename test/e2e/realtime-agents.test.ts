import { beforeAll, expect, test } from 'vitest';
import { transcriptWords } from '../../tools/harness/media/transcript-normalizer.ts';
import {
  appends,
  type RealtimeAccess,
  silentPcm,
  spokenPcm,
} from '../../tools/harness/services/realtime-service.ts';
import { embeddedService } from '../harness/group-servers.ts';
import { type NodeClient, openNodeClient } from '../harness/node-client.ts';
import { inDeepTier } from '../harness/tier.ts';

/** The unmodified `@openai/agents-realtime` package in Node, against the real process with real models. */

const QUESTION = 'Where does the train to the market leave today?';
const LONG = 'The first of many sentences that follow each other without an end in sight. '.repeat(12);

let service: RealtimeAccess;
let clip: Buffer;
beforeAll(async () => {
  service = await embeddedService();
  clip = await spokenPcm(service, QUESTION, 'svc-tts-fast');
});

const SERVER_VAD = {
  audio: { input: { turnDetection: { type: 'server_vad' }, transcription: { model: 'svc-stt' } } },
};

async function open(config: object = SERVER_VAD): Promise<NodeClient> {
  const client = openNodeClient('agents.mjs', { url: service.socketUrl, key: service.key, config });
  await client.until('open', ({ kind }) => kind === 'open');
  // The agent updates the session twice.
  await client.event('session.updated');
  await client.event('session.updated');
  return client;
}

interface HistoryItem {
  readonly itemId: string;
  readonly role: string;
  readonly status: string;
  readonly content: readonly {
    readonly type: string;
    readonly text?: string;
    readonly transcript?: string | null;
  }[];
}

/** The latest history of the agent. */
function history(client: NodeClient): readonly HistoryItem[] {
  return client.messages.findLast(({ kind }) => kind === 'history')?.history ?? [];
}

/** Role and text of each history item. */
function lines(client: NodeClient): [role: string, words: string][] {
  return history(client).map(({ role, content }) => [
    role,
    content.map(({ text, transcript }) => text ?? transcript ?? '').join(''),
  ]);
}

function expectNoErrors(client: NodeClient): void {
  expect(client.messages.filter(({ kind }) => kind === 'error' || kind === 'uncaught')).toEqual([]);
}

test('speaks two messages one after the other', async () => {
  const client = await open();
  client.do({ message: 'One, two, three.' });
  client.do({ message: 'Four, five, six.' });
  const first = await client.event('response.done');
  const second = await client.event('response.done');
  expect([first.response.status, second.response.status]).toEqual(['completed', 'completed']);
  expect(first.response.id).not.toBe(second.response.id);
  const audio = client.messages.filter(({ kind }) => kind === 'audio');
  expect(new Set(audio.map(({ responseId }) => responseId)).size).toBe(2);
  await expect
    .poll(() => history(client).map(({ status }) => status))
    .toEqual(new Array(4).fill('completed'));
  const spoken = lines(client);
  expect(spoken.filter(([role]) => role === 'user').map(([, words]) => words)).toEqual([
    'One, two, three.',
    'Four, five, six.',
  ]);
  expect(spoken.filter(([role]) => role === 'assistant')).toHaveLength(2);
  await client.end();
  expectNoErrors(client);
});

// In the default tier, realtime-openai.test.ts checks the error event, and the next test checks that the agent continues.
inDeepTier(() => {
  test('continues after a rejected response', async () => {
    const client = await open();
    // The conversation has no text to speak.
    client.do({ event: { type: 'response.create' } });
    const { error } = await client.until('error', ({ kind }) => kind === 'error');
    expect(error.error ?? error).toMatchObject({
      code: 'invalid_request_error',
      message: expect.stringContaining('response.create'),
      event_id: 'agents_js_response_create_1',
    });
    client.do({ message: 'Still here.' });
    expect((await client.event('response.done')).response.status).toBe('completed');
    expect(client.messages.filter(({ kind }) => kind === 'uncaught')).toEqual([]);
  });
});

test('gets its default transcription model, and continues after its unsupported turn detection is rejected', async () => {
  const client = await open({});
  const rejected = client.messages
    .filter(({ kind }) => kind === 'error')
    .map(({ error }) => (error.error ?? error).param);
  expect(rejected).toEqual(['session.audio.input.turn_detection.type']);
  expect(client.events('session.updated').at(-1)?.session.audio.input.transcription).toMatchObject({
    model: 'gpt-4o-mini-transcribe',
  });
  client.do({ message: 'Still here.' });
  expect((await client.event('response.done')).response.status).toBe('completed');
  expect(client.messages.filter(({ kind }) => kind === 'uncaught')).toEqual([]);
});

test('adds user speech to its history', async () => {
  const client = await open();
  for (const audio of appends(Buffer.concat([silentPcm(500), clip, silentPcm(1500)]))) client.do({ audio });
  const { item_id } = await client.event('conversation.item.input_audio_transcription.completed');
  await client.event('conversation.item.retrieved');
  await expect.poll(() => lines(client)[0]?.[1]).toEqual(expect.any(String));
  const [item] = history(client);
  expect(item).toMatchObject({ itemId: item_id, role: 'user', status: 'completed' });
  expect(transcriptWords(lines(client)[0]?.[1] ?? '')).toEqual(transcriptWords(QUESTION));
  // Later items follow the user speech.
  client.do({ message: 'From platform nine.' });
  await client.event('response.done');
  await expect.poll(() => lines(client).map(([role]) => role)).toEqual(['user', 'user', 'assistant']);
  await client.end();
  expectNoErrors(client);
});

test('is interrupted by user speech', async () => {
  const client = await open();
  client.do({ message: LONG });
  await client.until('audio', ({ kind }) => kind === 'audio');
  for (const audio of appends(Buffer.concat([clip, silentPcm(1500)]))) client.do({ audio });
  await client.event('input_audio_buffer.speech_started');
  await client.until('interrupted', ({ kind }) => kind === 'interrupted');
  const { response } = await client.event('response.done');
  expect(response).toMatchObject({ status: 'cancelled', status_details: { reason: 'client_cancelled' } });
  const done = client.messages.findIndex(
    ({ kind, event }) => kind === 'event' && event.type === 'response.done',
  );
  const { item_id } = await client.event('conversation.item.truncated');
  expect(response.output[0]?.id).toBe(item_id);
  await client.event('conversation.item.input_audio_transcription.completed');
  expect(client.messages.slice(done).filter(({ kind }) => kind === 'audio')).toEqual([]);
  // The next response is not affected.
  client.do({ message: 'As I was saying.' });
  expect((await client.event('response.done')).response.status).toBe('completed');
  await client.end();
  expectNoErrors(client);
});
