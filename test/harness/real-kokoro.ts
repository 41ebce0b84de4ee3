import { loadConfig } from '../../src/config/config.ts';
import { importKokoro } from '../../src/engines/kokoro/import/import.ts';
import { KokoroFront } from '../../src/engines/kokoro/worker/front.ts';
import { KokoroGenerator } from '../../src/engines/kokoro/worker/generator.ts';
import { loadKokoro } from '../../src/engines/kokoro/worker/model.ts';
import { frameKinds } from '../../src/engines/kokoro/worker/norm-statistics.ts';
import { loadKokoroText } from '../../src/engines/kokoro/worker/text.ts';
import { loadVoice, prosodyOf } from '../../src/engines/kokoro/worker/voices.ts';
import type { Arithmetic } from '../../src/engines/onnx/convolution-product.ts';
import type { SpeechRequest } from '../../src/engines/pool/model.ts';
import { arithmeticFor } from '../../src/engines/runtime/cpu-arithmetic.ts';
import { openGraph } from '../../src/engines/runtime/runtime.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';

const FRAME_SAMPLES = 600;
const VOICE = 'af_heart';

export type RealKokoro = Awaited<ReturnType<typeof openKokoro>>;

/** The shipped Kokoro in this process, beside the one-shot decoder that its windows are compared with. */
export async function openKokoro() {
  const { modelsDir } = loadConfig(process.env);
  const runtime = { provider: 'cpu', threads: 2 } as const;
  const { vocabulary, toPhonemes } = await loadKokoroText(modelsDir);
  const options = { modelsDir, voices: [VOICE], runtime };
  const model = await loadKokoro(options);

  const runs = async (request: SpeechRequest, from = model): Promise<Float32Array[]> => {
    const all: Float32Array[] = [];
    for await (const run of from.open(request)) if (run) all.push(run);
    return all;
  };
  const speak = async (request: SpeechRequest, from = model): Promise<Float32Array> =>
    joined(await runs(request, from));
  return {
    runs,
    speak,
    /** One pass over the whole utterance with exact norms, cut to what is heard. */
    async speakExactly(text: string): Promise<Float32Array> {
      const arithmetic = arithmeticFor('cpu');
      const graphs = await importKokoro(modelsDir, arithmetic);
      const front = new KokoroFront(await openGraph(graphs.front, runtime), vocabulary);
      const generator = new KokoroGenerator(await openGraph(graphs.generator, runtime));
      const voice = await loadVoice(VOICE, { modelsDir, arithmetic, front, generator, toPhonemes });
      const utterance = await front.speak(await toPhonemes(text), voice, 1);
      const kinds = frameKinds(prosodyOf(utterance), voice.profile.energyThresholds);
      const { audio } = await generator.decodeWhole(utterance, kinds);
      await generator.close();
      await front.close();
      return audio.slice(utterance.from * FRAME_SAMPLES, utterance.to * FRAME_SAMPLES);
    },
    async speakWith(arithmetic: Arithmetic, text: string): Promise<Float32Array> {
      const other = await loadKokoro(options, arithmetic);
      try {
        return await speak({ text, speed: 1, delivery: 'whole' }, other);
      } finally {
        await other.close();
      }
    },
    close: () => model.close(),
  };
}
