import { type FakeUpstream, startFakeUpstream } from './fake-upstream.ts';

/** JSON of one chunk of a stream. */
export function chatChunk(delta: object, finish: string | null = null): string {
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
}

/** JSON of the usage chunk, in the format of OpenAI. */
export function usageChunk(input: number, output: number): string {
  return JSON.stringify({
    choices: [],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  });
}

/** Server-sent events with the end marker. */
export function eventText(...data: readonly string[]): string {
  return [...data, '[DONE]'].map((each) => `data: ${each}\n\n`).join('');
}

const EVENT_STREAM = { headers: { 'content-type': 'text/event-stream' } };

/** A stream of separate portions. */
export function portionAnswer(portions: readonly (string | Uint8Array)[]): Response {
  const encoder = new TextEncoder();
  return new Response(
    new ReadableStream({
      async start(controller) {
        for (const portion of portions) {
          controller.enqueue(typeof portion === 'string' ? encoder.encode(portion) : portion);
          // Without a pause, the client may receive several portions at the same time.
          await Bun.sleep(2);
        }
        controller.close();
      },
    }),
    EVENT_STREAM,
  );
}

/** The request fields that the server uses. */
interface ChatBody {
  readonly max_tokens?: number;
  readonly stop?: readonly string[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly tool_choice?: unknown;
  readonly response_format?: { readonly type: string };
  readonly messages: readonly unknown[];
}

const WORDS = ['One', ' two', ' three', ' four', ' five', ' six', ' seven', ' eight'];
/** Valid arguments for the tools of the engine cases. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  switch_lamp: '{"on":true}',
  set_color: '{"color":"red"}',
};

/** Starts a server that returns constant text, within the limits, stop sequences, tools and format of the request. */
export function startFakeChatUpstream(): FakeUpstream {
  const upstream = startFakeUpstream();
  upstream.answer((body) => chatAnswer(body as unknown as ChatBody));
  return upstream;
}

function chatAnswer(body: ChatBody): Response {
  const tool = calledTool(body);
  if (tool !== undefined) {
    const call = { index: 0, id: 'call_up', type: 'function', function: { name: tool, arguments: '' } };
    const args = { index: 0, function: { arguments: ARGUMENTS[tool] } };
    const chunks = [
      chatChunk({ role: 'assistant', content: null, tool_calls: [call] }),
      chatChunk({ tool_calls: [args] }),
      chatChunk({}, 'tool_calls'),
      usageChunk(20, 9),
    ];
    return portionAnswer([eventText(...chunks)]);
  }
  const text = wordsOf(body);
  const chunks = [
    chatChunk({ role: 'assistant', content: '' }),
    ...text.words.map((content) => chatChunk({ content })),
    chatChunk({}, text.reason),
    usageChunk(JSON.stringify(body.messages).length, text.words.length),
  ];
  return portionAnswer(
    chunks.map((data, at) => (at === chunks.length - 1 ? eventText(data) : `data: ${data}\n\n`)),
  );
}

function calledTool({ tools, tool_choice: choice }: ChatBody): string | undefined {
  if (choice === 'required') return tools?.[0]?.function.name;
  if (typeof choice !== 'object' || choice === null) return undefined;
  return (choice as { function: { name: string } }).function.name;
}

function wordsOf({ max_tokens: maxTokens = 8, stop = [], response_format: format }: ChatBody) {
  if (format?.type === 'json_object') return { words: ['{"a"', ':1}'], reason: 'stop' };
  if (format?.type === 'json_schema') return { words: ['{"good":true,', '"kind":"one"}'], reason: 'stop' };
  const text = WORDS.slice(0, maxTokens).join('');
  const end = Math.min(...stop.map((each) => text.indexOf(each)).filter((at) => at >= 0), text.length);
  if (end < text.length) return { words: [text.slice(0, end)].filter((word) => word !== ''), reason: 'stop' };
  return { words: WORDS.slice(0, maxTokens), reason: maxTokens < WORDS.length ? 'length' : 'stop' };
}
