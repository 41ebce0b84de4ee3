/** A conversation of three turns with a function call and an interruption, which every client library must hold. */

import { expect } from 'vitest';
import { transcriptWords } from '../../../tools/harness/media/transcript-normalizer.ts';
import { NO_TEXT, SERVICE_KEY } from '../../../tools/harness/services/launcher.ts';
import {
  launchRealtimeService,
  type RealtimeService,
  silentPcm,
  spokenPcm,
} from '../../../tools/harness/services/realtime-service.ts';
import {
  type PromptMessage,
  SCRIPT,
  type ScriptedChat,
  startScriptedChat,
} from '../../doubles/scripted-chat.ts';
import type { ClientMessage, NodeClient } from '../../harness/node-client.ts';

/** Settings of a client: model, key, and the function with its output. */
export const SETTINGS = {
  model: 'gpt-realtime',
  key: SERVICE_KEY,
  tool: {
    name: SCRIPT.table.call.name,
    description: 'Finds a free table.',
    parameters: {
      type: 'object',
      properties: { day: { type: 'string' } },
      required: ['day'],
      additionalProperties: false,
    },
  },
  output: SCRIPT.table.output,
} as const;

type Question = Exclude<keyof typeof SCRIPT, 'hello'>;
const { hello: _, ...QUESTIONS } = SCRIPT;

/** The service with a conversation model whose language model is a scripted server. */
export interface ConversationService {
  readonly service: RealtimeService;
  readonly chat: ScriptedChat;
  /** The spoken questions in base64: 16-bit samples at 24 kHz. */
  readonly clips: Readonly<Record<Question, string>>;
  stop(): Promise<void>;
}

/** Starts the service with the embedded models for transcription, turns and speech. */
export async function launchConversationService(): Promise<ConversationService> {
  const chat = startScriptedChat();
  const config = `${NO_TEXT}
[models."scripted"]
kind = "upstream"
task = "chat"
base_url = "${chat.baseUrl}"
model = "scripted"
[models."svc-voice"]
kind = "conversation"
llm = "scripted"
`;
  const service = await launchRealtimeService({ config });
  const clips = {} as Record<Question, string>;
  for (const [name, { question }] of Object.entries(QUESTIONS)) {
    clips[name as Question] = (await spokenPcm(service, question)).toString('base64');
  }
  return {
    service,
    chat,
    clips,
    async stop() {
      await service.stop();
      await chat.close();
    },
  };
}

/** Time for which the user listens before an interruption, in ms. */
const LISTENING_MS = 2500;
const BYTES_PER_MS = 48;
/** `level` of an error in a log of pino. */
const LOGGED_ERROR = 50;

/**
 * Holds the conversation through a client that reports these messages:
 * - `open`: it is connected, and its microphone is on;
 * - `user` and `assistant` with a `text`: a transcript that is shown to the user;
 * - `call` with a `name` and `arguments`: the function is called;
 * - `audio` with a number of `bytes`: received audio, of 16-bit samples at 24 kHz;
 * - `listening`: the audio of the assistant was played;
 * - `interrupted`: the playback was stopped by the user;
 * - `error` and `uncaught`: errors that the user of the library would see, in addition to those in its log.
 *
 * Its command `say` speaks a clip in base64 into the microphone.
 * @param conversation `instructions` are those of the client, which no other client of the service has. `isGreeted`: the assistant
 *   speaks first.
 */
export async function holdConversation(
  { service, chat, clips }: ConversationService,
  client: NodeClient,
  { instructions, isGreeted = false }: { readonly instructions: string; readonly isGreeted?: boolean },
): Promise<void> {
  let from = 0;
  const next = async (kind: string, matches: (message: ClientMessage) => boolean = () => true) => {
    const start = from;
    const found = await client.until(
      kind,
      (message) => message.kind === kind && client.messages.indexOf(message) >= start && matches(message),
    );
    from = client.messages.indexOf(found) + 1;
    return found;
  };
  /** Speaks a question and waits until the answer was played. */
  const ask = async (question: Question) => {
    client.do({ say: clips[question] });
    await next('audio');
    await next('listening');
  };
  const said = (role: 'user' | 'assistant') =>
    client.messages.filter(({ kind }) => kind === role).map(({ text }) => transcriptWords(text).join(' '));
  const wordsOf = (text: string) => transcriptWords(text).join(' ');

  await next('open');
  if (isGreeted) await next('listening');
  await ask('train');
  await ask('table');
  client.do({ say: clips.story });
  await next('audio');
  client.do({ say: silentPcm(LISTENING_MS).toString('base64') });
  client.do({ say: clips.ticket });
  await next('interrupted');
  await next('assistant', ({ text }) => wordsOf(text) === wordsOf(SCRIPT.ticket.reply));

  const errors = client.messages.filter(
    ({ kind, level = 0 }) => kind === 'error' || kind === 'uncaught' || level >= LOGGED_ERROR,
  );
  expect(errors).toEqual([]);
  expect(service.log().filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  const questions = Object.values(QUESTIONS).map(({ question }) => wordsOf(question));
  expect(said('user')).toEqual(questions);
  expect(said('assistant')).toEqual(
    expect.arrayContaining([wordsOf(SCRIPT.train.reply), wordsOf(SCRIPT.table.reply)]),
  );
  expect(client.messages.filter(({ kind }) => kind === 'call')).toEqual([
    { kind: 'call', name: SCRIPT.table.call.name, arguments: JSON.parse(SCRIPT.table.call.arguments) },
  ]);
  const received = client.messages.filter(({ kind }) => kind === 'audio');
  const receivedMs = received.reduce((sum, { bytes }) => sum + bytes, 0) / BYTES_PER_MS;
  expect(receivedMs).toBeGreaterThan(LISTENING_MS);
  expectPrompts(chat.prompts(instructions).slice(isGreeted ? 1 : 0));
}

/** Checks what the language model was asked: five requests, and the last one without the words that were not played. */
function expectPrompts(prompts: readonly (readonly PromptMessage[])[]): void {
  const last = prompts.map((messages) => messages.at(-1));
  expect(last.map((message) => message?.role)).toEqual(['user', 'user', 'tool', 'user', 'user']);
  expect(JSON.parse(last[2]?.content ?? '')).toEqual(JSON.parse(SCRIPT.table.output));
  const [, call] = prompts[2]?.slice(-3) ?? [];
  expect(call?.tool_calls?.map((each) => each.function)).toEqual([SCRIPT.table.call]);
  const [question, heard] = prompts[4]?.slice(-3) ?? [];
  expect(transcriptWords(question?.content ?? '')).toEqual(transcriptWords(SCRIPT.story.question));
  expect(heard?.role).toBe('assistant');
  expect(heard?.content.length).toBeGreaterThan(5);
  expect(heard?.content.length).toBeLessThan(SCRIPT.story.reply.length);
  expect(SCRIPT.story.reply).toContain(heard?.content);
}
