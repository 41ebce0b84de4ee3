/** The minimum work of any batch: reading, parsing and writing lines. */

import { open } from 'node:fs/promises';
import { newId } from '../../src/contract/core/id.ts';

async function* linesOf(path: string): AsyncGenerator<readonly string[], void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of Bun.file(path).stream()) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield lines;
  }
  if (rest !== '') yield [rest];
}

/** Reads a file, parses each line and writes its result to another one, which is on the disk at the end. */
export async function rewriteLoop(from: string, to: string): Promise<void> {
  const file = await open(to, 'w');
  for await (const lines of linesOf(from)) {
    let text = '';
    for (const line of lines) {
      const { custom_id, body } = JSON.parse(line);
      const response = { status_code: 200, request_id: newId('request'), body: { echo: body } };
      text += `${JSON.stringify({ id: newId('batchLine'), custom_id, response, error: null })}\n`;
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
