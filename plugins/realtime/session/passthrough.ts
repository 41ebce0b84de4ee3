/** Fields of the protocol that mean nothing here: a client gets back what it sent (openai-wire 8.3). */

import { isNestedWithin } from '../../../src/kit/validation/nesting.ts';
import { MAX_DEPTH } from '../protocol/client-events.ts';
import type { SentField, UpdateErrors } from './fields.ts';

/** Fields of the session that are echoed, of the GA protocol and of the beta one. */
export const ECHOED_FIELDS = [
  'include',
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

/** Fields of `audio.input.transcription` that are echoed. */
export const ECHOED_TRANSCRIPTION_FIELDS = ['delay', 'keywords', 'languages'] as const;

/** What a session keeps for echoes, as JSON in UTF-8. */
export const MAX_ECHOED_BYTES = 256 * 1024;

/** Echoed values by the name that the session gives them. */
export type Echoes = Readonly<Record<string, unknown>>;

/**
 * Puts new values in the place of the old ones. A value that is nested too deeply, or for which there is no
 * room beside the others, is refused. What grows least goes first, so that the same update has the same result
 * when it comes again, in whatever order its fields are.
 */
export function mergeEchoes(
  prior: Echoes,
  sent: ReadonlyMap<string, SentField>,
  errors: UpdateErrors,
): Echoes {
  if (sent.size === 0) return prior;
  let freeBytes =
    MAX_ECHOED_BYTES - Object.values(prior).reduce<number>((sum, value) => sum + bytesOf(value), 0);
  const echoes = { ...prior };
  for (const { name, path, value, growthBytes } of byGrowth(prior, sent, errors)) {
    if (growthBytes > Math.max(freeBytes, 0)) {
      errors.invalid(path, `is too long: what a session echoes may have ${MAX_ECHOED_BYTES} bytes in total`);
    } else {
      echoes[name] = value;
      freeBytes -= growthBytes;
    }
  }
  return echoes;
}

function byGrowth(prior: Echoes, sent: ReadonlyMap<string, SentField>, errors: UpdateErrors) {
  return [...sent]
    .filter(([, { path, value }]) => {
      const isShallow = isNestedWithin(value, MAX_DEPTH);
      if (!isShallow)
        errors.invalid(path, `may have at most ${MAX_DEPTH} objects and lists within one another`);
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
