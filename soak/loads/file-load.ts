import type { SoakClient } from '../site/soak-client.ts';
import type { Load } from './load.ts';

/** File sizes. A large file is uploaded to S3 in several parts. */
const BYTES = 200_000;
const LARGE_BYTES = 6_000_000;
const LARGE_EVERY = 10;

/** A file with random content. */
function randomFile(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  // The maximum of one getRandomValues call.
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

/** Uploads a file until it is acknowledged. @returns its id. */
export async function upload(
  client: SoakClient,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string | undefined> {
  const key = crypto.randomUUID();
  const body = new FormData();
  body.set('purpose', 'batch');
  body.set('file', new File([bytes], 'input.jsonl'));
  const headers = { 'idempotency-key': key };
  const response = await client.insist({ path: '/v1/files', method: 'POST', headers, body });
  const id = response?.json<{ id: string }>().id;
  if (id !== undefined) client.keep('file', id, `/v1/files/${id}/content`, bytes);
  return id;
}

async function fileRound(client: SoakClient, at: number): Promise<void> {
  const isLarge = client.parts.site === 'main' && at % LARGE_EVERY === LARGE_EVERY - 1;
  const bytes = randomFile(isLarge ? LARGE_BYTES : BYTES);
  const id = await upload(client, bytes);
  if (id === undefined) return;
  await client.sendRequest({
    path: `/v1/files/${id}/content`,
    judge: (response) =>
      Buffer.compare(response.bytes, bytes) === 0
        ? undefined
        : { end: 'wrong', detail: 'the content of a file has changed' },
  });
  if (at % 3 > 0) await client.drop('file', id, `/v1/files/${id}`);
}

/** Uploads, downloads and mostly deletes files. */
export const fileLoad: Load = {
  name: 'files',
  organization: 'files',
  site: 'main',
  pauseMs: 3000,
  round: (client, _, at) => fileRound(client, at),
};

export const smallFileLoad: Load = {
  ...fileLoad,
  name: 'files on the small disk',
  site: 'small',
  pauseMs: 2000,
};
