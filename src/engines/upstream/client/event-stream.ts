/** Parser for server-sent events (WHATWG HTML, section 9.2) of upstream servers. Only the `data` field is used. */

import { upstreamError } from './upstream-error.ts';

/** Maximum length of an event in characters, including line ends. A complete transcript may be one event. */
const MAX_EVENT = 4 * 1024 * 1024;

/**
 * Yields the data of each event. An incomplete event at the end of the body is discarded, as the standard requires.
 * @throws ServiceError `upstream` for an event that exceeds {@link MAX_EVENT}.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  let bufferedLength = 0;
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('data:')) {
        data.push(line.slice(line[5] === ' ' ? 6 : 5));
        bufferedLength += line.length + 1;
      } else if (line === '' && data.length > 0) {
        yield data.join('\n');
        data = [];
        bufferedLength = 0;
      }
    }
    if (bufferedLength + rest.length > MAX_EVENT) throw upstreamError('an event of the response is too long');
  }
}
