import type { VideoOnWire } from '../../tools/harness/services/video-service.ts';
import type { SoakClient } from '../site/soak-client.ts';
import { VIDEO_MODEL } from '../site/soak-config.ts';
import type { Load } from './load.ts';
import type { Material } from './material.ts';

const POLL_MS = 2000;
/** Any node may have run the job. */
const ANY_NODE = 'any';
/** File type box of MP4 (ISO/IEC 14496-12, 4.3). */
const FTYP = Buffer.from('ftyp');

async function videoRound(client: SoakClient, { videoClip }: Material, at: number): Promise<void> {
  const body = new FormData();
  for (const [name, value] of Object.entries({ model: VIDEO_MODEL, prompt: 'On and on.', seconds: '4' })) {
    body.set(name, value);
  }
  body.set('video', new File([videoClip], 'clip.mp4'));
  const created = await client.insist({
    path: '/v1/videos/extensions',
    method: 'POST',
    body,
    headers: { 'idempotency-key': crypto.randomUUID() },
  });
  if (created === undefined) return;
  const { id } = created.json<VideoOnWire>();
  const path = `/v1/videos/${id}`;
  const { signal, ledger } = client.parts;
  ledger.videos.add(id);
  let status = 'queued';
  while (status === 'queued' || status === 'in_progress') {
    await Bun.sleep(POLL_MS);
    if (signal.aborted) return;
    const response = await client.sendRequest({ path });
    if (response === undefined) continue;
    const video = response.json<VideoOnWire>();
    status = video.status;
    if (status !== 'failed') continue;
    const call = { load: 'video jobs', organization: client.account, node: ANY_NODE, rows: 'none' } as const;
    ledger.begin(call).end('failed', (video.error as { code?: string } | null)?.code);
    return;
  }
  const content = await client.insist({
    path: `${path}/content`,
    judge: ({ bytes }) =>
      FTYP.equals(bytes.subarray(4, 8)) ? undefined : { end: 'wrong', detail: 'the content is not MP4' },
  });
  if (content) client.keep('video', id, `${path}/content`, content.bytes);
  if (content && at % 2 === 0) await client.drop('video', id, path);
}

/** Creates, downloads and mostly deletes videos. */
export const videoLoad: Load = {
  name: 'videos',
  organization: 'videos',
  site: 'main',
  pauseMs: 4000,
  round: videoRound,
};
