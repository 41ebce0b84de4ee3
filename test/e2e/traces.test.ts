import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RealtimeClient } from '../../tools/harness/clients/realtime-client.ts';
import { createBatch, uploadInput } from '../../tools/harness/services/batch-service.ts';
import {
  type LaunchedService,
  launchService,
  NO_RECOGNISER,
  SERVICE_KEY,
  speakStreamed,
} from '../../tools/harness/services/launcher.ts';
import { startFakeChatUpstream } from '../../tools/harness/upstreams/fake-chat-upstream.ts';
import type { FakeUpstream } from '../../tools/harness/upstreams/fake-upstream.ts';
import { startScriptedTextUpstream } from '../../tools/harness/upstreams/scripted-text-upstream.ts';
import {
  attributeOf,
  type OtlpReceiver,
  type ReceivedSpan,
  startOtlpReceiver,
  treeOf,
} from '../doubles/otlp-receiver.ts';

/** Traces of the real process, received over HTTP. */

const SPEECH_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CHAT_TRACE = '5bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const traceparentOf = (trace: string) => `00-${trace}-${PARENT}-01`;
const SECRET_TEXT = 'A zebra crosses. Another zebra follows.';
const PATIENCE = { interval: 50 };

let receiver: OtlpReceiver;
let upstream: FakeUpstream;
let embedder: FakeUpstream;
let service: LaunchedService;
let activities: ReturnType<typeof startActivities>;
beforeAll(async () => {
  receiver = startOtlpReceiver();
  upstream = startFakeChatUpstream();
  embedder = startScriptedTextUpstream();
  const upstreamModel = (id: string, { baseUrl }: FakeUpstream) =>
    `[models."${id}"]\nkind = "upstream"\nbase_url = "${baseUrl}"\nmodel = "remote"\n`;
  service = await launchService({
    config: `[models."svc-tts"]\nkind = "piper"\n${NO_RECOGNISER}${upstreamModel('smollm2-135m-instruct', upstream)}${upstreamModel('all-minilm-l6-v2', embedder)}`,
    env: {
      PLUGINS: 'speech,responses,realtime,batch',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=voices',
    },
  });
  activities = startActivities();
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([receiver, upstream, embedder].map((each) => each?.close()));
});

/** Starts the requests of all tests together, because the process exports spans every two seconds. */
function startActivities() {
  const all = {
    speech: post(
      '/v1/audio/speech',
      { model: 'svc-tts', input: SECRET_TEXT, response_format: 'pcm' },
      { traceparent: traceparentOf(SPEECH_TRACE) },
    ).then(async (response) => {
      await response.arrayBuffer();
      return response.headers.get('x-request-id');
    }),
    speechWithoutTrace: speakStreamed(service, 'One.').then((response) => response.arrayBuffer()),
    chat: post(
      '/v1/chat/completions',
      { model: 'smollm2-135m-instruct', messages: [{ role: 'user', content: 'zebra' }], stream: true },
      { traceparent: traceparentOf(CHAT_TRACE) },
    ).then((response) => response.text()),
    realtime: speakInRealtime(),
    batch: createEmbeddingBatch(),
  };
  // An error fails only the test that awaits the activity.
  for (const activity of Object.values(all)) activity.catch(() => undefined);
  return all;
}

async function speakInRealtime(): Promise<void> {
  const url = `${service.baseUrl.replace('http', 'ws')}/v1/realtime`;
  const client = await RealtimeClient.connect(url, { headers: { authorization: `Bearer ${SERVICE_KEY}` } });
  client.send({ type: 'session.update', session: { output_modalities: ['audio'] } });
  client.send({ type: 'conversation.item.create', item: message('A zebra.') });
  client.send({ type: 'response.create' });
  await client.next('response.done');
  await client.close();
}

async function createEmbeddingBatch(): Promise<string> {
  const url = '/v1/embeddings';
  const line = { custom_id: 'a', method: 'POST', url, body: { model: 'all-minilm-l6-v2', input: 'zebra' } };
  return (await createBatch(service, await uploadInput(service, `${JSON.stringify(line)}\n`), url)).id;
}

