/**
 * Fields of the protocol that have no effect: the client receives the values that it sent (openai-wire 8.3).
 */

import { isNestedWithin } from '../../../src/kit/validation/nesting.ts';
import { MAX_DEPTH, MAX_ECHOED_BYTES } from '../limits.ts';
import type { FieldErrors, SentField } from './fields.ts';

/** Echoed fields of the session, of the GA protocol and of the beta protocol. */
export const ECHOED_FIELDS = [
  'instructions',
  'max_output_tokens',
  'max_response_output_tokens',
  'metadata',
  'parallel_tool_calls',
  'prompt',
  'reasoning',
  'temperature',
  'tool_choice',
  'tools',
  'tracing',
  'truncation',
] as const;

/** Echoed fields of `audio.input.transcription`. */
export const ECHOED_TRANSCRIPTION_FIELDS = ['delay'] as const;

/** Echoed values by their names in the session. */
export type Echoes = Readonly<Record<string, unknown>>;

/**
 * Replaces echoed values. Rejects a value that is nested too deeply or exceeds the remaining capacity. Values
 * are processed by growth, smallest first, so that an update is idempotent and does not depend on the order
 * of its fields.
 */
export function mergeEchoes(
  prior: Echoes,
  sent: ReadonlyMap<string, SentField>,
  errors: FieldErrors,
): Echoes {
  if (sent.size === 0) return prior;
  let freeBytes =
    MAX_ECHOED_BYTES - Object.values(prior).reduce<number>((sum, value) => sum + bytesOf(value), 0);
  const echoes = { ...prior };
  for (const { name, path, value, growthBytes } of byGrowth(prior, sent, errors)) {
    if (growthBytes > Math.max(freeBytes, 0)) {
      errors.invalid(
        path,
        `is too long: the echoed fields of a session may have ${MAX_ECHOED_BYTES} bytes in total`,
      );
    } else {
      echoes[name] = value;
      freeBytes -= growthBytes;
    }
  }
  return echoes;
}

function byGrowth(prior: Echoes, sent: ReadonlyMap<string, SentField>, errors: FieldErrors) {
  return [...sent]
    .filter(([, { path, value }]) => {
      const isShallow = isNestedWithin(value, MAX_DEPTH);
      if (!isShallow)
        errors.invalid(path, `may have at most ${MAX_DEPTH} levels of nested objects and lists`);
      return isShallow;
    })
    .map(([name, { path, value }]) => ({
      name,
      path,
      value,
      growthBytes: bytesOf(value) - (name in prior ? bytesOf(prior[name]) : 0),
    }))
    .sort((a, b) => a.growthBytes - b.growthBytes || (a.name < b.name ? -1 : 1));
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
