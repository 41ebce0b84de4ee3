/** What a fake upstream saw of one request. */
export interface SeenRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown> | undefined;
}

export interface FakeUpstream {
  /** Base URL up to and including `/v1`. */
  readonly baseUrl: string;
  readonly seen: SeenRequest[];
  /** Streams that were left by their reader. */
  cancelled: number;
  /** Changes how speech requests are answered from now on. */
  answer(how: (body: Record<string, unknown>) => Response | Promise<Response>): void;
  /** Changes what `GET /v1/models` answers. */
  modelsStatus: number;
  close(): Promise<void>;
}

/** A real HTTP server that plays other people's speech servers. */
export function startFakeUpstream(): FakeUpstream {
  let how: (body: Record<string, unknown>) => Response | Promise<Response> = () => pcmAnswer([[0, 0]]);
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    error: () => new Response(null, { status: 500 }),
    async fetch(request) {
      const text = await request.text();
      const body = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
      const { pathname } = new URL(request.url);
      upstream.seen.push({ path: pathname, headers: Object.fromEntries(request.headers), body });
      request.signal.addEventListener('abort', () => {
        upstream.cancelled += 1;
      });
      if (pathname === '/v1/models') return new Response('{}', { status: upstream.modelsStatus });
      return how(body ?? {});
    },
  });
  const upstream: FakeUpstream = {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    seen: [],
    cancelled: 0,
    modelsStatus: 200,
    answer(next) {
      how = next;
    },
    close: () => server.stop(true),
  };
  return upstream;
}

/** A chunked answer of raw PCM in the given portions of bytes. */
export function pcmAnswer(portions: readonly (readonly number[])[], type = 'audio/pcm'): Response {
  return new Response(
    new ReadableStream({
      async start(controller) {
        for (const portion of portions) {
          controller.enqueue(Uint8Array.from(portion));
          // Portions that leave together would arrive together.
          await Bun.sleep(5);
        }
        controller.close();
      },
    }),
    { headers: { 'content-type': type } },
  );
}

/** Answers every connection with fixed bytes and then cuts it. */
export function startRawServer(bytes: string): { readonly baseUrl: string; close(): void } {
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        socket.end(bytes);
      },
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}/v1`, close: () => server.stop(true) };
}

/** A port without a server. */
export async function deadBaseUrl(): Promise<string> {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return `http://127.0.0.1:${port}/v1`;
}
