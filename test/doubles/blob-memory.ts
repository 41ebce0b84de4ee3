/**
 * Writes a blob, reads it, and prints its maximum memory growth and whether the bytes are equal. Runs in a separate
 * process, because tests share theirs. Arguments: settings of the store as JSON, length of the blob in bytes.
 */
import { openBlobs } from '../../src/blobs/open-blobs.ts';
import { Secret } from '../../src/contract/core/secret.ts';
import type { BlobSettings } from '../../src/contract/core/settings.ts';
import { systemClock } from '../../src/kit/clock.ts';

const CHUNK_BYTES = 64 * 1024;
/** Memory is collected after this many bytes, because the schedule of the runtime depends on the load. */
const COLLECT_BYTES = 16 * 1024 * 1024;
const [settingsJson = '', lengthText = ''] = process.argv.slice(2);
const never = new AbortController().signal;

const { secret, ...plainSettings } = JSON.parse(settingsJson) as { secret?: string };
const settings = { ...plainSettings, ...(secret !== undefined && { secretAccessKey: new Secret(secret) }) };
const blobs = await openBlobs(settings as BlobSettings, systemClock);
const chunk = crypto.getRandomValues(new Uint8Array(CHUNK_BYTES));

Bun.gc(true);
const before = process.memoryUsage.rss();
let highest = before;
const watch = setInterval(() => {
  highest = Math.max(highest, process.memoryUsage.rss());
}, 5);
let sinceCollected = 0;
const collectGarbage = (lengthBytes: number) => {
  sinceCollected += lengthBytes;
  if (sinceCollected < COLLECT_BYTES) return;
  sinceCollected = 0;
  Bun.gc(true);
};
const source = async function* () {
  for (let at = 0; at < Number(lengthText); at += CHUNK_BYTES) {
    yield chunk;
    collectGarbage(CHUNK_BYTES);
  }
};
const { sha256 } = await blobs.write('files/large', source(), never);
const hash = new Bun.CryptoHasher('sha256');
for await (const part of (await blobs.read('files/large', never)) ?? []) {
  hash.update(part);
  collectGarbage(part.length);
}
clearInterval(watch);
process.stdout.write(JSON.stringify({ grewBytes: highest - before, isSame: hash.digest('hex') === sha256 }));
await blobs.close();
