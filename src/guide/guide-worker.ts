/** A thread that makes the pages, tells each, says that it is done, and ends. See src/guide/made-guide.ts. */

import { guideHtml } from './guide-html.ts';

export type WorkerWord = readonly [address: string, html: string] | 'done';

const tell = (word: WorkerWord) => postMessage(word);

for (const page of guideHtml()) tell(page);
tell('done');
