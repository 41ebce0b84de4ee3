import type { SpeechCompatibility } from '../../../contract/core/settings.ts';
import type { TtsEngine } from '../../../contract/engines/engine.ts';

/**
 * Another id of the model of an engine, with rules of its own. The engine stays the only one that has the connection to the
 * server: it deletes voices there once, and is closed once.
 */
export function followingTtsEngine(
  engine: TtsEngine,
  compatibility: SpeechCompatibility | undefined,
): TtsEngine {
  return {
    rateHz: engine.rateHz,
    compatibility,
    hasVoice: (name) => engine.hasVoice?.(name) ?? false,
    synthesize: (request, signal) => engine.synthesize(request, signal),
    ready: () => engine.ready(),
    close: async () => undefined,
  };
}
