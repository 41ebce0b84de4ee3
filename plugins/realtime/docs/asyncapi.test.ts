import { describe, expect, it } from 'vitest';
import { clientEventError, serverEventError } from '../../../tools/trace-check/frame-schema.ts';
import { MAX_BUFFERED_BYTES } from '../limits.ts';
import { CLIENT_EVENT_SCHEMAS } from '../protocol/client-events.ts';
import { ERROR_TYPES } from '../protocol/error-codes.ts';
import { SERVER_EVENT_SCHEMAS } from '../protocol/server-events.ts';
import { asyncApiDocument } from './asyncapi.ts';
import { SessionUpdateSchema } from './session-update.ts';

/** The document as read from JSON. */
const document = JSON.parse(JSON.stringify(asyncApiDocument('1.2.3'))) as Document;

const SESSION_UPDATE = JSON.parse(JSON.stringify(SessionUpdateSchema));

interface Reference {
  readonly $ref: string;
}

interface Message {
  readonly name: string;
  readonly summary: string;
  readonly payload: unknown;
  readonly examples: readonly { readonly payload: unknown }[];
}

interface Document {
  readonly asyncapi: string;
  readonly info: { readonly version: string; readonly description: string };
  readonly channels: { readonly realtime: { readonly messages: Readonly<Record<string, Reference>> } };
  readonly operations: Readonly<
    Record<'receiveEvents' | 'sendEvents' | 'sendGaEvents', { readonly messages: readonly Reference[] }>
  >;
  readonly 'x-limits': readonly unknown[];
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>;
    readonly schemas: Readonly<Record<string, unknown>>;
  };
}

/** The target of a reference. */
function referred($ref: string): unknown {
  const names = $ref.replace(/^#\//, '').split('/');
  return names.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    document,
  );
}

/** Every reference in the document. */
function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = '$ref' in value ? [String(value.$ref)] : [];
  return [...own, ...Object.values(value).flatMap(references)];
}

/** Resolves all references, as a validator does. */
function whole(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(whole);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return whole(referred(String(value.$ref)));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, whole(inner)]));
}

/** Messages of an operation, through the channel. */
function messagesOf(operation: keyof Document['operations']): Message[] {
  return document.operations[operation].messages.map(({ $ref }) => {
    const inChannel = referred($ref) as Reference;
    return referred(inChannel.$ref) as Message;
  });
}

describe('the document', () => {
  it('is AsyncAPI 3 with the version of the service', () => {
    expect(document.asyncapi).toBe('3.0.0');
    expect(document.info.version).toBe('1.2.3');
  });

  it('contains the targets of all references', () => {
    const all = references(document);
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter(($ref) => referred($ref) === undefined)).toEqual([]);
  });

  it('uses all named schemas', () => {
    const used = new Set(references(document));
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !used.has(`#/components/schemas/${name}`),
    );
    expect(unused).toEqual([]);
  });

  it('describes all error codes', () => {
    for (const code of Object.keys(ERROR_TYPES)) expect(document.info.description).toContain(`| ${code} |`);
  });
});

it('contains the buffer limit', () => {
  const limit = `${MAX_BUFFERED_BYTES / 1024 / 1024} MiB`;
  expect(document['x-limits']).toContainEqual({ what: 'Audio between commits', limit });
});

describe.each([
  ['receiveEvents', CLIENT_EVENT_SCHEMAS, clientEventError],
  ['sendEvents', SERVER_EVENT_SCHEMAS.spec, (frame: unknown) => serverEventError(frame, 'spec')],
  ['sendGaEvents', SERVER_EVENT_SCHEMAS.ga, (frame: unknown) => serverEventError(frame, 'ga')],
] as const)('%s', (operation, schemas, faultOf) => {
  it('contains every event once with a description', () => {
    const messages = messagesOf(operation);
    expect(messages.map(({ name }) => name).sort()).toEqual([...schemas.keys()].sort());
    for (const { summary } of messages) expect(summary).toMatch(/^\S[^\n]*\.$/);
  });

  it('contains the schemas that validate frames', () => {
    for (const { name, payload } of messagesOf(operation)) {
      const judged = JSON.parse(JSON.stringify(schemas.get(name)));
      // Validated field by field (session-update.test.ts).
      if (name === 'session.update') judged.properties.session = SESSION_UPDATE;
      expect(whole(payload)).toEqual(judged);
    }
  });

  it('has examples that match the schemas', () => {
    for (const { name, examples } of messagesOf(operation)) {
      expect(examples.length).toBeGreaterThan(0);
      for (const { payload } of examples) {
        expect(payload).toMatchObject({ type: name });
        expect(faultOf(payload)).toBeUndefined();
      }
    }
  });
});
