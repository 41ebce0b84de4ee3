import { loadConfig } from '../../server/config.ts';
import { importKokoroGraphs } from '../../src/engines/kokoro/import/import-graphs.ts';
import { KokoroAcousticModel } from '../../src/engines/kokoro/worker/acoustic-model.ts';
import { KokoroGenerator } from '../../src/engines/kokoro/worker/generator.ts';
import { loadKokoro } from '../../src/engines/kokoro/worker/model.ts';
import { frameKinds } from '../../src/engines/kokoro/worker/norm-statistics.ts';
import { loadPhonemizer } from '../../src/engines/kokoro/worker/phonemizer.ts';
import { loadVoice, prosodyOf } from '../../src/engines/kokoro/worker/voices.ts';
import type { Arithmetic } from '../../src/inference/onnx/convolution-product.ts';
import { resultsOf, type SpeechRequest } from '../../src/inference/pool/model.ts';
import { arithmeticFor } from '../../src/inference/runtime/cpu-arithmetic.ts';
import { openGraph } from '../../src/inference/runtime/runtime.ts';
import { DEFAULT_LANGUAGE } from '../../src/text/front-end.ts';
import { joined } from '../../tools/harness/media/sample-runs.ts';

const FRAME_SAMPLES = 600;
const VOICE = 'af_heart';

export type RealKokoro = Awaited<ReturnType<typeof openKokoro>>;

/** The shipped Kokoro in this process, and the one-shot decoder that its windows are compared with. */
export async function openKokoro() {
  const { modelsDir } = loadConfig(process.env);
  const runtime = { provider: 'cpu', threads: 1 } as const;
  const { vocabulary, phonemize } = await loadPhonemizer(modelsDir);
  const toPhonemes = async (text: string) => (await phonemize(text, DEFAULT_LANGUAGE)).phonemes;
  const options = { modelsDir, voices: [VOICE], runtime };
  const model = await loadKokoro(options);

  const synthesizeWindows = async (request: SpeechRequest, from = model): Promise<Float32Array[]> => {
    const windows: Float32Array[] = [];
    for await (const window of resultsOf(from.open(request)))
      if (window instanceof Float32Array) windows.push(window);
    return windows;
  };

  const exact = openExactGraphs();
  async function openExactGraphs() {
    const arithmetic = arithmeticFor('cpu');
    const graphs = await importKokoroGraphs(modelsDir, arithmetic);
    const acousticModel = await KokoroAcousticModel.open(graphs, vocabulary, runtime);
    const generator = new KokoroGenerator(await openGraph(graphs.generator, runtime));
    const voice = await loadVoice(VOICE, { modelsDir, arithmetic, acousticModel, generator, toPhonemes });
    return { acousticModel, generator, voice };
  }
  async function synthesizeExactly(text: string): Promise<Float32Array> {
    const { acousticModel, generator, voice } = await exact;
    const utterance = await acousticModel.computeUtterance(await toPhonemes(text), voice, 1);
    const kinds = frameKinds(prosodyOf(utterance), voice.profile.energyThresholds);
    const { audio } = await generator.decodeWhole(utterance, kinds);
    return audio.slice(utterance.from * FRAME_SAMPLES, utterance.to * FRAME_SAMPLES);
  }

  // Several tests examine the same audio, and synthesis takes most of their time.
  const results = new Map<string, Promise<readonly Float32Array[]>>();
  const once = (key: string, synthesize: () => Promise<readonly Float32Array[]>) => {
    const result = results.get(key) ?? synthesize();
    results.set(key, result);
    return result;
  };
  const runs = (request: SpeechRequest) => once(JSON.stringify(request), () => synthesizeWindows(request));
  return {
    model,
    /** The windows of a request, synthesized once. */
    runs,
    /** The audio of a request, synthesized once. */
    speak: async (request: SpeechRequest): Promise<Float32Array> => joined(await runs(request)),
    /** The audio of a request, synthesized again by this or another model. */
    speakAgain: async (request: SpeechRequest, from = model): Promise<Float32Array> =>
      joined(await synthesizeWindows(request, from)),
    /** One pass over the whole utterance with exact norms, without the silence around it; synthesized once. */
    speakExactly: async (text: string): Promise<Float32Array> =>
      joined(await once(`exactly: ${text}`, async () => [await synthesizeExactly(text)])),
    async speakWith(arithmetic: Arithmetic, text: string): Promise<Float32Array> {
      const other = await loadKokoro(options, arithmetic);
      try {
        return joined(await synthesizeWindows({ text, speed: 1, delivery: 'whole' }, other));
      } finally {
        await other.close();
      }
    },
    async close() {
      const { acousticModel, generator } = await exact;
      await Promise.all([acousticModel.close(), generator.close(), model.close()]);
    },
  };
}
