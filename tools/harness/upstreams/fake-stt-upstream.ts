/** A transcription request that a fake upstream received. */
export interface SeenTranscription {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly fields: Record<string, string | string[]>;
  readonly wav: Buffer;
}

export interface FakeSttUpstream {
  /** Base URL up to and including `/v1`. */
  readonly baseUrl: string;
  readonly seen: SeenTranscription[];
  /** Number of requests that the client aborted. */
  cancelled: number;
  /** Sets the handler of transcriptions. */
  answer(how: (seen: SeenTranscription) => Response | Promise<Response>): void;
  close(): Promise<void>;
}

const TEXT = 'Ask not what your country can do for you.';

/** Starts an HTTP server that simulates a transcription server; by default, its responses have the format of OpenAI. */
export function startFakeSttUpstream(): FakeSttUpstream {
  let how = openaiAnswer;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    error: () => new Response(null, { status: 500 }),
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/v1/models') return new Response('{}');
      request.signal.addEventListener('abort', () => {
        upstream.cancelled += 1;
      });
      const form = await request.formData();
      const fields: Record<string, string | string[]> = {};
      for (const name of form.keys()) {
        const values = form.getAll(name).filter((value) => typeof value === 'string');
        if (name !== 'file') fields[name] = name.endsWith('[]') ? values : values.join();
      }
      const file = form.get('file') as File;
      const seen = {
        path: pathname,
        headers: Object.fromEntries(request.headers),
        fields,
        wav: Buffer.from(await file.arrayBuffer()),
      };
      upstream.seen.push(seen);
      return how(seen);
    },
  });
  const upstream: FakeSttUpstream = {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    seen: [],
    cancelled: 0,
    answer(next) {
      how = next;
    },
    close: () => server.stop(true),
  };
  return upstream;
}

/** Returns the same transcript for any audio, in the requested format. */
export function openaiAnswer({ fields, wav }: SeenTranscription): Response | Promise<Response> {
  const durationS = (wav.length - 44) / 32_000;
  if (fields.response_format === 'verbose_json') {
    const words = TEXT.split(' ');
    const stepS = durationS / words.length;
    return Response.json({
      task: 'transcribe',
      language: 'english',
      duration: durationS,
      text: TEXT,
      segments: [{ id: 0, start: 0, end: durationS, text: ` ${TEXT}`, tokens: [1], avg_logprob: -0.25 }],
      words: words.map((word, at) => ({ word, start: at * stepS, end: (at + 1) * stepS })),
    });
  }
  if (fields.stream !== 'true') return Response.json({ text: TEXT });
  // Deltas are tokens, which do not end at word boundaries.
  const deltas = (TEXT.match(/.{1,5}/gs) ?? []).map((text) => ({
    type: 'transcript.text.delta',
    delta: text,
  }));
  return eventAnswer([...deltas, { type: 'transcript.text.done', text: TEXT }]);
}

/** A response of server-sent events. Strings are sent unchanged. */
export function eventAnswer(events: readonly (object | string)[]): Response {
  return new Response(
    new ReadableStream({
      async start(controller) {
        for (const event of events) {
          const data = typeof event === 'string' ? event : JSON.stringify(event);
          controller.enqueue(new TextEncoder().encode(`data: ${data}\n\n`));
          // Without a pause, the client may receive several events at the same time.
          await Bun.sleep(2);
        }
        controller.close();
      },
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  );
}
