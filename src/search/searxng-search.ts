/** Web search with a SearXNG server: `GET /search?format=json` (SearXNG Search API). */

import { ServiceError } from '../contract/core/error.ts';
import type { WebSearchSettings } from '../contract/core/settings.ts';
import type { FoundPage, SearchQuery, WebSearch } from '../contract/engines/web-search.ts';
import { isRecord } from '../kit/validation/is-record.ts';

/** Maximum response size in bytes. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** Maximum query length in characters; longer queries are truncated. */
const MAX_QUERY_CHARACTERS = 1000;
/** Maximum number of domains in the query, because engines reject longer ones. More domains are only used to filter results. */
const MAX_QUERY_DOMAINS = 4;
const MAX_URL_CHARACTERS = 2048;
const MAX_TITLE_CHARACTERS = 300;
const MAX_EXCERPT_CHARACTERS = 2000;

/** Web search with the configured server. Without settings, {@link WebSearch.available} is false. */
export function searxngSearch(settings: WebSearchSettings | undefined): WebSearch {
  return {
    available: settings !== undefined,
    async search(query, signal) {
      signal.throwIfAborted();
      if (settings === undefined) throw searchError('no search server is configured');
      const timeout = AbortSignal.timeout(settings.timeoutMs);
      try {
        const response = await requestResults(settings, query, AbortSignal.any([signal, timeout]));
        return pagesOf(response, query, Math.min(query.results, settings.maxResults));
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ServiceError) throw error;
        if (timeout.aborted) {
          const seconds = settings.timeoutMs / 1000;
          throw new ServiceError('timeout', `Web search timed out after ${seconds} s.`);
        }
        throw searchError('the server is unreachable or closed the connection', error);
      }
    },
  };
}

function searchError(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('upstream', `Web search failed: ${reason}.`, { code: 'upstream_error', cause });
}

/** @returns the JSON of the response. @throws ServiceError for an invalid response; errors of `fetch`. */
async function requestResults(
  settings: WebSearchSettings,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<unknown> {
  const { url, apiKey } = settings;
  const headers = new Headers({ accept: 'application/json' });
  if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey.reveal()}`);
  // Redirects are not followed, so that requests go only to the configured host.
  const response = await fetch(`${url}/search?${parametersOf(query)}`, {
    headers,
    redirect: 'manual',
    signal,
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw searchError(statusMessage(response.status));
  }
  const text = await textOf(response);
  try {
    return JSON.parse(text);
  } catch {
    throw searchError('the response is not JSON');
  }
}

function statusMessage(status: number): string {
  if (status === 403)
    return "the server returned status 403; SearXNG requires 'json' in its setting search.formats";
  if (status >= 300 && status < 400)
    return `the server returned status ${status}; redirects are not followed`;
  return `the server returned status ${status}`;
}

function parametersOf({ text, domains, country }: SearchQuery): URLSearchParams {
  const queried = domains !== undefined && domains.length <= MAX_QUERY_DOMAINS ? domains : [];
  const sites = queried.map((domain) => `site:${domain}`).join(' OR ');
  const q = `${text.slice(0, MAX_QUERY_CHARACTERS)}${sites === '' ? '' : ` (${sites})`}`;
  const language = country === undefined ? undefined : localeOf(country);
  return new URLSearchParams({ q, format: 'json', ...(language === undefined ? {} : { language }) });
}

/** SearXNG's locale of a country, with its most common language: `de-AT`. */
function localeOf(country: string): string | undefined {
  try {
    const { language } = new Intl.Locale(`und-${country}`).maximize();
    return language === 'und' ? undefined : `${language}-${country.toUpperCase()}`;
  } catch {
    return undefined;
  }
}

async function textOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let lengthBytes = 0;
  for await (const part of response.body ?? []) {
    lengthBytes += part.length;
    if (lengthBytes > MAX_RESPONSE_BYTES) {
      throw searchError(`the response is longer than ${MAX_RESPONSE_BYTES} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function pagesOf(response: unknown, query: SearchQuery, limit: number): readonly FoundPage[] {
  const results: unknown = isRecord(response) ? response.results : undefined;
  if (!Array.isArray(results)) throw searchError("the response has no 'results'");
  const pages = new Map<string, FoundPage>();
  for (const result of results) {
    const page = pageOf(result, query.domains);
    if (page !== undefined && !pages.has(page.url)) pages.set(page.url, page);
    if (pages.size === limit) break;
  }
  return [...pages.values()];
}

function pageOf(result: unknown, domains: readonly string[] | undefined): FoundPage | undefined {
  if (!isRecord(result) || typeof result.url !== 'string') return undefined;
  const { url } = result;
  if (url.length > MAX_URL_CHARACTERS || !URL.canParse(url)) return undefined;
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  if (domains !== undefined && !domains.some((domain) => isWithin(hostname, domain))) return undefined;
  const title = truncated(result.title, MAX_TITLE_CHARACTERS);
  return { url, title: title || url, excerpt: truncated(result.content, MAX_EXCERPT_CHARACTERS) };
}

/** Whether a host is a domain or one of its subdomains. */
function isWithin(hostname: string, domain: string): boolean {
  const lowerCase = domain.toLowerCase();
  return hostname === lowerCase || hostname.endsWith(`.${lowerCase}`);
}

/** Text on one line, truncated to `maxLength` characters. */
function truncated(text: unknown, maxLength: number): string {
  if (typeof text !== 'string') return '';
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
}
