import { resolve } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { asyncApiDocument } from '../plugins/realtime/asyncapi.ts';

/**
 * The AsyncAPI document of the realtime socket. `bun scripts/asyncapi.ts` writes it; `bun run check` holds it
 * against the schemas that it is made of.
 */

const PATH = 'docs/realtime.asyncapi.json';

/** What is wrong with the document that is kept, one line each. */
export async function asyncApiFaults(root: string): Promise<string[]> {
  const kept = Bun.file(`${root}/${PATH}`);
  if ((await kept.exists()) && (await kept.text()) === documentText()) return [];
  return [`${PATH} is not what the schemas say; run: bun scripts/asyncapi.ts`];
}

function documentText(): string {
  return `${JSON.stringify(asyncApiDocument(packageJson.version), null, 2)}\n`;
}

if (import.meta.main) await Bun.write(resolve(import.meta.dir, '..', PATH), documentText());
