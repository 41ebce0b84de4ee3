/** Schema violations of a frame, for tests and recorded traces. */

import type { TObject } from '@sinclair/typebox';
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler';
import { CLIENT_EVENT_SCHEMAS } from '../../plugins/realtime/protocol/client-events.ts';
import type { Dialect } from '../../plugins/realtime/protocol/dialect.ts';
import { SERVER_EVENT_SCHEMAS } from '../../plugins/realtime/protocol/server-events.ts';
import { isRecord } from '../../src/kit/validation/is-record.ts';
import { firstIssue } from '../../src/kit/validation/value-errors.ts';

type Checkers = ReadonlyMap<unknown, TypeCheck<TObject>>;

const CLIENT = compiled(CLIENT_EVENT_SCHEMAS);
const SERVER: Readonly<Record<Dialect, Checkers>> = {
  spec: compiled(SERVER_EVENT_SCHEMAS.spec),
  ga: compiled(SERVER_EVENT_SCHEMAS.ga),
};

/**
 * @param frame an event of the server, parsed.
 * @returns what is wrong with it in this dialect, in words that name the field; undefined when it is right.
 */
export function serverEventFault(frame: unknown, dialect: Dialect): string | undefined {
  return faultOf(frame, SERVER[dialect]);
}

/** The same for an event that a client sends, which may have fields that are not known. */
export function clientEventFault(frame: unknown): string | undefined {
  return faultOf(frame, CLIENT);
}

function faultOf(frame: unknown, checkers: Checkers): string | undefined {
  if (!isRecord(frame)) return 'The frame is no JSON object.';
  const checker = checkers.get(frame.type);
  if (checker === undefined) return `Unknown event type ${JSON.stringify(frame.type)}.`;
  const fault = firstIssue(checker, frame);
  return fault === undefined ? undefined : `${frame.type}: '${fault.field}' ${fault.problem}.`;
}

function compiled(schemas: ReadonlyMap<string, TObject>): Checkers {
  return new Map([...schemas].map(([type, schema]) => [type, TypeCompiler.Compile(schema)]));
}
