import { StartError } from '../../contract/core/error.ts';
import type { PoolMembership } from '../family.ts';
import type { KokoroModelSettings, KokoroSpec } from './settings.ts';
import { presetNames } from './shared/voice-mix.ts';

/** All models share the weights. */
export const kokoroPool: PoolMembership<KokoroModelSettings> = {
  name: ({ kind }) => kind,
  spec([first, ...others], modelsDir): KokoroSpec {
    const voices = [...new Set([first, ...others].map(({ voice }) => voice))];
    for (const voice of voices) requireVoice(voice);
    return { kind: first.kind, modelsDir, voices };
  },
};

function requireVoice(voice: string): void {
  const names = presetNames();
  if (names.includes(voice)) return;
  throw new StartError(`CONFIG: unknown voice '${voice}' for kokoro. Allowed: ${names.join(', ')}.`);
}
