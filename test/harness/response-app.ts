import { onTestFinished } from 'vitest';
import type { BuiltInTool, BuiltInTools } from '../../plugins/responses/responses/items/built-in-tools.ts';
import { RESPONSE_ROUTES } from '../../plugins/responses/responses/routes.ts';
import { ResponseService } from '../../plugins/responses/responses/service.ts';
import { invalidRequest } from '../../src/contract/core/error.ts';
import type { TextEngine } from '../../src/contract/engines/text.ts';
import type { ResponseStore } from '../../src/contract/stores/response-store.ts';
import { bind } from '../../src/http/route.ts';
import { OpenRequests } from '../../src/kit/limits/open-requests.ts';
import { responseStore } from '../../src/records/stores/response-store.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { memoryRecords } from '../../tools/harness/doubles/memory-records.ts';
import { RecordedCalls, type RecordedCallsOptions } from '../../tools/harness/doubles/recorded-calls.ts';
import { RecordingLogger } from '../../tools/harness/doubles/recording-logger.ts';
import { FakeTextEngine, type FakeTextOptions } from '../doubles/fake-text-engine.ts';
import { KEY_A, testApp } from './test-app.ts';

export const RESPONSES = '/v1/responses';

export interface ResponseAppOptions extends RecordedCallsOptions {
  readonly perOrganization?: number;
  /** Built-in tools by type; other tools are not configured. */
  readonly tools?: Readonly<Record<string, () => BuiltInTool>>;
  /** Default: a new in-memory store. */
  readonly store?: ResponseStore;
}

/** A streamed event, as received by a client. */
export interface WireEvent {
  readonly type: string;
  readonly sequence_number: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of a response
  readonly [field: string]: any;
}

/** A response with untyped JSON. */
// biome-ignore lint/suspicious/noExplicitAny: JSON of a response
export type WireAnswer = Omit<Response, 'json'> & { json(): Promise<any> };

/** The app with the Responses API and a scripted engine. */
export async function responseApp(
  options: FakeTextOptions = {},
  { perOrganization = 100, tools = {}, store, ...billing }: ResponseAppOptions = {},
) {
  const engine = new FakeTextEngine(options);
  const calls = new RecordedCalls(billing);
  const log = new RecordingLogger();
  const responses = store ?? memoryStore();
  const open = new OpenRequests('text', perOrganization);
  const responseService = new ResponseService({
    text: { ids: ['m'], get: (id): TextEngine | undefined => (id === 'm' ? engine : undefined) },
    open,
    responses,
    tools: toolsOf(tools),
    clock: new ManualClock(),
    log,
  });
  const app = testApp({
    routes: [bind(RESPONSE_ROUTES, { responses: responseService, store: responses, calls })],
    requestBytes: 1024 * 1024,
  });
  onTestFinished(() => app.close());
  const send = async (path: string, init: RequestInit = {}, key = KEY_A) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    return (await app.send(path, { ...init, headers })) as WireAnswer;
  };
  const post = (fields: object, { key, ...init }: RequestInit & { key?: string } = {}) =>
    send(RESPONSES, { method: 'POST', body: JSON.stringify({ model: 'm', ...fields }), ...init }, key);
  return {
    engine,
    calls,
    rows: calls.rows,
    log,
    responses,
    responseService,
    open,
    app,
    send,
    post,
    /** Creates a response. Returns the body; throws if the status differs. */
    // biome-ignore lint/suspicious/noExplicitAny: JSON of a response
    async create(fields: object, status = 200): Promise<any> {
      const response = await post(fields);
      if (response.status !== status) throw new Error(`${response.status}: ${await response.text()}`);
      return response.json();
    },
    /** Creates a streamed response. Returns its events. */
    async stream(fields: object): Promise<WireEvent[]> {
      const response = await post({ ...fields, stream: true });
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      return eventsOf(await response.text());
    },
  };
}

/** A response store in an in-memory database. */
export function memoryStore(): ResponseStore {
  const records = memoryRecords();
  onTestFinished(() => records.close());
  return responseStore(records);
}

/** Parses a stream. Throws if an event name differs from the type in its data. */
export function eventsOf(text: string): WireEvent[] {
  return text
    .split('\n\n')
    .filter((record) => record !== '' && !record.startsWith(':'))
    .map((record) => {
      const [, name, data = ''] = /^event: (.*)\ndata: (.*)$/.exec(record) ?? [];
      const event = JSON.parse(data) as WireEvent;
      if (event.type !== name) throw new Error(`an event of type ${event.type} is named ${name}`);
      return event;
    });
}

function toolsOf(tools: Readonly<Record<string, () => BuiltInTool>>): BuiltInTools {
  return {
    open(type) {
      const open = tools[type];
      if (open === undefined) throw invalidRequest('Set it up.', undefined, 'unsupported_value');
      return open();
    },
  };
}
