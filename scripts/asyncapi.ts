import { resolve } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { asyncApiDocument as partnerDocument } from '../plugins/partner/docs/asyncapi.ts';
import { asyncApiDocument as realtimeDocument } from '../plugins/realtime/docs/asyncapi.ts';
import { conversationAsyncApiDocument } from '../plugins/realtime/docs/conversation-asyncapi.ts';

/**
 * The AsyncAPI documents of the WebSocket endpoints. `bun scripts/asyncapi.ts` writes them; `bun run check`
 * verifies that they match the schemas.
 */

const DOCUMENTS = {
  'docs/conversations.asyncapi.json': conversationAsyncApiDocument,
  'docs/realtime.asyncapi.json': realtimeDocument,
  'docs/partner.asyncapi.json': partnerDocument,
};

/** Errors in the committed documents, one line each. */
export async function asyncApiErrors(root: string): Promise<string[]> {
  const kept = await Promise.all(
    documentTexts().map(async ([path, text]) => {
      const file = Bun.file(`${root}/${path}`);
      return { path, isTrue: (await file.exists()) && (await file.text()) === text };
    }),
  );
  const wrong = kept.filter(({ isTrue }) => !isTrue);
  return wrong.map(({ path }) => `${path} does not match the schemas; run: bun scripts/asyncapi.ts`);
}

function documentTexts(): readonly (readonly [path: string, text: string])[] {
  return Object.entries(DOCUMENTS).map(([path, make]) => [
    path,
    `${JSON.stringify(make(packageJson.version), null, 2)}\n`,
  ]);
}

if (import.meta.main) {
  for (const [path, text] of documentTexts()) await Bun.write(resolve(import.meta.dir, '..', path), text);
}
