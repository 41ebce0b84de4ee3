import type { FilePage } from '../../../src/contract/stores/file-store.ts';
import { toFileObject } from './schema.ts';

/** Files that are serialized without a pause: a page of 10,000 would block the event loop for too long. */
const CHUNK_SIZE = 1000;

/** The JSON body of GET /v1/files (openai-wire 2). Long lists yield to the event loop between chunks. */
export async function fileListJson({ files, hasMore }: FilePage): Promise<string> {
  let data = '';
  for (let at = 0; at < files.length; at += CHUNK_SIZE) {
    // Also before the first chunk, because reading a long page blocked the event loop.
    if (files.length > CHUNK_SIZE) await new Promise((resolve) => setImmediate(resolve));
    const some = files.slice(at, at + CHUNK_SIZE).map((file) => JSON.stringify(toFileObject(file)));
    data += `${at === 0 ? '' : ','}${some.join(',')}`;
  }
  const rest = { first_id: files[0]?.id ?? null, last_id: files.at(-1)?.id ?? null, has_more: hasMore };
  return `{"object":"list","data":[${data}],${JSON.stringify(rest).slice(1)}`;
}
