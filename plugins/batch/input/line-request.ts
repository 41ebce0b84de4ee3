/** A line of an input file that was checked. */

import type { InputLine } from './line-splitter.ts';
import { textOf } from './utf8.ts';

export interface LineRequest {
  readonly number: number;
  readonly customId: string;
  readonly body: unknown;
  readonly lengthBytes: number;
}

/** @throws Error when it is not what the check of the file let pass. */
export function lineRequest({ number, bytes }: InputLine): LineRequest {
  if (bytes === undefined) throw new Error('a line of a checked file is too long');
  const { custom_id: customId, body } = parsed(bytes);
  if (typeof customId !== 'string') throw new Error('a line of a checked file has no custom_id');
  return { number, customId, body, lengthBytes: bytes.length };
}

function parsed(bytes: Uint8Array<ArrayBuffer>): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(textOf(bytes));
  } catch {
    // What the parser says quotes the line.
    throw new Error('a line of a checked file is no JSON');
  }
}
