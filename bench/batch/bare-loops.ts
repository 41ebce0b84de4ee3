/** The minimum work of any batch: reading, parsing and writing lines. */

import { open } from 'node:fs/promises';
import { newId } from '../../src/contract/core/id.ts';

async function* linesOf(path: string): AsyncGenerator<readonly string[], void, undefined> {
  const decoder = new TextDecoder();
  let remainder = '';
  for await (const bytes of Bun.file(path).stream()) {
    const lines = (remainder + decoder.decode(bytes, { stream: true })).split('\n');
    remainder = lines.pop() ?? '';
    yield lines;
  }
  if (remainder !== '') yield [remainder];
}

/** Reads a file, parses each line, writes its result to another file, and syncs that file. */
export async function rewriteLoop(from: string, to: string): Promise<void> {
  const file = await open(to, 'w');
  for await (const lines of linesOf(from)) {
    let text = '';
    for (const line of lines) {
      const { custom_id, body } = JSON.parse(line);
      const response = { status_code: 200, request_id: newId('req_'), body: { echo: body } };
      text += `${JSON.stringify({ id: newId('batch_req_'), custom_id, response, error: null })}\n`;
    }
    await file.write(text);
  }
  await file.sync();
  await file.close();
}

/** Reads a file and parses each line. */
export async function parseLoop(path: string): Promise<void> {
  for await (const lines of linesOf(path)) for (const line of lines) JSON.parse(line);
}
