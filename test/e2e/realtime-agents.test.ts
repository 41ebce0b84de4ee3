import { afterAll, beforeAll, expect, test } from 'vitest';
import { SERVICE_KEY } from '../../tools/harness/services/launcher.ts';
import {
  appends,
  launchRealtimeService,
  type RealtimeService,
  silentPcm,
  spokenPcm,
} from '../../tools/harness/services/realtime-service.ts';
import { type NodeClient, openNodeClient } from '../harness/node-client.ts';
import { transcriptWords } from '../reference/transcript-normalizer.ts';

/** A voice agent of `@openai/agents-realtime`, unmodified, in Node, against the real process with real models. */

const QUESTION = 'Where does the train to the market leave today?';
const LONG = 'The first of many sentences that follow each other without an end in sight. '.repeat(12);

let service: RealtimeService;
beforeAll(async () => {
  service = await launchRealtimeService();
}, 300_000);
afterAll(() => service?.stop());

const HEARS_TURNS = {
  audio: { input: { turnDetection: { type: 'server_vad' }, transcription: { model: 'svc-stt' } } },
};

async function open(config: object = HEARS_TURNS): Promise<NodeClient> {
  const client = openNodeClient('agents.mjs', { url: service.socketUrl, key: SERVICE_KEY, config });
  await client.until('open', ({ kind }) => kind === 'open');
  // Its two updates of the session.
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

/** The newest history that the agent showed. */
function history(client: NodeClient): readonly HistoryItem[] {
  return client.told.findLast(({ kind }) => kind === 'history')?.history ?? [];
}

/** Who said what, as the history has it. */
function lines(client: NodeClient): [role: string, words: string][] {
  return history(client).map(({ role, content }) => [
    role,
    content.map(({ text, transcript }) => text ?? transcript ?? '').join(''),
  ]);
}

function expectNoFault(client: NodeClient): void {
  expect(client.told.filter(({ kind }) => kind === 'error' || kind === 'uncaught')).toEqual([]);
}

test('two messages are spoken one after the other', async () => {
  const client = await open();
  client.do({ message: 'One, two, three.' });
  client.do({ message: 'Four, five, six.' });
  const first = await client.event('response.done');
  const second = await client.event('response.done');
  expect([first.response.status, second.response.status]).toEqual(['completed', 'completed']);
  expect(first.response.id).not.toBe(second.response.id);
  const heard = client.told.filter(({ kind }) => kind === 'audio');
  expect(new Set(heard.map(({ responseId }) => responseId)).size).toBe(2);
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
  expectNoFault(client);
});

test('a refused response does not block the next', async () => {
  const client = await open();
  // Nothing was said yet that could be spoken.
  client.do({ event: { type: 'response.create' } });
  const { error } = await client.until('error', ({ kind }) => kind === 'error');
  expect(error.error ?? error).toMatchObject({
    code: 'invalid_request_error',
    message: expect.stringContaining('response.create'),
    event_id: 'agents_js_response_create_1',
  });
  client.do({ message: 'Still here.' });
  expect((await client.event('response.done')).response.status).toBe('completed');
  expect(client.told.filter(({ kind }) => kind === 'uncaught')).toEqual([]);
});

test('the settings that it asks for by itself cost errors, not the session', async () => {
  const client = await open({});
  const refused = client.told
    .filter(({ kind }) => kind === 'error')
    .map(({ error }) => (error.error ?? error).param);
  expect(refused.sort()).toEqual([
    'session.audio.input.transcription.model',
    'session.audio.input.turn_detection.type',
  ]);
  client.do({ message: 'Still here.' });
  expect((await client.event('response.done')).response.status).toBe('completed');
  expect(client.told.filter(({ kind }) => kind === 'uncaught')).toEqual([]);
});

test('what is said to it stands in its history', async () => {
  const client = await open();
  const clip = await spokenPcm(service, QUESTION);
  for (const audio of appends(Buffer.concat([silentPcm(500), clip, silentPcm(1500)]))) client.do({ audio });
  const { item_id } = await client.event('conversation.item.input_audio_transcription.completed');
  await client.event('conversation.item.retrieved');
  await expect.poll(() => lines(client)[0]?.[1]).toEqual(expect.any(String));
  const [item] = history(client);
  expect(item).toMatchObject({ itemId: item_id, role: 'user', status: 'completed' });
  expect(transcriptWords(lines(client)[0]?.[1] ?? '')).toEqual(transcriptWords(QUESTION));
  // An answer to it comes after it.
  client.do({ message: 'From platform nine.' });
  await client.event('response.done');
  await expect.poll(() => lines(client).map(([role]) => role)).toEqual(['user', 'user', 'assistant']);
  await client.end();
  expectNoFault(client);
});

test('who speaks while it speaks interrupts it', async () => {
  const client = await open();
  const clip = await spokenPcm(service, QUESTION);
  client.do({ message: LONG });
  await client.until('audio', ({ kind }) => kind === 'audio');
  for (const audio of appends(Buffer.concat([clip, silentPcm(1500)]))) client.do({ audio });
  await client.event('input_audio_buffer.speech_started');
  await client.until('interrupted', ({ kind }) => kind === 'interrupted');
  const { response } = await client.event('response.done');
  expect(response).toMatchObject({ status: 'cancelled', status_details: { reason: 'client_cancelled' } });
  const done = client.told.findIndex(({ kind, event }) => kind === 'event' && event.type === 'response.done');
  const { item_id } = await client.event('conversation.item.truncated');
  expect(response.output[0]?.id).toBe(item_id);
  await client.event('conversation.item.input_audio_transcription.completed');
  expect(client.told.slice(done).filter(({ kind }) => kind === 'audio')).toEqual([]);
  // It can speak again immediately.
  client.do({ message: 'As I was saying.' });
  expect((await client.event('response.done')).response.status).toBe('completed');
  await client.end();
  expectNoFault(client);
});
