import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadConfig } from '../../../server/config.ts';
import { smallClip } from '../../../tools/harness/services/video-service.ts';
import { type ComposeOptions, ComposeProject, podmanOutput } from './compose.ts';

/** The folder of the container files. */
export const DOCKER = resolve(import.meta.dirname, '../../../docker');

/** The image that the compose files build. */
export const SERVICE_IMAGE = 'voice-service';

/** Opens a project of docker/, builds its image and copies this machine's models into its volume. */
export async function openServiceProject(file: string, options: ComposeOptions): Promise<ComposeProject> {
  const project = await ComposeProject.open(join(DOCKER, file), options);
  try {
    await project.build();
    // By the image's own user, who gets the volume with the owner that the image gives it.
    await podmanOutput(
      ...['run', '--rm', '--no-healthcheck', '--network=none', '--entrypoint=cp'],
      ...[`--volume=${loadConfig(process.env).modelsDir}:/cache:ro`],
      ...[`--volume=${project.volume('models')}:/models`, SERVICE_IMAGE, '-r', '/cache/sha256', '/models/'],
    );
    return project;
  } catch (error) {
    await project[Symbol.asyncDispose]();
    throw error;
  }
}

/** A short clip with sound, as MP4. */
export async function shortClip(): Promise<Uint8Array<ArrayBuffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'clip-'));
  try {
    return await smallClip(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
