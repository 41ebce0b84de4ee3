/** The first lines of an input file, and what strikes the eye there. The service alone decides. Pure. */

import { isJsonObject, readJson } from '../../parts/json-text.ts';
import { ENDPOINTS, type Endpoint } from './batch-wire.ts';

/** What is read of a file for its preview, in bytes, and how many of its lines are shown. */
export const PREVIEW_BYTES = 256 * 1024;
export const PREVIEW_LINES = 5;
/** Most characters of a line that are shown. */
const SHOWN_CHARACTERS = 400;
/** Largest input file (plugins/batch/README.md). */
const MAX_BYTES = 209_715_200;

export interface PreviewLine {
  /** Counted from 1, empty lines too. */
  readonly number: number;
  readonly text: string;
  /** What the service would not take, as far as one line shows. */
  readonly hint: string | undefined;
}

export interface Preview {
  readonly lines: readonly PreviewLine[];
  /** What the first lines that name an address name. */
  readonly endpoint: Endpoint | undefined;
  /** Of the file as a whole. */
  readonly hint: string | undefined;
}

export interface BeginningOfFile {
  readonly text: string;
  /** Of the whole file, in bytes. */
  readonly size: number;
  /** Whether the text is all of it. */
  readonly isWhole: boolean;
}

/** The beginning of a text that is to be a file of so many bytes. */
export function beginningOfText(text: string, size: number): BeginningOfFile {
  return { text: text.slice(0, PREVIEW_BYTES), size, isWhole: text.length <= PREVIEW_BYTES };
}

/** Reads the beginning of a file. */
export async function beginningOf(file: Blob): Promise<BeginningOfFile> {
  const text = await file.slice(0, PREVIEW_BYTES).text();
  return { text, size: file.size, isWhole: file.size <= PREVIEW_BYTES };
}

export function previewOf({ text, size, isWhole }: BeginningOfFile): Preview {
  const all = text.replace(/^\uFEFF/, '').split('\n');
  // The last one may go on behind what was read, unless it is the only one to look at.
  const read = isWhole || all.length === 1 ? all : all.slice(0, -1);
  const filled = read
    .map((line, index) => ({ number: index + 1, line: line.trim() }))
    .filter(({ line }) => line !== '');
  const ids = new Set<string>();
  const shown = filled.slice(0, PREVIEW_LINES).map(({ number, line }) => {
    const isCut = !isWhole && all.length === 1;
    return {
      number,
      text: line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)} …` : line,
      hint: isCut ? undefined : hintOf(line, ids),
    };
  });
  return {
    lines: shown,
    endpoint: endpointOf(filled),
    hint: fileHint(size, filled.length),
  };
}

function fileHint(size: number, filled: number): string | undefined {
  if (size > MAX_BYTES) return `The file has ${size} bytes; the service takes at most ${MAX_BYTES}.`;
  return filled === 0 ? 'There is no line with a request in this file.' : undefined;
}

/** @param ids of the lines before; this line's is added. */
function hintOf(line: string, ids: Set<string>): string | undefined {
  const fields = objectOf(line);
  if (fields === undefined) return 'This is no JSON object.';
  const { custom_id: id, body } = fields;
  if (typeof id !== 'string' || id === '') return 'It needs a "custom_id".';
  if (ids.has(id)) return 'A line above has the same "custom_id".';
  ids.add(id);
  if (!isJsonObject(body)) return 'It needs a "body": the request.';
  if (typeof body.model !== 'string') return 'Its body needs a "model".';
  return undefined;
}

/** What the first line with an address names. */
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
