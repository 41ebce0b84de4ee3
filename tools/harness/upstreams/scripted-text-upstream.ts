/** An OpenAI-compatible server that returns scripted responses for the scenario of the text clients. */

import { chatChunk, eventText, portionAnswer, usageChunk } from './fake-chat-upstream.ts';
import { type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';

interface Message {
  readonly role: string;
  readonly content: string | readonly { readonly text?: string }[] | null;
}

interface Body {
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly response_format?: { readonly type: string };
}

/** Embeddings by a word of the text. Their length is 1, and 32-bit floats represent them exactly. */
const VECTORS: Readonly<Record<string, readonly number[]>> = {
  sat: [0.5, 0.5, 0.5, 0.5],
  sitting: [0.5, 0.5, 0.5, -0.5],
  Shares: [-0.5, 0.5, -0.5, 0.5],
};

/** Expected results of {@link startScriptedTextUpstream} by flow, without the prefix `chat.` or `responses.`. */
const SCRIPTED = {
  generate: { text: 'Robin, wren, swift.', usage: { input: 20, output: 9 } },
  stream: { text: 'Robin, wren, swift.', pieces: 4, usage: { input: 20, output: 9 } },
  tools: {
    calls: [
      { name: 'get_weather', arguments: { city: 'Paris' } },
      { name: 'get_weather', arguments: { city: 'Oslo' } },
    ],
    text: 'Paris: sunny; Oslo: rain.',
  },
  'streamed-tools': {
    calls: [
      { name: 'get_weather', arguments: { city: 'Paris' } },
      { name: 'get_weather', arguments: { city: 'Oslo' } },
    ],
  },
  structured: { object: { color: 'green', count: 3 } },
  'unknown-model': { status: 400, code: 'model_not_found' },
  chain: { text: 'Your name is Ada.', continued: true },
  stored: { text: 'Robin, wren, swift.', inputItems: ['Name three birds.'], statusAfterDelete: 404 },
  embeddings: { vectors: Object.values(VECTORS) },
} as const;

/** Flows that every client supports. */
export const FLOWS = [
  ...['generate', 'stream', 'tools', 'streamed-tools', 'structured', 'unknown-model'].flatMap((flow) => [
    `chat.${flow}`,
    `responses.${flow}`,
  ]),
  'responses.chain',
  'embeddings',
];

/** Expected result of a flow. */
export function scriptedOf(flow: string): object {
  const name = flow.replace(/^(chat|responses)\./, '');
  const found = Object.entries(SCRIPTED).find(([each]) => each === name);
  if (found === undefined) throw new Error(`unknown flow '${flow}'`);
  return found[1];
}

/** Starts the server: chat completions, always streamed, and embeddings. */
export function startScriptedTextUpstream(): FakeUpstream {
  const upstream = startFakeUpstream();
  upstream.answer((body) =>
    'input' in body ? embeddings(body.input as readonly string[]) : completion(body as unknown as Body),
  );
  return upstream;
}

function embeddings(input: string | readonly string[]): Response {
  const texts = typeof input === 'string' ? [input] : input;
  const data = texts.map((text, index) => {
    const [, vector = [1, 0, 0, 0]] = Object.entries(VECTORS).find(([word]) => text.includes(word)) ?? [];
    return { object: 'embedding', index, embedding: vector };
  });
  return Response.json({ object: 'list', data, usage: { prompt_tokens: 12, total_tokens: 12 } });
}

function completion({ messages, tools, response_format: format }: Body): Response {
  const question = textOf(messages.at(-1));
  const results = messages.filter(({ role }) => role === 'tool').map(textOf);
  if (format?.type === 'json_schema') return textStream(['{"color":', '"green",', '"count":3}']);
  if (results.length > 0) return textStream([results.join('; '), '.']);
  if (tools !== undefined && question.includes('weather')) return toolCallStream(['Paris', 'Oslo']);
  if (question !== 'What is my name?') return textStream(['Robin', ', wren', ', swift', '.']);
  const name = messages.map(textOf).find((text) => text.startsWith('My name is '));
  return textStream(name === undefined ? ['I do not know.'] : [`Your name is ${name.slice(11)}`]);
}

function textOf(message: Message | undefined): string {
  const content = message?.content ?? '';
  return typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('');
}

function textStream(pieces: readonly string[]): Response {
  return streamed(
    [chatChunk({ role: 'assistant', content: '' })],
    pieces.map((content) => ({ content })),
    'stop',
  );
}

function toolCallStream(cities: readonly string[]): Response {
  const deltas = cities.flatMap((city, index) => [
    {
      tool_calls: [
        { index, id: `call_${index}`, type: 'function', function: { name: 'get_weather', arguments: '' } },
      ],
    },
    { tool_calls: [{ index, function: { arguments: '{"city":' } }] },
    { tool_calls: [{ index, function: { arguments: `"${city}"}` } }] },
  ]);
  return streamed([chatChunk({ role: 'assistant', content: null })], deltas, 'tool_calls');
}

function streamed(first: readonly string[], deltas: readonly object[], end: string): Response {
  const chunks = [...first, ...deltas.map((delta) => chatChunk(delta)), chatChunk({}, end)];
  return portionAnswer([...chunks.map((data) => `data: ${data}\n\n`), eventText(usageChunk(20, 9))]);
}
