/** Web search by a SearXNG server: GET /search?format=json (its "Search API"). */

import { ServiceError } from '../contract/core/error.ts';
import type { WebSearchSettings } from '../contract/core/settings.ts';
import type { FoundPage, SearchQuery, WebSearch } from '../contract/engines/web-search.ts';
import { isRecord } from '../kit/validation/is-record.ts';

/** Longest answer that is read, in bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Longest query that is sent, in characters. */
const MAX_QUERY_CHARACTERS = 1000;
/** So many hosts are told to the server; more make queries that engines refuse, and are only looked for after. */
const MAX_TOLD_DOMAINS = 4;
const MAX_URL_CHARACTERS = 2048;
const MAX_TITLE_CHARACTERS = 300;
const MAX_EXCERPT_CHARACTERS = 2000;

/** Without settings it is not {@link WebSearch.available}. */
export function searxngSearch(settings: WebSearchSettings | undefined): WebSearch {
  return {
    available: settings !== undefined,
    async search(query, signal) {
      signal.throwIfAborted();
      if (settings === undefined) throw searchFault('no server is set up');
      const timeout = AbortSignal.timeout(settings.timeoutMs);
      try {
        const answer = await ask(settings, query, AbortSignal.any([signal, timeout]));
        return pagesOf(answer, query, Math.min(query.results, settings.maxResults));
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ServiceError) throw error;
        if (timeout.aborted) {
          const seconds = settings.timeoutMs / 1000;
          throw new ServiceError('timeout', `The search server gave no answer within ${seconds} s.`);
        }
        throw searchFault('it cannot be reached or broke off', error);
      }
    },
  };
}

function searchFault(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('upstream', `The search failed: ${reason}.`, { code: 'upstream_error', cause });
}

/** @returns the JSON of an answer. @throws ServiceError for another answer; what `fetch` throws. */
async function ask(settings: WebSearchSettings, query: SearchQuery, signal: AbortSignal): Promise<unknown> {
  const { url, apiKey } = settings;
  const headers = new Headers({ accept: 'application/json' });
  if (apiKey !== undefined) headers.set('authorization', `Bearer ${apiKey.reveal()}`);
  // No redirect is followed: only the host of CONFIG is ever asked.
  const response = await fetch(`${url}/search?${parametersOf(query)}`, {
    headers,
    redirect: 'manual',
    signal,
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw searchFault(statusMessage(response.status));
  }
  const text = await textOf(response);
  try {
    return JSON.parse(text);
  } catch {
    throw searchFault('its answer is no JSON');
  }
}

function statusMessage(status: number): string {
  if (status === 403)
    return "it answered 403; SearXNG does so unless 'json' is in its setting search.formats";
  if (status >= 300 && status < 400) return `it answered ${status}, and redirects are not followed`;
  return `it answered ${status}`;
}

function parametersOf({ text, domains, country }: SearchQuery): URLSearchParams {
  const told = domains !== undefined && domains.length <= MAX_TOLD_DOMAINS ? domains : [];
  const sites = told.map((domain) => `site:${domain}`).join(' OR ');
  const q = `${text.slice(0, MAX_QUERY_CHARACTERS)}${sites === '' ? '' : ` (${sites})`}`;
  const language = country === undefined ? undefined : localeOf(country);
  return new URLSearchParams({ q, format: 'json', ...(language === undefined ? {} : { language }) });
}

/** What SearXNG calls the region of a country: with the language that most people there speak, `de-AT`. */
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
    if (lengthBytes > MAX_ANSWER_BYTES) {
      throw searchFault(`its answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function pagesOf(answer: unknown, query: SearchQuery, most: number): readonly FoundPage[] {
  const results: unknown = isRecord(answer) ? answer.results : undefined;
  if (!Array.isArray(results)) throw searchFault("its answer has no 'results'");
  const pages = new Map<string, FoundPage>();
  for (const result of results) {
    const page = pageOf(result, query.domains);
    if (page !== undefined && !pages.has(page.url)) pages.set(page.url, page);
    if (pages.size === most) break;
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
  const title = shortened(result.title, MAX_TITLE_CHARACTERS);
  return { url, title: title || url, excerpt: shortened(result.content, MAX_EXCERPT_CHARACTERS) };
}

/** Whether a host is a domain or one of its subdomains. */
function isWithin(hostname: string, domain: string): boolean {
  const wanted = domain.toLowerCase();
  return hostname === wanted || hostname.endsWith(`.${wanted}`);
}

/** Text on one line. */
function shortened(text: unknown, most: number): string {
  if (typeof text !== 'string') return '';
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
