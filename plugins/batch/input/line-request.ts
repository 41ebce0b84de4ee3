/** Parses a line of a validated input file. */

import type { InputLine } from './line-splitter.ts';
import { decodeUtf8 } from './utf8.ts';

export interface LineRequest {
  readonly number: number;
  readonly customId: string;
  readonly body: unknown;
  readonly lengthBytes: number;
}

/** @throws Error if the line is invalid, which a validated file rules out. */
export function lineRequest({ number, bytes }: InputLine): LineRequest {
  if (bytes === undefined) throw new Error('a line of a validated file is too long');
  const { custom_id: customId, body } = parsed(bytes);
  if (typeof customId !== 'string') throw new Error('a line of a validated file has no custom_id');
  return { number, customId, body, lengthBytes: bytes.length };
}

function parsed(bytes: Uint8Array<ArrayBuffer>): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(decodeUtf8(bytes));
  } catch {
    // The parser's message quotes the line, which must not be logged.
    throw new Error('a line of a validated file is not a JSON object');
  }
}
