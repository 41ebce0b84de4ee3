/** Preview of a batch result file. Pure. */

import { isJsonObject, readJson } from '../../components/json-text.ts';

/** Bytes of a result file that are read for its preview, and number of lines that are shown. */
export const RESULT_BYTES = 64 * 1024;
export const RESULT_LINES = 20;

export interface ResultLine {
  readonly id: string;
  /** Absent if the request succeeded. */
  readonly error?: { readonly code: string; readonly message: string };
  /** Response body as JSON text. */
  readonly response?: string;
}

/**
 *
 * @param text the beginning of a result file.
 * @param isWhole whether `text` is the whole file; otherwise the last line may be truncated and is omitted.
 */
export function resultsOf(text: string, isWhole: boolean): readonly ResultLine[] {
  const lines = text.split('\n');
  const read = isWhole ? lines : lines.slice(0, -1);
  return read.flatMap(resultOf).slice(0, RESULT_LINES);
}

function resultOf(line: string): readonly ResultLine[] {
  const read = readJson(line);
  if ('error' in read || !isJsonObject(read.value)) return [];
  const { custom_id, response, error } = read.value;
  const id = String(custom_id);
  if (isJsonObject(error))
    return [{ id, error: { code: String(error.code), message: String(error.message) } }];
  return [{ id, response: JSON.stringify(isJsonObject(response) ? response.body : null) }];
}
