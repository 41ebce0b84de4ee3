/** An upstream chat server with a fixed time to first token and token rate. It uses almost no CPU time. */

const FIRST_TOKEN_MS = 100;
const TOKENS_PER_SECOND = 60;
/** Id of the default speech model. */
export const KOKORO = 'svc-tts';

export interface ChatUpstream {
  readonly baseUrl: string;
  stop(): Promise<void>;
}

/** @param replies texts of the replies, in turn. */
export function startChatUpstream(replies: readonly string[]): ChatUpstream {
  let requests = 0;
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      if (new URL(request.url).pathname !== '/v1/chat/completions') {
        return Response.json({ error: { message: 'not found' } }, { status: 404 });
      }
      await request.json();
      const reply = replies[requests++ % replies.length] ?? '';
      return new Response(events(reply, request.signal), {
        headers: { 'content-type': 'text/event-stream' },
      });
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    stop: () => server.stop(true),
  };
}

/** CONFIG of the conversation model `svc-voice` with the scripted language model. @param tts id of the speech model; absent: the service chooses it. */
export function scriptedConversation(upstream: ChatUpstream, tts?: string): string {
  return `
[models."scripted"]
kind = "upstream"
task = "chat"
base_url = "${upstream.baseUrl}"
model = "scripted"

[models."svc-voice"]
kind = "conversation"
llm = "scripted"
${tts === undefined ? '' : `tts = "${tts}"\n`}`;
}

function events(reply: string, signal: AbortSignal): ReadableStream<string> {
  const tokens = reply.match(/\s*\S+/g) ?? [];
  const startMs = performance.now();
  const chunk = (choice: object, more: object = {}) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: 'scripted', choices: [{ index: 0, ...choice }], ...more })}\n\n`;
  let at = 0;
  return new ReadableStream<string>({
    async pull(controller) {
      if (at < tokens.length) {
        const dueMs = startMs + FIRST_TOKEN_MS + (at * 1000) / TOKENS_PER_SECOND;
        await Bun.sleep(Math.max(0, dueMs - performance.now()));
        if (signal.aborted) {
          controller.close();
          return;
        }
        controller.enqueue(chunk({ delta: { content: tokens[at] }, finish_reason: null }));
        at += 1;
        return;
      }
      const usage = { prompt_tokens: 50, completion_tokens: tokens.length, total_tokens: 50 + tokens.length };
      controller.enqueue(chunk({ delta: {}, finish_reason: 'stop' }, { usage }));
      controller.enqueue('data: [DONE]\n\n');
      controller.close();
    },
  });
}
