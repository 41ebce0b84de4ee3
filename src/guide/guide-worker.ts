/** Worker thread that renders all pages, posts each of them and then `done`. Started by rendered-guide.ts. */

import { renderGuide } from './render-guide.ts';

export type GuideWorkerMessage = readonly [address: string, html: string] | 'done';

const post = (message: GuideWorkerMessage) => postMessage(message);

for (const page of renderGuide()) post(page);
post('done');
