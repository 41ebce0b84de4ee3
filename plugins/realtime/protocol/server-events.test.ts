import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { schemaArbitrary } from '../../../test/generators/schema-arbitrary.ts';
import { repetitions } from '../../../test/harness/tier.ts';
import { serverEventError } from '../../../tools/trace-check/frame-schema.ts';
import { SERVER_EVENT_DOCS } from '../docs/events.ts';
import type { Dialect } from './dialect.ts';
import { SERVER_EVENT_SCHEMAS, type ServerEvent } from './server-events.ts';

/** The example of an event with `changes`; undefined removes a field. */
function changed(type: ServerEvent['type'], changes: Record<string, unknown>): unknown {
  const event = { ...SERVER_EVENT_DOCS[type].example, event_id: 'event_1', ...changes };
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined));
}

/** A copy of a value with a changed field; undefined removes it. */
function at(value: unknown, path: string, to: unknown): unknown {
  const [name = '', ...rest] = path.split('.');
  const copy = structuredClone(value) as Record<string, unknown>;
  if (rest.length > 0) copy[name] = at(copy[name], rest.join('.'), to);
  else if (to === undefined) delete copy[name];
  else copy[name] = to;
  return copy;
}

describe('the events', () => {
  it('of the default dialect are those of the specification', () => {
    expect([...SERVER_EVENT_SCHEMAS.spec.keys()].sort()).toEqual([
      'conversation.item.created',
      'conversation.item.input_audio_transcription.completed',
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.failed',
      'error',
      'input_audio_buffer.cleared',
      'input_audio_buffer.committed',
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'response.audio.delta',
      'response.audio.done',
      'response.audio_transcript.delta',
      'response.audio_transcript.done',
      'response.content_part.added',
      'response.content_part.done',
      'response.created',
      'response.done',
      'response.output_item.added',
      'response.output_item.done',
      'session.created',
      'session.updated',
    ]);
  });

  it('of the GA dialect have other names, and there are four more', () => {
    const spec = SERVER_EVENT_SCHEMAS.spec;
    expect([...SERVER_EVENT_SCHEMAS.ga.keys()].filter((type) => !spec.has(type)).sort()).toEqual([
      'conversation.item.added',
      'conversation.item.done',
      'conversation.item.retrieved',
      'conversation.item.truncated',
      'response.output_audio.delta',
      'response.output_audio.done',
      'response.output_audio_transcript.delta',
      'response.output_audio_transcript.done',
    ]);
  });
});

