/** A collector of traces: a real HTTP server that takes OTLP as JSON and keeps it. */

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Absent or empty: it begins its trace. */
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
}

export interface OtlpReceiver {
  readonly endpoint: string;
  readonly spans: ReceivedSpan[];
  /** Bodies as they came, for what must not be in them. */
  readonly bodies: string[];
  readonly headers: Record<string, string>[];
  /** The answer to what comes from now on. */
  status: number;
  close(): Promise<void>;
}

export function startOtlpReceiver(): OtlpReceiver {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    development: false,
    async fetch(request) {
      const body = await request.text();
      const isTraces = request.method === 'POST' && new URL(request.url).pathname === '/v1/traces';
      if (!isTraces) return new Response(null, { status: 404 });
      receiver.headers.push(Object.fromEntries(request.headers));
      if (receiver.status !== 200) return new Response(null, { status: receiver.status });
      receiver.bodies.push(body);
      receiver.spans.push(...spansOf(JSON.parse(body)));
      return Response.json({});
    },
  });
  const receiver: OtlpReceiver = {
    endpoint: `http://127.0.0.1:${server.port}`,
    spans: [],
    bodies: [],
    headers: [],
    status: 200,
    close: () => server.stop(true),
  };
  return receiver;
}

interface Batch {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

function spansOf({ resourceSpans }: Batch): ReceivedSpan[] {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

/** An attribute of any type; undefined when absent. */
export function attributeOf({ attributes }: ReceivedSpan, key: string): unknown {
  const value = attributes.find((each) => each.key === key)?.value;
  return value && Object.values(value)[0];
}

/** Names of the spans of a trace, parts below and deeper than what they are parts of, in the order of their beginnings. */
export function treeOf(spans: readonly ReceivedSpan[], traceId: string): string[] {
  const own = spans.filter((span) => span.traceId === traceId);
  const ids = new Set(own.map(({ spanId }) => spanId));
  const below = (parent: string | undefined, depth: number): string[] =>
    own
      .filter(({ parentSpanId: of = '' }) => (parent === undefined ? !ids.has(of) : of === parent))
      .toSorted((one, other) => Number(BigInt(one.startTimeUnixNano) - BigInt(other.startTimeUnixNano)))
      .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...below(span.spanId, depth + 1)]);
  return below(undefined, 0);
}
