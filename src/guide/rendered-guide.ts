/** The pages as they are served: made once, when somebody first reads one, by a thread that nobody else waits for. */

import type { WorkerWord } from './guide-worker.ts';

/** A machine that needs longer has other things to do; the next reader tries again. */
const PATIENCE_MS = 60_000;

let made: Promise<ReadonlyMap<string, string>> | undefined;

/**
 * The HTML of a page.
 * @throws Error when the pages could not be made.
 */
export async function pageHtml(address: string): Promise<string> {
  made ??= makePages();
  try {
    const html = (await made).get(address);
    if (html === undefined) throw new Error(`there is no page ${address}`);
    return html;
  } catch (error) {
    made = undefined;
    throw error;
  }
}

function makePages(): Promise<ReadonlyMap<string, string>> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, string>>();
  const pages = new Map<string, string>();
  const worker = new Worker(new URL('./guide-worker.ts', import.meta.url));
  worker.onmessage = ({ data }: MessageEvent<WorkerWord>) => {
    if (data === 'done') resolve(pages);
    else pages.set(...data);
  };
  worker.onerror = ({ message }) => reject(new Error(`the guide could not be made: ${message}`));
  const patience = AbortSignal.timeout(PATIENCE_MS);
  patience.addEventListener('abort', () => reject(patience.reason), { once: true });
  return promise.finally(() => worker.terminate());
}
