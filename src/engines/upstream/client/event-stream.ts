/** Server-sent events of another server, of which only the data matters. */

import { upstreamFault } from './errors.ts';

/** Longest event, in characters with the ends of its lines; a whole transcript is one of them. */
const MAX_EVENT = 4 * 1024 * 1024;

/**
 * The data of each event, in order. An event that the end of the body cuts off is left out, as the standard
 * wants it.
 * @throws ServiceError `upstream` for an event that is too long.
 */
export async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  let held = 0;
  for await (const portion of body) {
    rest += decoder.decode(portion, { stream: true });
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) {
        data.push(line.slice(line[5] === ' ' ? 6 : 5));
        held += line.length + 1;
      } else if (line === '' && data.length > 0) {
        yield data.join('\n');
        data = [];
        held = 0;
      }
    }
    if (held + rest.length > MAX_EVENT) throw upstreamFault('an event of its answer is too long');
  }
}
