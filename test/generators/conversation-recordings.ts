import type { RealtimeClient, ServerEventFrame } from '../../tools/harness/clients/realtime-client.ts';
import type { FrameEntry, TraceEntry } from '../../tools/trace-check/check.ts';
import { FakeSttEngine } from '../doubles/fake-stt-engine.ts';
import { called, FakeTextEngine, type FakeTextOptions, said } from '../doubles/fake-text-engine.ts';
import { FakeTtsEngine } from '../doubles/fake-tts-engine.ts';
import { FakeVadEngine, type ScriptedVadEvent } from '../doubles/fake-vad-engine.ts';
import { type RealtimeAppParts, realtimeApp } from '../harness/realtime-app.ts';

/** Conversations over real WebSockets with the plugin and scripted engines, recorded as traces. */

export type Recording = readonly TraceEntry[];

/** One second of silence, PCM at 24 kHz. */
export const SECOND = Buffer.alloc(48_000).toString('base64');
const APPEND = { type: 'input_audio_buffer.append', audio: SECOND };

/** A detected turn that starts after a number of seconds, and is over one and a half seconds later. */
export function turnAt(second: number): ScriptedVadEvent[] {
  const from = 16_000 * second;
  return [
    { atSample: from + 3_200, event: { kind: 'started', onsetSample: from + 1_600, startSample: from } },
    // The last samples of a second are converted with the audio that follows.
    { atSample: from + 15_900, event: { kind: 'paused', endSample: from + 13_333 } },
    { atSample: from + 24_000, event: { kind: 'stopped', endSample: from + 13_333 } },
  ];
}

interface Scene {
  readonly parts?: Partial<RealtimeAppParts>;
  readonly text?: FakeTextOptions;
  readonly beta?: boolean;
  /** @param continueSpeech lets speech continue, which stops after its first piece in some scenes. */
  readonly play: (client: RealtimeClient, continueSpeech: () => void) => Promise<void>;
}

const say = (text: string, more: object = {}) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }], ...more },
});
const update = (session: object) => ({ type: 'session.update', event_id: 'update', session });
const TEXT = update({ type: 'realtime', output_modalities: ['text'] });
const RESPOND = { type: 'response.create', event_id: 'respond' };
const TOOLS = [{ type: 'function', name: 'weather', parameters: { type: 'object' } }];
const LONG = said('Hello there, my friend. ', 'How can I help you today? ', 'I know a lot.');

async function sends(client: RealtimeClient, ...frames: readonly object[]): Promise<void> {
  for (const frame of frames) client.send(frame);
}

const isAudio = ({ type }: ServerEventFrame) => /audio\.delta$/.test(type);

async function responded(client: RealtimeClient): Promise<ServerEventFrame> {
  return await client.next('response.done');
}

/** The assistant's item that was added last. */
function spokenItem({ events }: RealtimeClient): string {
  const added = events.findLast(
    ({ type, item }) =>
      type === 'response.output_item.added' && (item as { role?: string }).role === 'assistant',
  );
  return String(Object(added?.item).id);
}

/** Speech that stops after its first piece until it continues. */
function heldSpeech() {
  const continued = Promise.withResolvers<void>();
  const piece = new Array(2400).fill(0.25);
  const tts = new FakeTtsEngine({
    runs: () => [piece, piece, piece],
    before: (_, run) => (run === 0 ? undefined : continued.promise),
  });
  return { tts, continueSpeech: () => continued.resolve() };
}

const interrupted: Scene = {
  text: { answer: () => LONG },
  async play(client, continueSpeech) {
    await sends(client, APPEND, APPEND);
    await client.next(isAudio);
    await sends(client, APPEND, APPEND);
    await client.next('input_audio_buffer.speech_started');
    await sends(client, {
      type: 'conversation.item.truncate',
      item_id: spokenItem(client),
      content_index: 0,
      audio_end_ms: 60,
    });
    await client.next('conversation.item.truncated');
    await sends(client, { type: 'conversation.item.retrieve', item_id: spokenItem(client) });
    continueSpeech();
    await client.until(() => client.events.filter(({ type }) => type === 'response.done').length === 2);
  },
};

const cancelled: Scene = {
  text: { answer: () => LONG },
  async play(client) {
    await sends(client, say('Hi!'), RESPOND);
    await client.next(isAudio);
    await sends(client, { type: 'response.create', event_id: 'busy' });
    await client.next('error');
    await sends(client, { type: 'response.cancel', event_id: 'cancel' });
    await responded(client);
    await sends(client, { type: 'response.cancel', event_id: 'late' });
    await client.next('error');
  },
};

