/** Kokoro-82M on ONNX Runtime: text to samples at 24 kHz, window by window. */

import { SPEECH_RATE_HZ } from '../../../contract/engines/audio.ts';
import type { ModelVoice, SpeechModel, SpeechRequest, SpeechResult } from '../../../inference/pool/model.ts';
import { arithmeticFor } from '../../../inference/runtime/cpu-arithmetic.ts';
import { frameWindows, type WindowPlan } from '../../../inference/runtime/frame-windows.ts';
import { openGraph } from '../../../inference/runtime/runtime.ts';
import type { RuntimeOptions } from '../../../inference/runtime/runtime-options.ts';
import { WordTimes } from '../../../inference/runtime/word-times.ts';
import { DEFAULT_LANGUAGE, type EspeakNg } from '../../../text/front-end.ts';
import { importKokoroGraphs } from '../import/import-graphs.ts';
import { splitPhonemes } from '../shared/tokens.ts';
import { readMix } from '../shared/voice-mix.ts';
import { KokoroAcousticModel } from './acoustic-model.ts';
import { KokoroGenerator } from './generator.ts';
import { createMixedVoice, type MixVoice } from './mixed-voice.ts';
import { WindowStatistics } from './norm-statistics.ts';
import { type KokoroPhonemizer, loadPhonemizer } from './phonemizer.ts';
import { timedTokens } from './token-sounds.ts';
import { type KokoroVoice, loadStyle, loadVoice, prosodyOf, readCachedProfile } from './voices.ts';

/**
 * In text frames of 25 ms. The receptive field of the generator is 60 frames at 800 Hz, plus 60 at 4,800 Hz, plus a few:
 * just under four text frames of context.
 */
const WINDOWS: WindowPlan = { first: 40, maxLength: 80, context: 4 };
const FRAME_MS = 25;

/** Size of the cache of mixes. The norm statistics of each take 0.25 MB. */
const MAX_CACHED_MIXES = 16;

export interface KokoroOptions {
  readonly modelsDir: string;
  /** Voices to load at startup, e.g. `af_heart`. The first is the voice of requests without a voice. */
  readonly voices: readonly string[];
  readonly runtime: RuntimeOptions;
  /** For languages other than American English. Absent: they cannot be spoken. */
  readonly espeak?: EspeakNg;
  /** Called when a file is converted or a voice is measured. */
  readonly onImport?: () => void;
}

/**
 * Loads the model and its voices. The first start imports the graphs and measures the voices. Synthesizes one sentence
 * to warm up the graphs.
 * @throws Error when a file is missing, or one of the voices does not exist.
 */
export async function loadKokoro(
  options: KokoroOptions,
  arithmetic = arithmeticFor(options.runtime.provider),
): Promise<SpeechModel> {
  const { modelsDir, runtime, voices, espeak, onImport } = options;
  const phonemizer = await loadPhonemizer(modelsDir, espeak);
  const { vocabulary } = phonemizer;
  const toPhonemes = async (text: string) => (await phonemizer.phonemize(text, DEFAULT_LANGUAGE)).phonemes;
  const graphs = await importKokoroGraphs(modelsDir, arithmetic, onImport);
  const acousticModel = await KokoroAcousticModel.open(graphs, vocabulary, runtime);
  const generator = new KokoroGenerator(await openGraph(graphs.generator, runtime));
  const loadPreset = (name: string) =>
    loadVoice(name, { modelsDir, arithmetic, acousticModel, generator, toPhonemes, onImport });
  const loadMixVoice = async (name: string): Promise<MixVoice> => {
    const style = await loadStyle(name, modelsDir);
    return { style, profile: await readCachedProfile(name, { modelsDir, arithmetic }) };
  };
  const model = new KokoroModel(voices, phonemizer, acousticModel, generator, { loadPreset, loadMixVoice });
  await model.loadVoices();
  for await (const _ of model.open({ text: 'Hi.', speed: 1, delivery: 'stream' }));
  return model;
}

class KokoroModel implements SpeechModel {
  readonly description = { rateHz: SPEECH_RATE_HZ, supportsAdaptations: true };
  /** Loaded presets by name; at most the number of voices in the catalog. */
  readonly #presets = new Map<string, Promise<KokoroVoice>>();
  /** LRU cache of mixes, by the text of their adaptations. */
  readonly #mixes = new Map<string, KokoroVoice>();
  /** Components of mixes by name; at most the number of voices in the catalog. */
  readonly #mixVoices = new Map<string, MixVoice>();

