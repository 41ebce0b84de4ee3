import type { CodeInterpreterSettings, WebSearchSettings } from '../../contract/core/settings.ts';
import { integer, type Location, requiredText, secretVariable, section, type ValuesOf } from '../section.ts';

export const CODE_INTERPRETER = section(
  'code_interpreter',
  {
    maxConcurrent: integer('max_concurrent_interpreters', {
      min: 1,
      max: 64,
      default: 2,
      formerly: 'at_once',
      doc: 'responses with an interpreter, each about 200 MB plus the memory of its programs',
    }),
    timeS: integer('time_limit_s', { min: 1, max: 120, default: 10, doc: 'per program' }),
    memoryMb: integer('memory_mb', {
      min: 64,
      max: 2048,
      default: 256,
      doc: 'per program; exceeding it raises MemoryError',
    }),
  },
  'tool of /v1/responses',
);

export const WEB_SEARCH = section(
  'web_search',
  {
    url: requiredText('url', {
      pattern: '^https?://.+',
      parse: searchUrl,
      example: 'http://searxng:8080',
      doc: 'a SearXNG server with `json` in `search.formats`',
    }),
    apiKey: secretVariable('api_key_env', {
      example: 'SEARCH_KEY',
      doc: 'sent as a bearer token; default: none',
    }),
    timeoutS: integer('timeout_s', { min: 1, max: 60, default: 10 }),
    maxResults: integer('max_results', {
      min: 1,
      max: 50,
      default: 10,
      doc: 'per search; a lower search_context_size of the request reduces it',
    }),
  },
  'tool of /v1/responses; without this table, requests with the tool get 400',
);

export function codeInterpreterSettings({
  maxConcurrent,
  timeS,
  memoryMb,
}: ValuesOf<typeof CODE_INTERPRETER.settings>): CodeInterpreterSettings {
  return Object.freeze({ maxConcurrent, timeMs: timeS * 1000, heapBytes: memoryMb * 2 ** 20 });
}

/** Undefined if the file names no server. */
export function webSearchSettings({
  url,
  apiKey,
  timeoutS,
  maxResults,
}: ValuesOf<typeof WEB_SEARCH.settings>): WebSearchSettings | undefined {
  if (url === undefined) return undefined;
  return Object.freeze({ url, apiKey, timeoutMs: timeoutS * 1000, maxResults });
}

/** Without the slashes at its end. */
function searchUrl(written: string, at: Location): string {
  if (URL.canParse(written) && !/[?#]/.test(written)) return written.replace(/\/+$/, '');
  throw at.error('must be a URL without a query, e.g. http://searxng:8080');
}
