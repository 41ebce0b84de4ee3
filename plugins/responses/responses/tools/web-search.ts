import { ServiceError } from '../../../../src/contract/core/error.ts';
import type { FoundPage, WebSearch } from '../../../../src/contract/engines/web-search.ts';
import type { BuiltInTool, SearchSettings } from '../items/built-in-tools.ts';

const DESCRIPTION =
  'Searches the web and returns pages with title, address and a few sentences of each. Use it for what is recent or ' +
  'what you do not know. Name the address of a page beside what you took from it.';

/** How much the model reads: pages, and characters of each. */
const SIZES = {
  low: { results: 3, characters: 300 },
  medium: { results: 5, characters: 600 },
  high: { results: 10, characters: 1200 },
} as const;

/** Searches for the model, as the request sets it. */
export function webSearch(search: WebSearch, settings: SearchSettings): BuiltInTool {
  const { contextSize = 'medium', allowedDomains, country } = settings;
  const { results, characters } = SIZES[contextSize];
  // Absent and empty are the same: all.
  const domains = allowedDomains?.length ? allowedDomains.map(toHost) : undefined;
  return {
    type: 'web_search',
    tool: {
      name: 'web_search',
      description: DESCRIPTION,
      parameters: {
        type: 'object',
        properties: { query: { type: 'string', description: 'What to search for.' } },
        required: ['query'],
        additionalProperties: false,
      },
      strict: true,
    },
    async run(text, signal) {
      try {
        const pages = await search.search({ text, results, domains, country }, signal);
        return {
          status: 'completed',
          text: formatPages(pages, characters),
          sources: pages.map(({ url, title }) => ({ url, title })),
        };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ServiceError) return { status: 'failed', text: error.message, sources: [] };
        throw error;
      }
    },
    async close() {},
  };
}

/** A domain as it may be written, with scheme or path, as the host that it names. */
function toHost(domain: string): string {
  return domain
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/[/?#:].*$/, '');
}

function formatPages(pages: readonly FoundPage[], characters: number): string {
  if (pages.length === 0) return 'No page was found.';
  return pages
    .map(({ url, title, excerpt }, index) => {
      const text = excerpt.length <= characters ? excerpt : `${excerpt.slice(0, characters - 1)}…`;
      return `[${index + 1}] ${title}\n${url}\n${text}`;
    })
    .join('\n\n');
}
