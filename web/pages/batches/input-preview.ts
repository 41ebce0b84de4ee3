/**
 * Preview of a batch input file, with hints about obvious errors. The service does the real validation. Pure.
 */

import { isJsonObject, readJson } from '../../components/json-text.ts';
import { ENDPOINTS, type Endpoint } from './batch-wire.ts';

/** Bytes of a file that are read for its preview, and number of lines that are shown. */
export const PREVIEW_BYTES = 256 * 1024;
export const PREVIEW_LINES = 5;
/** Maximum number of characters shown of a line. */
const MAX_SHOWN_CHARACTERS = 400;
/** Maximum size of an input file in bytes (plugins/batch/README.md). */
const MAX_BYTES = 209_715_200;

export interface PreviewLine {
  /** Line number starting at 1; empty lines count. */
  readonly number: number;
  readonly text: string;
  /** Why the service would reject the line, if this line alone shows it. */
  readonly hint: string | undefined;
}

export interface Preview {
  readonly lines: readonly PreviewLine[];
  /** Endpoint of the first line that has a valid `url`. */
  readonly endpoint: Endpoint | undefined;
  /** Problem of the file as a whole. */
  readonly hint: string | undefined;
}

export interface FileHead {
  readonly text: string;
  /** Size of the whole file in bytes. */
  readonly size: number;
  /** Whether the text is the whole file. */
  readonly isWhole: boolean;
}

/** The beginning of a text that becomes a file of `size` bytes. */
export function textHead(text: string, size: number): FileHead {
  return { text: text.slice(0, PREVIEW_BYTES), size, isWhole: text.length <= PREVIEW_BYTES };
}

/** Reads the first {@link PREVIEW_BYTES} of a file. */
export async function readFileHead(file: Blob): Promise<FileHead> {
  const text = await file.slice(0, PREVIEW_BYTES).text();
  return { text, size: file.size, isWhole: file.size <= PREVIEW_BYTES };
}

export function previewOf({ text, size, isWhole }: FileHead): Preview {
  const all = text.replace(/^\uFEFF/, '').split('\n');
  // The last line may be truncated; it is kept only if it is the only one.
  const read = isWhole || all.length === 1 ? all : all.slice(0, -1);
  const filled = read
    .map((line, index) => ({ number: index + 1, line: line.trim() }))
    .filter(({ line }) => line !== '');
  const ids = new Set<string>();
  const shown = filled.slice(0, PREVIEW_LINES).map(({ number, line }) => {
    const isCut = !isWhole && all.length === 1;
    return {
      number,
      text: line.length > MAX_SHOWN_CHARACTERS ? `${line.slice(0, MAX_SHOWN_CHARACTERS)} …` : line,
      hint: isCut ? undefined : lineHint(line, ids),
    };
  });
  return {
    lines: shown,
    endpoint: endpointOf(filled),
    hint: fileHint(size, filled.length),
  };
}

function fileHint(size: number, filled: number): string | undefined {
  if (size > MAX_BYTES) return `The file has ${size} bytes; the maximum is ${MAX_BYTES}.`;
  return filled === 0 ? 'The file contains no requests.' : undefined;
}

/** @param ids ids of the preceding lines; the id of this line is added. */
function lineHint(line: string, ids: Set<string>): string | undefined {
  const fields = objectOf(line);
  if (fields === undefined) return 'Not a JSON object.';
  const { custom_id: id, body } = fields;
  if (typeof id !== 'string' || id === '') return '"custom_id" is missing.';
  if (ids.has(id)) return '"custom_id" is not unique: an earlier line uses it.';
  ids.add(id);
  if (!isJsonObject(body)) return '"body" is missing: the request as an object.';
  if (typeof body.model !== 'string') return '"body.model" is missing.';
  return undefined;
}

/** Endpoint of the first line that has a valid `url`. */
function endpointOf(lines: readonly { readonly line: string }[]): Endpoint | undefined {
  for (const { line } of lines) {
    const url = objectOf(line)?.url;
    if (typeof url === 'string') return ENDPOINTS.find((endpoint) => endpoint === url);
  }
  return undefined;
}

function objectOf(line: string): Readonly<Record<string, unknown>> | undefined {
  const read = readJson(line);
  return 'value' in read && isJsonObject(read.value) ? read.value : undefined;
}
