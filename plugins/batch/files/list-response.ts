import type { FilePage } from '../../../src/contract/stores/file-store.ts';
import { fileObject } from './schema.ts';

/** Files that are written at once: a page may have 10,000, and more would hold up whoever else is served. */
const AT_ONCE = 1000;

/** The answer's JSON of GET /v1/files (openai-wire 2), written in several turns of the event loop when it is long. */
export async function fileList({ files, hasMore }: FilePage): Promise<string> {
  let data = '';
  for (let at = 0; at < files.length; at += AT_ONCE) {
    // Before the first, too: reading a long page took its time.
    if (files.length > AT_ONCE) await new Promise((resolve) => setImmediate(resolve));
    const some = files.slice(at, at + AT_ONCE).map((file) => JSON.stringify(fileObject(file)));
    data += `${at === 0 ? '' : ','}${some.join(',')}`;
  }
  const rest = { first_id: files[0]?.id ?? null, last_id: files.at(-1)?.id ?? null, has_more: hasMore };
  return `{"object":"list","data":[${data}],${JSON.stringify(rest).slice(1)}`;
}