const SCENES: Readonly<Record<string, Scene>> = {
  'a spoken turn': {
    text: { answer: () => said('Hello there. ', 'How can I help?') },
    async play(client) {
      await sends(client, APPEND, APPEND);
      await responded(client);
      await sends(client, { type: 'conversation.item.retrieve', item_id: spokenItem(client) });
    },
  },
  'two spoken turns': {
    async play(client) {
      await sends(client, APPEND, APPEND);
      await responded(client);
      await sends(client, APPEND, APPEND);
      await responded(client);
    },
  },
  'noise without words': {
    parts: { stt: new FakeSttEngine({ deltas: [] }) },
    async play(client) {
      await sends(client, APPEND, APPEND);
      await client.next('conversation.item.input_audio_transcription.completed');
    },
  },
  'a failed transcription': {
    parts: { stt: new FakeSttEngine({ deltas: ['Ask'], failure: () => new Error('gone') }) },
    async play(client) {
      await sends(client, APPEND, APPEND);
      await responded(client);
    },
  },
  'a typed turn': {
    async play(client) {
      await sends(client, TEXT, say('Hi!'), RESPOND);
      await responded(client);
      await sends(client, say('And?', { id: 'mine' }), RESPOND);
      await responded(client);
    },
  },
  'a function call': {
    text: {
      answer: (_, at) =>
        at === 0 ? [...said('Let me see. '), ...called(0, 'weather', '{"city":', '"Rome"}')] : said('Sunny.'),
    },
    async play(client) {
      await sends(client, update({ type: 'realtime', tools: TOOLS }), say('Weather in Rome?'), RESPOND);
      await responded(client);
      const output = { type: 'function_call_output', call_id: 'call_0', output: '{"sun":true}' };
      await sends(client, { type: 'conversation.item.create', item: output }, RESPOND);
      await responded(client);
    },
  },
  'an interruption with a truncation': interrupted,
  'a cancelled response': cancelled,
  'a failed response': {
    text: { failure: () => new Error('gone') },
    async play(client) {
      await sends(client, TEXT, say('Hi!'), RESPOND);
      await responded(client);
    },
  },
  'a response that is too long': {
    text: {
      answer: () => [
        ...said('One two three.'),
        { kind: 'end', reason: 'length', tokens: { input: 1, output: 2, cached: 0, reasoning: 0 } },
      ],
    },
    async play(client) {
      await sends(client, say('Count!'), RESPOND);
      await responded(client);
    },
  },
  'a response out of band': {
    async play(client) {
      const response = {
        conversation: 'none',
        output_modalities: ['text'],
        metadata: { purpose: 'title' },
        input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'A title?' }] }],
      };
      await sends(client, say('Hi!'), { ...RESPOND, response }, RESPOND);
      await responded(client);
      await responded(client);
    },
  },
  'commits of the client': {
    async play(client) {
      await sends(client, update({ type: 'realtime', audio: { input: { turn_detection: null } } }));
      await sends(client, { type: 'input_audio_buffer.commit', event_id: 'empty' }, APPEND);
      await sends(client, { type: 'input_audio_buffer.clear' }, APPEND);
      await sends(client, { type: 'input_audio_buffer.commit' }, RESPOND);
      await responded(client);
    },
  },
  'operations on items': {
    async play(client) {
      await sends(client, TEXT, say('One.', { id: 'one' }), say('Three.', { id: 'three' }));
      await sends(client, { ...say('Two.', { id: 'two' }), previous_item_id: 'one' });
      await sends(client, { ...say('Zero.', { id: 'zero' }), previous_item_id: 'root' });
      await sends(client, { ...say('Again.', { id: 'one' }), event_id: 'taken' });
      await sends(client, { ...say('Behind.'), event_id: 'behind', previous_item_id: 'gone' });
      await sends(client, { type: 'conversation.item.retrieve', item_id: 'two' });
      await sends(client, { type: 'conversation.item.delete', item_id: 'one' });
      await sends(client, { type: 'conversation.item.retrieve', event_id: 'gone', item_id: 'one' });
      await sends(client, RESPOND);
      await responded(client);
      await sends(client, { type: 'conversation.item.retrieve', item_id: spokenItem(client) });
    },
  },
  'rejected events': {
    async play(client) {
      await sends(client, update({ instructions: 'New.', voice: 7, colour: 'red' }));
      await sends(client, { type: 'dance', event_id: 'dance' }, { type: 'response.cancel' });
      await sends(client, { ...APPEND, audio: '*', event_id: 'audio' });
      await sends(client, { type: 'output_audio_buffer.clear', event_id: 'clear' });
    },
  },
};

const BETA = ['a spoken turn', 'a typed turn', 'a function call', 'an interruption with a truncation'];
const HELD = new Set(['an interruption with a truncation', 'a cancelled response']);

/** Names of the recordings; those in the names of the beta protocol end with ` (beta)`. */
export const RECORDINGS: readonly string[] = [
  ...Object.keys(SCENES),
  ...BETA.map((name) => `${name} (beta)`),
];

/** Records a conversation. */
export async function recorded(name: string): Promise<Recording> {
  const isBeta = name.endsWith(' (beta)');
  const title = name.replace(' (beta)', '');
  const scene = SCENES[title];
  if (scene === undefined) throw new Error(`no conversation ${name}`);
  const { tts, continueSpeech } = heldSpeech();
  const app = realtimeApp({
    stt: new FakeSttEngine(),
    tts: HELD.has(title) ? tts : new FakeTtsEngine(),
    text: new FakeTextEngine(scene.text),
    vad: new FakeVadEngine({ script: () => [0, 2, 4].flatMap(turnAt) }),
    ...scene.parts,
  });
  try {
    const headers = isBeta ? { 'openai-beta': 'realtime=v1' } : {};
    const client = await app.connect('?model=svc-voice', { headers });
    await client.next('session.created');
    await scene.play(client, continueSpeech);
    await client.close('quiet');
    return client.entries.map((entry) => ('end' in entry ? entry : timeless(entry)));
  } finally {
    // The engine notices that it was stopped when it continues.
    continueSpeech();
    await app.stop();
  }
}

function timeless({ from, frame }: FrameEntry): TraceEntry {
  return { from, frame };
}
