import { existsSync } from 'node:fs';
import { resolveHubFiles } from '../../models/hub-reference.ts';
import { resolveModelFiles } from '../../models/model-files.ts';
import type { PoolMembership } from '../family.ts';
import { DEFAULT_PIPER_VOICE } from './default-voice.ts';
import { hubPiper, requirePiperVoice } from './hub-voices.ts';
import type { PiperModelSettings, PiperSpec } from './settings.ts';

const KIND = 'piper';

/** A file contains weights and voice. */
export const piperPool: PoolMembership<PiperModelSettings> = {
  name: ({ voice }) => (voice === DEFAULT_PIPER_VOICE ? KIND : `${KIND}-${voice}`),
  spec: ([{ voice }], modelsDir) => specOf(voice, modelsDir),
};

/** @throws Error for an unknown voice and a missing file. */
function specOf(voice: string, modelsDir: string): PiperSpec {
  requirePiperVoice(voice);
  const kind = KIND;
  if (voice === DEFAULT_PIPER_VOICE) {
    const files = resolveModelFiles(modelsDir, 'piper-en-us-joe');
    const [model = '', settings = ''] = [files[`${voice}.onnx`], files[`${voice}.onnx.json`]];
    return { kind, voice, model, settings };
  }
  const hub = hubPiper(voice);
  if (hub === undefined) {
    const files = { model: voice, settings: `${voice}.json` };
    const missing = Object.values(files).find((path) => !existsSync(path));
    if (missing === undefined)
      return { kind, voice, modelsDir, model: files.model, settings: files.settings };
    throw new Error(`CONFIG: the file ${missing} of a Piper voice does not exist.`);
  }
  const files = resolveHubFiles(modelsDir, hub);
  if (files === undefined) {
    throw new Error(`The Piper voice ${voice} is missing. Run \`bun run models fetch ${voice}\`.`);
  }
  const [model = '', settings = ''] = hub.paths.map((path) => files[path]);
  return { kind, voice, modelsDir, model, settings };
}
