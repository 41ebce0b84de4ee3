/** The real service, and speech requests with their latency. */

import { launchService, NO_RECOGNISER, NO_TEXT } from '../tools/harness/services/launcher.ts';

/** Two speech models and no other model. */
export const BENCH_CONFIG = `
[models."svc-tts"]
kind = "kokoro"

[models."svc-tts-fast"]
kind = "piper"
${NO_RECOGNISER}${NO_TEXT}`;

export type Service = Awaited<ReturnType<typeof launchService>>;

export const launchBenchService = () => launchService({ config: BENCH_CONFIG });

export interface TimedSpeech {
  /** From sending the request to the first bytes of audio. */
  readonly firstAudioS: number;
  readonly totalS: number;
  readonly audioS: number;
  readonly body: Uint8Array;
}

/** Sends one speech request and measures the response. The WAV header does not count as audio. */
export async function speak(
  service: Service,
  text: string,
  format: 'pcm' | 'wav' = 'pcm',
  model = 'svc-tts',
  fields: { readonly language?: string } = {},
): Promise<TimedSpeech> {
  const start = performance.now();
  const response = await service.fetch('/v1/audio/speech', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer test-key-of-a' },
    body: JSON.stringify({ model, input: text, response_format: format, ...fields }),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  let firstAudioS: number | undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) {
    firstAudioS ??= (performance.now() - start) / 1000;
    chunks.push(chunk);
  }
  const totalS = (performance.now() - start) / 1000;
  const body = new Uint8Array(Buffer.concat(chunks));
  const bytes = body.length - (format === 'wav' ? 44 : 0);
  return { firstAudioS: firstAudioS ?? totalS, totalS, audioS: bytes / 2 / 24_000, body };
}
