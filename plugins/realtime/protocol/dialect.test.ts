import type { TSchema } from '@sinclair/typebox';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { schemaArbitrary } from '../../../test/generators/schema-arbitrary.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { serverEventError } from '../../../tools/trace-check/frame-schema.ts';
import { SERVER_EVENT_DOCS } from '../docs/events.ts';
import { toDialect, upgradeDialect } from './dialect.ts';
import { SERVER_EVENT_SCHEMAS, type ServerEvent, type WireEvent } from './server-events.ts';

const GA_ITEM_EVENTS = [
  'conversation.item.added',
  'conversation.item.done',
  'conversation.item.retrieved',
] as const;

const stamped = (event: WireEvent) => ({ ...event, event_id: 'event_1' });
const faults = (events: readonly WireEvent[], dialect: 'spec' | 'ga') =>
  events.map((event) => serverEventError(stamped(event), dialect)).filter((fault) => fault !== undefined);

/** Any event of the machines, with all fields. */
const anyEvent: fc.Arbitrary<ServerEvent> = fc.oneof(
  ...[...SERVER_EVENT_SCHEMAS.spec.values()].map(withoutEventId),
  withoutEventId(schemaOf('ga', 'conversation.item.truncated')),
  ...GA_ITEM_EVENTS.map((type) =>
    withoutEventId(schemaOf('spec', 'conversation.item.created')).map((event) => {
      const { item, previous_item_id } = event as ServerEvent & { type: 'conversation.item.created' };
      return type === 'conversation.item.retrieved' ? { type, item } : { type, item, previous_item_id };
    }),
  ),
);

function schemaOf(dialect: 'spec' | 'ga', type: string): TSchema {
  const schema = SERVER_EVENT_SCHEMAS[dialect].get(type);
  if (schema === undefined) throw new Error(`${dialect} has no ${type}`);
  return schema;
}

function withoutEventId(schema: TSchema): fc.Arbitrary<ServerEvent> {
  return schemaArbitrary(schema).map((value) => {
    const { event_id: _, ...event } = value as ServerEvent & { event_id: string };
    return event;
  });
}

/** Reverts every GA name to that of the specification. */
function inSpecWords(value: unknown): unknown {
  const NAMES: Readonly<Record<string, string>> = { output_audio: 'audio', output_text: 'text' };
  if (Array.isArray(value)) return value.map(inSpecWords);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== 'type' || typeof inner !== 'string') return [key, inSpecWords(inner)];
      return [key, NAMES[inner] ?? inner.replace('response.output_audio', 'response.audio')];
    }),
  );
}

