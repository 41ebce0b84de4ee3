/** Web search through the server that CONFIG names. */

export interface SearchQuery {
  readonly text: string;
  /** Maximum number of pages. */
  readonly results: number;
  /** Restricts the search to these hosts and their subdomains; absent means all hosts. */
  readonly domains?: readonly string[] | undefined;
  /** ISO 3166-1 code of the country whose pages are preferred. */
  readonly country?: string | undefined;
}

export interface FoundPage {
  /** `http:` or `https:`. */
  readonly url: string;
  readonly title: string;
  /** Excerpt of a few sentences. */
  readonly excerpt: string;
}

export interface WebSearch {
  /** Whether CONFIG names a server; otherwise every search fails. */
  readonly available: boolean;
  /**
   * Returns pages, best match first.
   * @throws ServiceError `upstream` or `timeout` if the server does not return results; the signal's reason
   *   after an abort.
   */
  search(query: SearchQuery, signal: AbortSignal): Promise<readonly FoundPage[]>;
}
