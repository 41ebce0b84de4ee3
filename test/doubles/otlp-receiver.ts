/** A trace collector: an HTTP server that stores OTLP requests in JSON. */

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Absent or empty for a root span. */
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
  /** Raw request bodies. */
  readonly bodies: string[];
  readonly headers: Record<string, string>[];
  /** Status of the following responses. */
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

/** Value of an attribute; undefined if absent. */
export function attributeOf({ attributes }: ReceivedSpan, key: string): unknown {
  const value = attributes.find((each) => each.key === key)?.value;
  return value && Object.values(value)[0];
}

/** Names of the spans of a trace as an indented tree, in order of their start times. */
export function treeOf(spans: readonly ReceivedSpan[], traceId: string): string[] {
  const ofTrace = spans.filter((span) => span.traceId === traceId);
  const ids = new Set(ofTrace.map(({ spanId }) => spanId));
  const below = (parent: string | undefined, depth: number): string[] =>
    ofTrace
      .filter(({ parentSpanId: of = '' }) => (parent === undefined ? !ids.has(of) : of === parent))
      .toSorted((one, other) => Number(BigInt(one.startTimeUnixNano) - BigInt(other.startTimeUnixNano)))
      .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...below(span.spanId, depth + 1)]);
  return below(undefined, 0);
}