describe('the schemas reject', () => {
  it.each([
    ['no event_id', 'input_audio_buffer.cleared', 'event_id', undefined],
    ['an event_id with another prefix', 'input_audio_buffer.cleared', 'event_id', 'item_1'],
    ['an unknown field', 'input_audio_buffer.cleared', 'extra', 1],
    ['a missing previous item', 'input_audio_buffer.committed', 'previous_item_id', undefined],
    ['a fraction of a millisecond', 'input_audio_buffer.speech_started', 'audio_start_ms', 0.5],
    ['an error without a param', 'error', 'error.param', undefined],
    ['an unknown code', 'error', 'error.code', 'invalid_value'],
    ['null for an optional field', 'conversation.item.input_audio_transcription.failed', 'error.param', null],
    [
      'incomplete usage details',
      'conversation.item.input_audio_transcription.completed',
      'usage.input_token_details',
      { audio_tokens: 1 },
    ],
    ['an empty delta', 'response.audio.delta', 'delta', ''],
    ['a second part', 'response.audio.delta', 'content_index', 1],
    ['audio in a part', 'response.content_part.done', 'part.audio', 'AAAA'],
    ['the GA name of a part', 'response.content_part.done', 'part.type', 'output_audio'],
    ['an item without a status', 'response.output_item.done', 'item.status', undefined],
    ['null for a status', 'response.output_item.done', 'item.status', null],
    ['usage before the end', 'response.created', 'response.usage', {}],
    ['a completed response without usage', 'response.done', 'response.usage', null],
    ['details of a completed response', 'response.done', 'response.status_details', { type: 'completed' }],
    ['no metadata', 'response.done', 'response.metadata', undefined],
    ['a rate that is not a number', 'session.created', 'session.audio.input.format.rate', '24000'],
    ['no noise_reduction', 'session.created', 'session.audio.input.noise_reduction', undefined],
    ['automatic responses', 'session.updated', 'session.audio.input.turn_detection.create_response', true],
  ] as const)('%s', (_, type, path, value) => {
    const right = changed(type, {});
    expect(serverEventError(right, 'spec')).toBeUndefined();
    expect(serverEventError(at(right, path, value), 'spec')).toContain(`${type}: '${path}`);
  });

  it('an audio item without the key of its transcript', () => {
    const item = (part: object) => ({
      ...SERVER_EVENT_DOCS['conversation.item.created'].example.item,
      content: [part],
    });
    const created = (part: object) =>
      serverEventError(changed('conversation.item.created', { item: item(part) }), 'spec');
    expect(created({ type: 'input_audio', transcript: null })).toBeUndefined();
    expect(created({ type: 'input_audio' })).toBe(
      "conversation.item.created: 'item.content.0.transcript' is required and must be a string or null.",
    );
  });

  it('a cancelled response with usage, and a failed one without its error', () => {
    const { response } = SERVER_EVENT_DOCS['response.done'].example;
    const done = (changes: object) =>
      serverEventError(changed('response.done', { response: { ...response, ...changes } }), 'spec');
    const cancelled = {
      status: 'cancelled',
      status_details: { type: 'cancelled', reason: 'client_cancelled' },
    };
    expect(done({ ...cancelled, usage: null })).toBeUndefined();
    expect(done(cancelled)).toBe("response.done: 'response.usage' must be null.");
    expect(done({ status: 'failed', status_details: { type: 'failed' }, usage: null })).toBe(
      "response.done: 'response.status_details.error' is required and must be an object.",
    );
  });

  it.each([
    ['the GA name of an event', { type: 'response.output_audio.done', event_id: 'event_1' }, 'spec'],
    ['the name of the specification in GA', changed('response.audio.done', {}), 'ga'],
    ['an event without a type', { event_id: 'event_1' }, 'spec'],
    ['a property of every object as the type', { type: 'constructor', event_id: 'event_1' }, 'spec'],
  ] as const)('%s', (_, frame, dialect) => {
    expect(serverEventError(frame, dialect)).toContain('Unknown event type');
  });

  it.each([null, 'text', 1, [[]]])('%j', (frame) => {
    expect(serverEventError(frame, 'spec')).toBe('The frame is not a JSON object.');
  });
});

describe('further fields of a session', () => {
  it.each(['session', 'session.audio.input', 'session.audio.input.transcription', 'session.audio.output'])(
    'are accepted in %s with any value',
    (path) => {
      const event = at(changed('session.updated', {}), `${path}.instructions`, { deep: [1] });
      expect(serverEventError(event, 'spec')).toBeUndefined();
    },
  );
});

describe('the agents SDK', () => {
  /** Uses the schemas of the SDK: it drops events that violate them, and crashes on invalid items. */
  const dist = new URL('../../../node_modules/@openai/agents-realtime/dist/', import.meta.url);
  const own = <T>(file: string): Promise<T> => import(new URL(file, dist).href);
  interface Schema {
    safeParse(value: unknown): { readonly success: boolean; readonly error?: unknown };
  }

  it('accepts every GA event', async () => {
    const { realtimeServerEventSchema } = await own<{ realtimeServerEventSchema: Schema }>(
      'openaiRealtimeEvents.mjs',
    );
    const events = fc.oneof(...[...SERVER_EVENT_SCHEMAS.ga.values()].map(schemaArbitrary));
    const { realtimeMessageItemSchema } = await own<{ realtimeMessageItemSchema: Schema }>('items.mjs');
    fc.assert(
      fc.property(events, (event) => {
        const { type, item } = event as { type: string; item?: { type: string; id: string } };
        // The SDK does not know images and ignores the event.
        fc.pre(!JSON.stringify(event).includes('input_image'));
        // The SDK uses the `added` and `done` events instead.
        fc.pre(type !== 'conversation.item.created');
        expect(realtimeServerEventSchema.safeParse(event)).toMatchObject({ success: true });
        if (item?.type !== 'message') return;
        expect(realtimeMessageItemSchema.safeParse({ ...item, itemId: item.id })).toMatchObject({
          success: true,
        });
      }),
      { numRuns: repetitions(667, 2000) },
    );
  });
});

it.each(['spec', 'ga'] satisfies Dialect[])('every %s event has a closed schema', (dialect) => {
  for (const schema of SERVER_EVENT_SCHEMAS[dialect].values()) {
    expect(schema.additionalProperties).toBe(false);
    expect(schema.required).toEqual(expect.arrayContaining(['type', 'event_id']));
  }
});
