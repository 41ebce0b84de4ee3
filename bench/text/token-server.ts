/** A chat server without a model. Each token contains its send time. Prints its port. */

/** Milliseconds of a clock that all processes of a machine share. */
export function sharedMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Pause between two tokens of a response: 20 per second. */
export const TOKEN_MS = 50;

function chunk(delta: object, finish: string | null = null): Uint8Array {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return Buffer.from(
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices })}\n\n`,
  );
}

function streamTokens(tokens: number): Response {
  let sent = 0;
  // A random offset, so that concurrent responses do not send in lockstep.
  let nextMs = performance.now() + Math.random() * TOKEN_MS;
  return new Response(
    new ReadableStream({
      async pull(controller) {
        await Bun.sleep(Math.max(0, nextMs - performance.now()));
        nextMs += TOKEN_MS;
        if (sent < tokens) controller.enqueue(chunk({ content: `${sharedMs()} ` }));
        else {
          controller.enqueue(chunk({}, 'stop'));
          controller.enqueue(Buffer.from('data: [DONE]\n\n'));
          controller.close();
        }
        sent += 1;
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  );
}

if (import.meta.main) {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const { max_tokens: tokens } = (await request.json()) as { max_tokens: number };
      return streamTokens(tokens);
    },
  });
  console.log(server.port);
}
