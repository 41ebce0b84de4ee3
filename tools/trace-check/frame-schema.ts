/** Schema violations of a frame, for tests and recorded traces. */

import type { TObject } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import { CONVERSATION_SERVER_EVENT_SCHEMAS } from '../../plugins/realtime/conversation/server-event-schemas.ts';
import { CLIENT_EVENT_SCHEMAS } from '../../plugins/realtime/protocol/client-events.ts';
import type { Dialect } from '../../plugins/realtime/protocol/dialect.ts';
import { SERVER_EVENT_SCHEMAS } from '../../plugins/realtime/protocol/server-events.ts';
import { isRecord } from '../../src/kit/validation/is-record.ts';
import { firstIssue } from '../../src/kit/validation/value-errors.ts';
import type { ConversationDialect } from './rules/state.ts';

type Checkers = ReadonlyMap<unknown, TypeCheck<TObject>>;

const CLIENT = compiled(CLIENT_EVENT_SCHEMAS);
const SERVER: Readonly<Record<Dialect | ConversationDialect, Checkers>> = {
  spec: compiled(SERVER_EVENT_SCHEMAS.spec),
  ga: compiled(SERVER_EVENT_SCHEMAS.ga),
  conversation: compiled(CONVERSATION_SERVER_EVENT_SCHEMAS.ga),
  beta_conversation: compiled(CONVERSATION_SERVER_EVENT_SCHEMAS.spec),
};

/**
 * Validates a parsed event of the server.
 * @returns the first error with its field; undefined if the event is valid in this dialect.
 */
export function serverEventError(frame: unknown, dialect: Dialect | ConversationDialect): string | undefined {
  return errorOf(frame, SERVER[dialect]);
}

/** Validates a parsed event of a client, which may have unknown fields. @returns the first error; undefined if it is valid. */
export function clientEventError(frame: unknown): string | undefined {
  return errorOf(frame, CLIENT);
}

function errorOf(frame: unknown, checkers: Checkers): string | undefined {
  if (!isRecord(frame)) return 'The frame is not a JSON object.';
  const checker = checkers.get(frame.type);
  if (checker === undefined) return `Unknown event type ${JSON.stringify(frame.type)}.`;
  const issue = firstIssue(checker, frame);
  return issue === undefined ? undefined : `${frame.type}: '${issue.field}' ${issue.problem}.`;
}

function compiled(schemas: ReadonlyMap<string, TObject>): Checkers {
  return new Map([...schemas].map(([type, schema]) => [type, TypeCompiler.Compile(schema)]));
}
