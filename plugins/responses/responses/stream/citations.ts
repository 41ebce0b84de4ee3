import type { SearchSource } from '../items/built-in-tools.ts';
import type { Citation } from '../items/output-items.ts';

/**
 * Finds the URLs of search results in a text, ordered by position. Of overlapping matches the longest one
 * applies. Linear in the length of the text per URL.
 */
export function findCitations(text: string, sources: readonly SearchSource[]): readonly Citation[] {
  const longestFirst = sources.toSorted((a, b) => b.url.length - a.url.length);
  const citations: Citation[] = [];
  const cited = new Uint8Array(text.length);
  for (const { url, title } of longestFirst) {
    if (url === '') continue;
    for (let start = text.indexOf(url); start >= 0; start = text.indexOf(url, start + url.length)) {
      const end = start + url.length;
      // An earlier match is at least as long, so an overlap covers one of the ends.
      if (cited[start] || cited[end - 1]) continue;
      cited.fill(1, start, end);
      citations.push({ type: 'url_citation', url, title, start_index: start, end_index: end });
    }
  }
  return citations.sort((a, b) => a.start_index - b.start_index);
}