/** Waits for a matching span. */
async function received(matches: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
  let found: ReceivedSpan | undefined;
  await expect
    .poll(() => {
      found = receiver.spans.find(matches);
      return found !== undefined;
    }, PATIENCE)
    .toBe(true);
  return found as ReceivedSpan;
}
const named = (name: string, trace?: string) => (span: ReceivedSpan) =>
  span.name === name && (trace === undefined || span.traceId === trace);

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return service.fetch(path, {
    method: 'POST',
    headers: { authorization: `Bearer ${SERVICE_KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

describe('a streamed speech', () => {
  it('is traced from the request to the inference steps of each sentence, in the trace of its caller', async () => {
    const requestId = await activities.speech;
    const syntheses = () => receiver.spans.filter(named('synthesis', SPEECH_TRACE));
    await expect.poll(() => syntheses().length, PATIENCE).toBe(2);
    const request = await received(named('POST /v1/audio/speech', SPEECH_TRACE));
    expect(request).toMatchObject({ parentSpanId: PARENT, kind: 2 });
    expect(attributeOf(request, 'http.response.status_code')).toBe(200);
    expect(attributeOf(request, 'request_id')).toBe(requestId);
    // A sentence has one or more steps.
    const tree = treeOf(receiver.spans, SPEECH_TRACE);
    // The request span ends after all synthesis spans.
    const endOf = (span: ReceivedSpan) => BigInt(span.endTimeUnixNano);
    for (const part of syntheses()) expect(endOf(request) >= endOf(part)).toBe(true);
    expect(tree.filter((line, at) => line !== tree[at - 1])).toEqual([
      'POST /v1/audio/speech',
      ...['  synthesis', '    queue', '    step'],
      ...['  synthesis', '    queue', '    step'],
    ]);
    const synthesis = await received(named('synthesis', SPEECH_TRACE));
    expect(attributeOf(synthesis, 'model')).toBe('svc-tts');
    expect(Number(attributeOf(synthesis, 'audio_ms'))).toBeGreaterThan(500);
  });

  it('starts a new trace if the caller has none', async () => {
    await activities.speechWithoutTrace;
    const request = await received(
      (span) => span.name === 'POST /v1/audio/speech' && span.traceId !== SPEECH_TRACE,
    );
    expect(request.parentSpanId ?? '').toBe('');
  });
});

it('an upstream request propagates the trace context', async () => {
  await activities.chat;
  const upstreamSpan = await received((span) => span.kind === 3 && span.traceId === CHAT_TRACE);
  await received(named('POST /v1/chat/completions', CHAT_TRACE));
  await received(named('chat', CHAT_TRACE));
  expect(treeOf(receiver.spans, CHAT_TRACE)).toEqual(['POST /v1/chat/completions', '  chat', '    POST']);
  expect(upstream.seen.at(-1)?.headers.traceparent).toBe(`00-${CHAT_TRACE}-${upstreamSpan.spanId}-01`);
});

it('a realtime response has a separate trace, linked to the upgrade request', async () => {
  await activities.realtime;
  const response = await received(named('response'));
  const upgrade = await received(named('GET /v1/realtime'));
  expect(response.links).toMatchObject([{ traceId: upgrade.traceId, spanId: upgrade.spanId }]);
  expect(response.traceId).not.toBe(upgrade.traceId);
  expect(attributeOf(response, 'request_id')).toBe(attributeOf(upgrade, 'request_id'));
  await received((span) => span.name === 'synthesis' && span.traceId === response.traceId);
});

it('a batch job has a separate trace, linked to the request that created it', async () => {
  const batch = await activities.batch;
  const job = await received((span) => span.name === 'job' && attributeOf(span, 'job') === batch);
  const creation = await received(named('POST /v1/batches'));
  expect(attributeOf(job, 'kind')).toBe('batch');
  expect(job.links).toMatchObject([{ traceId: creation.traceId, spanId: creation.spanId }]);
  await received((span) => span.name === 'embedding' && span.traceId === job.traceId);
});

it('exports have the configured headers and contain no texts or keys', () => {
  expect(receiver.bodies.length).toBeGreaterThan(0);
  const all = receiver.bodies.join();
  for (const word of ['zebra', SERVICE_KEY]) expect(all).not.toContain(word);
  expect(receiver.headers.every((headers) => headers['x-tenant'] === 'voices')).toBe(true);
});

it('an unavailable collector does not affect requests', async () => {
  await receiver.close();
  for (let n = 0; n < 5; n += 1) {
    const response = await speakStreamed(service, 'Two.');
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  }
  const warnings = () => service.log().filter(({ msg }) => String(msg).startsWith('trace export failed'));
  await expect.poll(() => warnings().length, PATIENCE).toBe(1);
  const page = await (await service.fetch('/metrics')).text();
  expect(page).toMatch(/^trace_spans_total\{result="failed"\} [1-9]/m);
  expect(await service.stop()).toBe(0);
});

function message(text: string): object {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
