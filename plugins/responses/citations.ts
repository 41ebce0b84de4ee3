import type { SearchSource } from './built-in-tools.ts';
import type { Citation } from './output-items.ts';

/** Where a text names pages that a search found, in the order of the text. Of two that overlap the longer one counts. */
export function citationsOf(text: string, sources: readonly SearchSource[]): readonly Citation[] {
  const longestFirst = sources.toSorted((a, b) => b.url.length - a.url.length);
  const citations: Citation[] = [];
  for (const { url, title } of longestFirst) {
    if (url === '') continue;
    for (let start = text.indexOf(url); start >= 0; start = text.indexOf(url, start + url.length)) {
      const end = start + url.length;
      if (citations.some(({ start_index, end_index }) => start < end_index && start_index < end)) continue;
      citations.push({ type: 'url_citation', url, title, start_index: start, end_index: end });
    }
  }
  return citations.sort((a, b) => a.start_index - b.start_index);
}
