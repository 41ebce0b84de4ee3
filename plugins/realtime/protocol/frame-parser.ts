/** Parses the frames of clients. */

import type { TObject } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { isRecord } from '../../../src/kit/validation/is-record.ts';
import { isNestedWithin } from '../../../src/kit/validation/nesting.ts';
import { firstIssue } from '../../../src/kit/validation/value-errors.ts';
import { MAX_DEPTH, MAX_EVENT_CHARACTERS, MAX_EVENT_ID_CHARACTERS, MAX_VALUES } from '../limits.ts';
import { decodeBase64 } from './base64.ts';
import { invalidEvent, type ProtocolError } from './errors.ts';

const APPEND = 'input_audio_buffer.append';

/** An event whose audio is decoded from base64. */
export type DecodedEvent<Event> = Event extends { readonly type: typeof APPEND }
  ? Omit<Event, 'audio'> & { readonly audio: Uint8Array }
  : Event;

export type ParsedEvent<Event> = { readonly event: Event } | RejectedFrame;

export interface RejectedFrame {
  readonly error: ProtocolError;
  /** OpenAI's code of the error, more specific than that of the specification. */
  readonly openaiCode: string;
  /** The event id of the frame, if it can be echoed. */
  readonly eventId: string | null;
}

/**
 * Returns a parser of frames. It never throws; an invalid frame results in an error.
 * @param schemas schemas of all events by `type`, whose values have the type `Event` when their audio is decoded.
 * @param aliases types that are replaced, with the type of the result.
 */
export function frameParser<Event>(
  schemas: ReadonlyMap<string, TObject>,
  aliases: Readonly<Record<string, string>> = {},
): (frame: string | Uint8Array) => ParsedEvent<Event> {
  const checkers = new Map([...schemas].map(([type, schema]) => [type, TypeCompiler.Compile(schema)]));
  const types = [...checkers.keys()].map((type) => JSON.stringify(type)).join(', ');

  function parse(frame: string | Uint8Array): ParsedEvent<Event> {
    if (typeof frame !== 'string') {
      const message = 'Binary frames are not accepted: send events as JSON text, with audio in base64.';
      return rejected('invalid_event', message);
    }
    if (!isWithinValueLimit(frame)) {
      return rejected(
        'invalid_event',
        `An event may contain at most ${MAX_VALUES} commas and brackets: it has too many fields.`,
      );
    }
    let value: unknown;
    try {
      value = JSON.parse(frame);
    } catch {
      return rejected('invalid_json', 'The frame is not valid JSON.');
    }
    if (!isRecord(value))
      return rejected('invalid_event', "The frame must be a JSON object with a 'type'.", 'type');
    const invalid = validateEvent(value, frame.length);
    if (invalid !== undefined) return { ...invalid, eventId: readableEventId(value) };
    const { type, audio } = value as { readonly type: string; readonly audio?: string };
    if (type === APPEND) {
      const bytes = decodeBase64(audio ?? '');
      if (bytes === undefined) return { ...NOT_BASE64, eventId: readableEventId(value) };
      return { event: { ...value, audio: bytes } as Event };
    }
    const alias = aliases[type];
    return { event: (alias === undefined ? value : { ...value, type: alias }) as Event };
  }

  /**
   * Returns an error if the event is not valid.
   * @param characters length of its frame.
   */
  function validateEvent(
    event: Readonly<Record<string, unknown>>,
    characters: number,
  ): Omit<RejectedFrame, 'eventId'> | undefined {
    const { type } = event;
    if (type === undefined) {
      const error = invalidEvent(`'type' is required and must be one of ${types}.`, 'type');
      return { error, openaiCode: 'missing_required_parameter' };
    }
    const checker = typeof type === 'string' ? checkers.get(type) : undefined;
    if (checker === undefined) {
      return { error: invalidEvent(`'type' must be one of ${types}.`, 'type'), openaiCode: 'invalid_value' };
    }
    // Every message contains the name of the event, because some clients do not track event ids (openai-wire
    // 8.8).
    const reject = (reason: string, param?: string, openaiCode = 'invalid_event') => ({
      error: invalidEvent(`${type} rejected: ${reason}.`, param),
      openaiCode,
    });
    if (type !== APPEND) {
      if (characters > MAX_EVENT_CHARACTERS) {
        return reject(`the event may have at most ${MAX_EVENT_CHARACTERS} characters`);
      }
      if (!isNestedWithin(event, MAX_DEPTH)) {
        return reject(`lists and objects may be nested at most ${MAX_DEPTH} levels deep`);
      }
    }
    const issue = firstIssue(checker, event);
    return issue && reject(`'${issue.field}' ${issue.problem}`, issue.field, issue.code);
  }

  return parse;
}

const NOT_BASE64: Omit<RejectedFrame, 'eventId'> = {
  error: invalidEvent(
    "'audio' must be base64 (RFC 4648, section 4): A-Z a-z 0-9 + /, with padding and without line breaks.",
    'audio',
  ),
  openaiCode: 'invalid_value',
};

function readableEventId({ event_id }: Readonly<Record<string, unknown>>): string | null {
  return typeof event_id === 'string' && event_id.length <= MAX_EVENT_ID_CHARACTERS ? event_id : null;
}

function rejected(openaiCode: string, message: string, param: string | null = null): RejectedFrame {
  return { error: invalidEvent(message, param), openaiCode, eventId: null };
}

/**
 * Checked before parsing: 33 MB of brackets would take seconds and gigabytes to parse. Base64 contains none
 * of these characters, so an append is only scanned.
 */
function isWithinValueLimit(text: string): boolean {
  if (text.length <= MAX_VALUES) return true;
  let values = 0;
  for (const mark of [',', '[', '{']) {
    for (let index = text.indexOf(mark); index !== -1; index = text.indexOf(mark, index + 1)) {
      values += 1;
      if (values > MAX_VALUES) return false;
    }
  }
  return true;
}
