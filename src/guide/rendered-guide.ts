/** The rendered pages. They are rendered once, on the first request, in a worker thread. */

import type { GuideWorkerMessage } from './guide-worker.ts';

/** Time limit of the rendering. After a timeout the next request tries again. */
const RENDER_TIMEOUT_MS = 60_000;

let rendered: Promise<ReadonlyMap<string, string>> | undefined;

/**
 * The HTML of a page.
 * @throws Error if the pages could not be rendered.
 */
export async function pageHtml(address: string): Promise<string> {
  rendered ??= renderPages();
  try {
    const html = (await rendered).get(address);
    if (html === undefined) throw new Error(`unknown page ${address}`);
    return html;
  } catch (error) {
    rendered = undefined;
    throw error;
  }
}

function renderPages(): Promise<ReadonlyMap<string, string>> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>();
  const pages = new Map<string, string>();
  const worker = new Worker(new URL('./guide-worker.ts', import.meta.url));
  worker.onmessage = ({ data }: MessageEvent<GuideWorkerMessage>) => {
    if (data === 'done') resolve(pages);
    else pages.set(...data);
  };
  worker.onerror = ({ message }) => reject(new Error(`the guide could not be rendered: ${message}`));
  const timeout = AbortSignal.timeout(RENDER_TIMEOUT_MS);
  timeout.addEventListener('abort', () => reject(timeout.reason), { once: true });
  return promise.finally(() => worker.terminate());
}
