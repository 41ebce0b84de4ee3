/** A request that a fake upstream received. */
export interface SeenRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown> | undefined;
}

export interface FakeUpstream {
  /** Base URL up to and including `/v1`. */
  readonly baseUrl: string;
  readonly seen: SeenRequest[];
  /** Number of requests that the client aborted. */
  cancelled: number;
  /** Sets the handler of all requests except `GET /v1/models`. */
  answer(how: (body: Record<string, unknown>) => Response | Promise<Response>): void;
  /** Status of `GET /v1/models`. */
  modelsStatus: number;
  close(): Promise<void>;
}

/** Starts an HTTP server that simulates an upstream. By default, it returns one sample of PCM. */
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

/** A chunked response of raw PCM, in portions of bytes. */
export function pcmAnswer(portions: readonly (readonly number[])[], type = 'audio/pcm'): Response {
  return new Response(
    new ReadableStream({
      async start(controller) {
        for (const portion of portions) {
          controller.enqueue(Uint8Array.from(portion));
          // Without a pause, the client may receive several portions at the same time.
          await Bun.sleep(5);
        }
        controller.close();
      },
    }),
    { headers: { 'content-type': type } },
  );
}

/** Starts a TCP server that answers every connection with fixed bytes and closes it. */
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

/** A base URL at a port without a server. */
export async function deadBaseUrl(): Promise<string> {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return `http://127.0.0.1:${port}/v1`;
}
