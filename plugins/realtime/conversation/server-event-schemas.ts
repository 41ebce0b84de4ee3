/**
 * Schemas of all server events of a conversation, including `event_id`, in the names of both protocols. Those of the beta protocol
 * are derived, as its events are (`beta-events.ts`).
 */

import { Kind, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { CONVERSATION_EVENT_SCHEMAS } from '../../../src/conversation/events/server-events.ts';
import { closed } from '../../../src/kit/validation/schemas.ts';
import type { Dialect } from '../protocol/dialect.ts';
import { BETA_NAMES, BETA_PARTS, hasBetaEvent } from './beta-events.ts';
import {
  BetaConversationSessionSchema,
  BetaFormatSchema,
  BetaModalitiesSchema,
  ConversationSessionSchema,
} from './session-schema.ts';

function onWire(type: string, payload: TProperties): [string, TObject] {
  const event_id = Type.String({ pattern: '^event_.' });
  return [type, closed({ type: Type.Literal(type), event_id, ...payload })];
}

function sessionEvents(session: TSchema): [string, TObject][] {
  return ['session.created', 'session.updated'].map((type) => onWire(type, { session }));
}

const GA: readonly (readonly [type: string, payload: TProperties])[] = [...CONVERSATION_EVENT_SCHEMAS].map(
  ([type, { properties }]) => {
    const { type: _, ...payload } = properties;
    return [type, payload];
  },
);

function betaEvents(): [string, TObject][] {
  return GA.filter(([type]) => hasBetaEvent(type)).map(([type, payload]) =>
    onWire(BETA_NAMES[type] ?? type, betaProperties(payload)),
  );
}

/** Converts the responses and the names of parts in a schema. */
export function toBetaSchema(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toBetaSchema);
  const schema = value as TSchema;
  if (schema[Kind] === 'Literal') return Type.Literal(BETA_PARTS[schema.const] ?? schema.const);
  if (schema.properties?.object?.const === 'realtime.response') return betaResponse(schema as TObject);
  // Symbols identify the kind of a schema.
  const entries = Reflect.ownKeys(schema).map((key) => [key, toBetaSchema(Reflect.get(schema, key))]);
  return Object.fromEntries(entries);
}

function betaResponse({ properties }: TObject): TObject {
  const { output_modalities, audio, ...others } = properties;
  return closed({
    ...betaProperties(others),
    modalities: BetaModalitiesSchema,
    output_audio_format: BetaFormatSchema,
    voice: Type.String(),
  });
}

function betaProperties(properties: TProperties): TProperties {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, toBetaSchema(schema) as TSchema]),
  );
}

/** By `type`. */
export const CONVERSATION_SERVER_EVENT_SCHEMAS: Readonly<Record<Dialect, ReadonlyMap<string, TObject>>> = {
  ga: new Map([
    ...sessionEvents(ConversationSessionSchema),
    ...GA.map(([type, payload]) => onWire(type, payload)),
  ]),
  spec: new Map([...sessionEvents(BetaConversationSessionSchema), ...betaEvents()]),
};
