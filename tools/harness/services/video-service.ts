import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ClipRecipe, makeClips } from '../media/video-files.ts';
import type { Fetching } from './batch-service.ts';

/** The fields of a video that tests use. */
export interface VideoOnWire {
  readonly id: string;
  readonly status: string;
  readonly error: object | null;
}

/** A pan of two seconds, close to the minimum size and length of a clip. */
const SMALL: ClipRecipe = {
  name: 'small.mp4',
  scene: 'pan',
  videoCodec: 'avc',
  audioCodec: 'aac',
  width: 400,
  height: 300,
  fps: 24,
  seconds: 2,
};

/** Writes a small clip to a folder and returns its bytes. */
export async function smallClip(folder: string): Promise<Uint8Array<ArrayBuffer>> {
  await makeClips(folder, [SMALL]);
  return Uint8Array.from(await readFile(join(folder, SMALL.name)));
}

/** Requests an extension of a clip by four seconds. */
export async function extendClip(
  service: Fetching,
  clip: Uint8Array<ArrayBuffer>,
  model = 'vid-2.0',
): Promise<VideoOnWire> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model, prompt: 'On and on.', seconds: '4' }))
    form.set(name, value);
  form.set('video', new File([clip], 'clip.mp4'));
  const response = await service.fetch('/v1/videos/extensions', { method: 'POST', body: form });
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  return (await response.json()) as VideoOnWire;
}

/** All videos of the organization. */
export async function allVideos(service: Fetching): Promise<VideoOnWire[]> {
  const response = await service.fetch('/v1/videos?limit=100');
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { data: VideoOnWire[] }).data;
}
