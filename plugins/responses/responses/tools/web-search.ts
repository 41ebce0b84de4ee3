import { ServiceError } from '../../../../src/contract/core/error.ts';
import type { FoundPage, WebSearch } from '../../../../src/contract/engines/web-search.ts';
import type { BuiltInTool, SearchSettings } from '../items/built-in-tools.ts';

const DESCRIPTION =
  'Searches the web and returns pages with title, URL and a few sentences of each. Use it for recent information or ' +
  'for facts that you do not know. Cite the URL of a page next to the information taken from it.';

/** Number of pages and characters per page that are passed to the model. */
const SIZES = {
  low: { results: 3, characters: 300 },
  medium: { results: 5, characters: 600 },
  high: { results: 10, characters: 1200 },
} as const;

/** Creates a web search with the settings of the request. */
export function webSearch(search: WebSearch, settings: SearchSettings): BuiltInTool {
  const { contextSize = 'medium', allowedDomains, country } = settings;
  const { results, characters } = SIZES[contextSize];
  // An empty list means no restriction, like an absent one.
  const domains = allowedDomains?.length ? allowedDomains.map(toHost) : undefined;
  return {
    type: 'web_search',
    tool: {
      name: 'web_search',
      description: DESCRIPTION,
      parameters: {
        type: 'object',
        properties: { query: { type: 'string', description: 'The search query.' } },
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

/** Reduces a domain, which may include a scheme or a path, to its host name. */
function toHost(domain: string): string {
  return domain
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/[/?#:].*$/, '');
}

function formatPages(pages: readonly FoundPage[], characters: number): string {
  if (pages.length === 0) return 'No pages found.';
  return pages
    .map(({ url, title, excerpt }, index) => {
      const text = excerpt.length <= characters ? excerpt : `${excerpt.slice(0, characters - 1)}…`;
      return `[${index + 1}] ${title}\n${url}\n${text}`;
    })
    .join('\n\n');
}