describe('the dialect of an upgrade', () => {
  it.each([
    ['nothing', '', {}, 'spec', false],
    ['?events=ga', 'events=ga', {}, 'ga', true],
    ['?events=spec', 'events=spec', {}, 'spec', true],
    ['the beta header', '', { 'OpenAI-Beta': 'realtime=v1' }, 'spec', true],
    ['the beta among other values', '', { 'OpenAI-Beta': 'assistants=v2, realtime=v1' }, 'spec', true],
    ['another beta', '', { 'OpenAI-Beta': 'assistants=v2' }, 'spec', false],
    ['the beta subprotocol', '', protocols('realtime, openai-beta.realtime-v1'), 'spec', true],
    ['the header of the agents SDK', '', { 'X-OpenAI-Agents-SDK': 'openai-agents-sdk.0.20.0' }, 'ga', true],
    [
      'the subprotocol of the agents SDK',
      '',
      protocols('realtime,bearer.k,openai-agents-sdk.0.20.0'),
      'ga',
      true,
    ],
    ['only a key', '', protocols('realtime, openai-insecure-api-key.k'), 'spec', false],
    [
      '`events` before the beta',
      'events=ga',
      { 'OpenAI-Beta': 'realtime=v1', 'X-OpenAI-Agents-SDK': '1' },
      'ga',
      true,
    ],
    ['`events` before the agents SDK', 'events=spec', { 'X-OpenAI-Agents-SDK': '1' }, 'spec', true],
    [
      'the beta before the agents SDK',
      'model=other',
      { 'OpenAI-Beta': 'realtime=v1', 'X-OpenAI-Agents-SDK': '1' },
      'spec',
      true,
    ],
    ['not the user agent', '', { 'User-Agent': 'OpenAI/JS 7.57.0' }, 'spec', false],
  ] as const)('%s', (_, query, headers, dialect, fixed) => {
    const asked = upgradeDialect(new URLSearchParams(query), new Headers(headers));
    expect(asked).toEqual({ dialect, fixed });
  });

  it.each([
    ['another value', 'events=AAA', "'events' must be one of spec, ga."],
    ['an empty value', 'events=', "'events' must be one of spec, ga."],
    ['two values', 'events=ga&events=spec', "Duplicate query parameter 'events'."],
  ])('is rejected for %s of events', (_, query, message) => {
    const refused = { kind: 'invalid_request', message, param: 'events', code: 'invalid_value' };
    expect(() => upgradeDialect(new URLSearchParams(query), new Headers())).toThrow(
      expect.objectContaining(refused),
    );
  });

  function protocols(offered: string) {
    return { 'Sec-WebSocket-Protocol': offered };
  }
});

describe('toDialect', () => {
  it('returns events that match the schemas of the dialect', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(faults(toDialect(event, 'spec'), 'spec')).toEqual([]);
        expect(faults(toDialect(event, 'ga'), 'ga')).toEqual([]);
      }),
      { numRuns: repetitions(1000, 3000) },
    );
  });

  it('returns the event itself by default, or nothing for events of the GA dialect only', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const isGaOnly = !SERVER_EVENT_SCHEMAS.spec.has(event.type);
        expect(toDialect(event, 'spec')).toEqual(isGaOnly ? [] : [event]);
      }),
    );
  });

  it('changes only names for GA', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const [first, ...more] = toDialect(event, 'ga');
        expect(inSpecWords(first)).toEqual(event);
        expect(more.length).toBe(event.type === 'conversation.item.created' ? 2 : 0);
      }),
    );
  });

  it('never returns both names of an audio event', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const isOfGa = ({ type }: WireEvent) => type.startsWith('response.output_audio');
        const isOfSpec = ({ type }: WireEvent) => type.startsWith('response.audio');
        expect(toDialect(event, 'spec').some(isOfGa)).toBe(false);
        expect(toDialect(event, 'ga').some(isOfSpec)).toBe(false);
      }),
    );
  });

  it('splits the creation of an item into three events for GA', () => {
    const { example } = SERVER_EVENT_DOCS['conversation.item.created'];
    const { item, previous_item_id } = example;
    expect(toDialect(example, 'ga')).toEqual([
      { type: 'conversation.item.created', item, previous_item_id },
      { type: 'conversation.item.added', item, previous_item_id },
      { type: 'conversation.item.done', item, previous_item_id },
    ]);
  });

  it('renames the parts of assistant items in every event', () => {
    const { example: done } = SERVER_EVENT_DOCS['response.done'];
    expect(toDialect(done, 'ga')).toMatchObject([
      { response: { output: [{ content: [{ type: 'output_audio', transcript: 'Hello there.' }] }] } },
    ]);
    const { example: item } = SERVER_EVENT_DOCS['response.output_item.done'];
    const text = { ...item, item: { ...item.item, content: [{ type: 'text', text: 'Hi' }] as const } };
    expect(toDialect(text, 'ga')).toMatchObject([
      { item: { content: [{ type: 'output_text', text: 'Hi' }] } },
    ]);
    expect(toDialect(SERVER_EVENT_DOCS['response.content_part.done'].example, 'ga')).toMatchObject([
      { part: { type: 'audio' } },
    ]);
  });
});
