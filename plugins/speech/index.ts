import type { FeaturePlugin } from '../../src/contract/plugin.ts';
import { speechRoutes } from './routes.ts';
import { Synthesizer } from './synthesize.ts';

export interface SpeechOptions {
  /** Most code points of an `input`; the spec allows 5000 (8). */
  readonly maxCharacters: number;
  /** Requests of one organization that may be open at once; half of the pool's places by default. */
  readonly requestsPerOrganization: number;
}

/** Speech synthesis: POST /v1/audio/speech. */
export function speechPlugin({
  maxCharacters,
  requestsPerOrganization,
}: SpeechOptions): FeaturePlugin<'tts' | 'usage' | 'clock' | 'log'> {
  return {
    name: 'speech',
    needs: ['tts', 'usage', 'clock', 'log'],
    offers: [],
    async setup(slots) {
      // No voice can be stored yet, so every id is unknown.
      const synthesizer = new Synthesizer({
        ...slots,
        requestsPerOrganization,
        findVoice: () => undefined,
      });
      return {
        provides: {},
        routes: speechRoutes(synthesizer, maxCharacters),
        ready() {
          const reports = slots.tts.ids.map((id) => ({ id, report: slots.tts.get(id)?.ready() }));
          const missing = reports.filter(({ report }) => report?.ready !== true);
          const detail = (missing.length > 0 ? missing : reports)
            .map(({ id, report }) => `${id}: ${report?.detail ?? 'ready'}`)
            .join('; ');
          return { ready: missing.length === 0, detail };
        },
        drain: (until) => synthesizer.drain(until),
        close: async () => synthesizer.stop(),
      };
    },
  };
}