  constructor(
    private readonly voices: readonly string[],
    private readonly phonemizer: KokoroPhonemizer,
    private readonly acousticModel: KokoroAcousticModel,
    private readonly generator: KokoroGenerator,
    private readonly files: {
      readonly loadPreset: (name: string) => Promise<KokoroVoice>;
      readonly loadMixVoice: (name: string) => Promise<MixVoice>;
    },
  ) {}

  /** Loads the voices sequentially: measuring two concurrently would only need more memory. */
  async loadVoices(): Promise<void> {
    for (const name of this.voices) await this.#presetVoice(name);
  }

  async *open(request: SpeechRequest): AsyncGenerator<SpeechResult | null, SpeechResult | undefined> {
    const voice = await this.#voice(request.voice ?? { kind: 'preset', name: this.voices[0] ?? '' });
    const { phonemes, sources } = await this.phonemizer.phonemize(
      request.text,
      request.language ?? DEFAULT_LANGUAGE,
      request.givenSounds,
    );
    const times = request.words ? new WordTimes(request.text, sources, FRAME_MS) : undefined;
    let symbols = 0;
    const segments = splitPhonemes(phonemes);
    for (const [i, segment] of segments.entries()) {
      const utterance = await this.acousticModel.computeUtterance(segment, voice, request.speed);
      const statistics = new WindowStatistics(voice.profile, prosodyOf(utterance));
      const start = symbols;
      symbols += [...segment].length;
      yield times?.add(timedTokens(utterance, sources.slice(start, symbols), request.speed)) ?? null;
      const { delivery, firstAudioMs = Number.POSITIVE_INFINITY } = request;
      for (const window of frameWindows(utterance, WINDOWS, delivery, firstAudioMs / FRAME_MS)) {
        const samples = await this.generator.decodeWindow(utterance, window, statistics);
        if (i === segments.length - 1 && window.end === utterance.to) return samples;
        yield samples;
      }
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.acousticModel.close();
    await this.generator.close();
  }

  #voice(voice: ModelVoice): Promise<KokoroVoice> {
    return voice.kind === 'preset' ? this.#presetVoice(voice.name) : this.#mixedVoice(voice.adaptation);
  }

  /** Takes a few milliseconds: unmeasured voices are not measured here, because other requests would wait. */
  async #mixedVoice(adaptation: string): Promise<KokoroVoice> {
    const cached = this.#mixes.get(adaptation);
    // Inserted again below, so that the map is in the order of last use.
    this.#mixes.delete(adaptation);
    const mix =
      cached === undefined ? await this.#createMix(adaptation) : { voice: cached, isMeasured: true };
    if (!mix.isMeasured) return mix.voice;
    this.#mixes.set(adaptation, mix.voice);
    const [oldest] = this.#mixes.keys();
    if (this.#mixes.size > MAX_CACHED_MIXES && oldest !== undefined) this.#mixes.delete(oldest);
    return mix.voice;
  }

  /** `isMeasured` is false if a voice of the mix is not measured yet; such a mix must not be cached. */
  async #createMix(
    adaptation: string,
  ): Promise<{ readonly voice: KokoroVoice; readonly isMeasured: boolean }> {
    const mix = readMix(adaptation);
    if (!mix) throw new Error('The adaptation is not a mix of Kokoro voices.');
    const names = new Set([...Object.keys(mix.timbre), ...Object.keys(mix.prosody)]);
    const voices = new Map<string, MixVoice>();
    for (const name of names) voices.set(name, await this.#mixVoice(name));
    const { profile } = await this.#presetVoice(this.voices[0] ?? '');
    const isMeasured = voices.values().every((voice) => voice.profile !== undefined);
    return { voice: createMixedVoice(mix, voices, profile), isMeasured };
  }

  async #mixVoice(name: string): Promise<MixVoice> {
    const cached = this.#mixVoices.get(name);
    if (cached?.profile) return cached;
    const voice = await this.files.loadMixVoice(name);
    this.#mixVoices.set(name, voice);
    return voice;
  }

  #presetVoice(name: string): Promise<KokoroVoice> {
    const cached = this.#presets.get(name);
    if (cached) return cached;
    const loading = this.files.loadPreset(name);
    this.#presets.set(name, loading);
    // A failed load is not cached, so that the next request retries it.
    loading.catch(() => this.#presets.delete(name));
    return loading;
  }
}
