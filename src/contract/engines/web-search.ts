/** Searching the web, by whatever server CONFIG names. */

export interface SearchQuery {
  readonly text: string;
  /** Pages to find, at most. */
  readonly results: number;
  /** Only pages of these hosts and their subdomains; absent: all. */
  readonly domains?: readonly string[] | undefined;
  /** ISO 3166-1 code of a country whose pages matter most. */
  readonly country?: string | undefined;
}

export interface FoundPage {
  /** `http:` or `https:`. */
  readonly url: string;
  readonly title: string;
  /** A few sentences of it. */
  readonly excerpt: string;
}

export interface WebSearch {
  /** Whether CONFIG names a server; without one every search fails. */
  readonly available: boolean;
  /**
   * Pages, best first.
   * @throws ServiceError `upstream` or `timeout` when the server gives none; the signal's reason after an abort.
   */
  search(query: SearchQuery, signal: AbortSignal): Promise<readonly FoundPage[]>;
}
