/** `metadata` that clients attach to objects (openai-wire 1.8). */

import { Type } from '@sinclair/typebox';
import { invalidRequest } from '../../contract/core/error.ts';

const PAIRS = 16;
const KEY_CHARACTERS = 64;
const VALUE_CHARACTERS = 512;

/** Schema of `metadata`. {@link checkMetadata} checks the limits that JSON Schema cannot express well. */
export const MetadataSchema = Type.Record(Type.String(), Type.String({ maxLength: VALUE_CHARACTERS }), {
  description: `At most ${PAIRS} pairs; keys of at most ${KEY_CHARACTERS} characters.`,
  examples: [{ topic: 'birds' }],
});

/** @throws ServiceError 400 for too many pairs and for keys that are too long. */
export function checkMetadata(metadata: Readonly<Record<string, string>>): void {
  const keys = Object.keys(metadata);
  if (keys.length > PAIRS) {
    throw invalidRequest(`'metadata' must have at most ${PAIRS} pairs.`, 'metadata', 'invalid_value');
  }
  if (keys.some((key) => key.length > KEY_CHARACTERS)) {
    const message = `The keys of 'metadata' must have at most ${KEY_CHARACTERS} characters.`;
    throw invalidRequest(message, 'metadata', 'string_above_max_length');
  }
}
