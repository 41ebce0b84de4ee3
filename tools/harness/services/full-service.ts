/** Launches the service with all plugins. Speech, transcription and text come from fake upstreams; VAD and video are real. */

import { joined } from '../media/sample-runs.ts';
import { SPOKEN_RATE_HZ, silence, speak } from '../media/spoken.ts';
import { wavFile } from '../media/wav-files.ts';
import { type FakeCloningUpstream, startFakeCloningUpstream } from '../upstreams/fake-cloning-upstream.ts';
import { type FakeSttUpstream, startFakeSttUpstream } from '../upstreams/fake-stt-upstream.ts';
import type { FakeUpstream } from '../upstreams/fake-upstream.ts';
import { startScriptedTextUpstream } from '../upstreams/scripted-text-upstream.ts';
import { type LaunchedService, type LaunchOptions, launchService } from './launcher.ts';

export const TEXT_MODEL = 'smollm2-135m-instruct';
export const EMBED_MODEL = 'all-minilm-l6-v2';

export interface FullService {
  readonly service: LaunchedService;
  readonly voice: FakeCloningUpstream;
  readonly ear: FakeSttUpstream;
  readonly text: FakeUpstream;
  close(): Promise<void>;
}

export interface FullServiceOptions {
  /** Added to CONFIG. */
  readonly config?: string;
  /** Environment variable with the API key of all upstreams. */
  readonly keyVariable?: string;
  readonly launch?: Pick<LaunchOptions, 'env'>;
}

export async function launchFullService(options: FullServiceOptions = {}): Promise<FullService> {
  const { config = '', keyVariable, launch = {} } = options;
  const [voice, ear, text] = [
    startFakeCloningUpstream(),
    startFakeSttUpstream(),
    startScriptedTextUpstream(),
  ];
  const closeAll = async () => {
    await Promise.all([voice, ear, text].map((server) => server.close()));
  };
  const key = keyVariable === undefined ? '' : `api_key_env = "${keyVariable}"`;
  const model = (id: string, { baseUrl }: { readonly baseUrl: string }, more = '') =>
    `[models."${id}"]\nkind = "upstream"\nbase_url = "${baseUrl}"\nmodel = "scripted"\n${key}\n${more}\n`;
  const models = [
    model('svc-tts', voice, 'voices = "inline"'),
    ...[model('svc-stt', ear), model(TEXT_MODEL, text), model(EMBED_MODEL, text)],
  ];
  try {
    const service = await launchService({ ...launch, config: models.join('') + config });
    return {
      service,
      voice,
      ear,
      text,
      async close() {
        await service.stop();
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

const TEXTS = [
  'The harbour was quiet that morning, and only two of the boats had gone out.',
  'Nobody expected rain, but the clouds over the hills were growing darker by the minute.',
];

/** A clip for the creation of a voice, with its transcript. */
export async function voiceClip(): Promise<{
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
}> {
  const spoken = await speak(TEXTS);
  const samples = joined(spoken.flatMap((part) => [part, silence(300)]));
  const bytes = wavFile({ kind: 'int', bits: 16, rateHz: SPOKEN_RATE_HZ, channels: 1 }, samples);
  return { bytes: Uint8Array.from(bytes), text: TEXTS.join(' ') };
}
