/** An OpenAI-compatible chat server for spoken conversations. Its replies depend on words that a recogniser hears reliably. */

import {
  chatChunk,
  eventText,
  portionAnswer,
  usageChunk,
} from '../../tools/harness/upstreams/fake-chat-upstream.ts';
import { type FakeUpstream, startFakeUpstream } from '../../tools/harness/upstreams/fake-upstream.ts';

/** A message of a prompt. */
export interface PromptMessage {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly {
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

const HOUSES = [
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];

/** What the user says, and the replies. */
export const SCRIPT = {
  // Typed by frameworks that start with a greeting.
  hello: { question: 'Say hello.', reply: 'Hello, how can I help?' },
  train: {
    question: 'Where does the train to the market leave today?',
    reply: 'It leaves from platform nine.',
  },
  table: {
    question: 'Please find me a free table for Friday evening.',
    call: { name: 'find_table', arguments: '{"day":"Friday"}' },
    output: '{"table":"fourteen"}',
    reply: 'Table fourteen is free on Friday.',
  },
  // About one minute of speech, in which no two sentences are equal.
  story: {
    question: 'Now tell me the whole story of this village.',
    reply: HOUSES.map(
      (count) => `In the year ${count}, the people of the village built house number ${count}.`,
    ).join(' '),
  },
  ticket: { question: 'How much does a ticket to the city cost?', reply: 'A ticket costs four euros.' },
} as const;

/** A chat server, with the prompts that it received. */
export interface ScriptedChat extends Pick<FakeUpstream, 'baseUrl' | 'close'> {
  /** Messages of each request whose instructions contain a text, without the instructions. */
  prompts(instructions: string): PromptMessage[][];
}

/** Starts the server. It answers the questions of {@link SCRIPT} in any order. */
export function startScriptedChat(): ScriptedChat {
  const upstream = startFakeUpstream();
  upstream.answer((body) => answer(messagesOf(body)));
  return {
    baseUrl: upstream.baseUrl,
    close: () => upstream.close(),
    prompts: (instructions) =>
      upstream.seen
        .map(({ body }) => messagesOf(body ?? {}))
        .filter((messages) => messages.some((each) => isSystem(each) && each.content.includes(instructions)))
        .map((messages) => messages.filter((each) => !isSystem(each))),
  };
}

interface WireMessage extends Omit<PromptMessage, 'content'> {
  readonly content: string | readonly { readonly text?: string }[] | null;
}

function messagesOf(body: Readonly<Record<string, unknown>>): PromptMessage[] {
  const { messages = [] } = body as { messages?: readonly WireMessage[] };
  return messages.map((message) => ({ ...message, content: textOf(message.content) }));
}

const isSystem = ({ role }: PromptMessage) => role === 'system' || role === 'developer';

function textOf(content: WireMessage['content']): string {
  if (content === null || typeof content === 'string') return content ?? '';
  return content.map(({ text }) => text ?? '').join('');
}

function answer(messages: readonly PromptMessage[]): Response {
  const last = messages.at(-1);
  if (last?.role === 'tool') {
    const { table } = JSON.parse(last.content) as { table: string };
    return textAnswer(`Table ${table} is free on Friday.`);
  }
  const words = last?.content.toLowerCase() ?? '';
  const found = Object.entries(SCRIPT).find(([word]) => words.includes(word));
  if (found === undefined) return textAnswer(`I did not understand "${words}".`);
  const [, entry] = found;
  return 'call' in entry ? callAnswer(entry.call) : textAnswer(entry.reply);
}

function textAnswer(text: string): Response {
  const words = text.split(/(?<= )/);
  return streamed([{ role: 'assistant', content: '' }, ...words.map((content) => ({ content }))], 'stop');
}

function callAnswer(call: { readonly name: string; readonly arguments: string }): Response {
  const first = {
    index: 0,
    id: 'call_table',
    type: 'function',
    function: { name: call.name, arguments: '' },
  };
  const rest = { index: 0, function: { arguments: call.arguments } };
  return streamed(
    [{ role: 'assistant', content: null, tool_calls: [first] }, { tool_calls: [rest] }],
    'tool_calls',
  );
}

function streamed(deltas: readonly object[], end: string): Response {
  const chunks = [...deltas.map((delta) => chatChunk(delta)), chatChunk({}, end)];
  return portionAnswer([...chunks.map((data) => `data: ${data}\n\n`), eventText(usageChunk(20, 9))]);
}
