export interface AskedSearch {
  readonly url: URL;
  readonly headers: Headers;
}

/** A server with SearXNG's search API: it returns scripted responses and records requests. */
export function fakeSearxng(answer: (search: AskedSearch) => Response | Promise<Response>) {
  const asked: AskedSearch[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    fetch(request) {
      const search = { url: new URL(request.url), headers: request.headers };
      asked.push(search);
      return answer(search);
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, asked, close: () => server.stop(true) };
}

/** A response of SearXNG, with fields that are not used. */
export function searxngAnswer(results: readonly object[]): Response {
  return Response.json({
    query: 'q',
    number_of_results: 0,
    results: results.map((result) => ({ engine: 'duckduckgo', score: 1, category: 'general', ...result })),
    answers: [],
    corrections: [],
    infoboxes: [],
    suggestions: [],
    unresponsive_engines: [['bing', 'timeout']],
  });
}
