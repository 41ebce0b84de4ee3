/** The first lines of a result file. Pure. */

import { isJsonObject, readJson } from '../../parts/json-text.ts';

/** What is read of a result file for its preview, in bytes, and how many of its lines are shown. */
export const RESULT_BYTES = 64 * 1024;
export const RESULT_LINES = 20;

export interface ResultLine {
  readonly id: string;
  /** Absent of a line that was answered. */
  readonly fault?: { readonly code: string; readonly message: string };
  /** JSON of what it was answered. */
  readonly answer?: string;
}

/**
 * @param text the beginning of a result file.
 * @param isWhole whether that is all of it; else its last line may be cut, and is left out.
 */
export function resultsOf(text: string, isWhole: boolean): readonly ResultLine[] {
  const lines = text.split('\n');
  const read = isWhole ? lines : lines.slice(0, -1);
  return read.flatMap(resultOf).slice(0, RESULT_LINES);
}

function resultOf(line: string): readonly ResultLine[] {
  const read = readJson(line);
  if ('fault' in read || !isJsonObject(read.value)) return [];
  const { custom_id, response, error } = read.value;
  const id = String(custom_id);
  if (isJsonObject(error))
    return [{ id, fault: { code: String(error.code), message: String(error.message) } }];
  return [{ id, answer: JSON.stringify(isJsonObject(response) ? response.body : null) }];
}
