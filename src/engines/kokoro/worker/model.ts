/** Kokoro-82M on the ONNX runtime: text to samples, window by window. */

import { type Float32Samples, SPEECH_RATE_HZ } from '../../../contract/engines/audio.ts';
import { splitPhonemes } from '../../../text/english/g2p/kokoro-tokens.ts';
import type { PassVoice, RuntimeOptions, SpeechModel, SpeechRequest } from '../../pool/model.ts';
import { arithmeticFor } from '../../runtime/cpu-arithmetic.ts';
import { frameWindows, type WindowPlan } from '../../runtime/frame-windows.ts';
import { openGraph } from '../../runtime/runtime.ts';
import { importKokoro } from '../import/import.ts';
import { readMix } from '../shared/voice-mix.ts';
import { KokoroFront } from './front.ts';
import { KokoroGenerator } from './generator.ts';
import { type MixedPart, mixedVoice } from './mixed-voice.ts';
import { RunningStatistics } from './norm-statistics.ts';
import { loadKokoroText } from './text.ts';
import { type KokoroVoice, loadStyle, loadVoice, measuredProfile, prosodyOf } from './voices.ts';

/**
 * In text frames of 25 ms. The generator's convolutions reach 60 frames at 800 Hz, 60 at 4,800 Hz and a few
 * more: just under four text frames.
 */
const WINDOWS: WindowPlan = { first: 40, longest: 80, context: 4 };

/** Mixes of voices that are kept, for each of which statistics of a quarter of a megabyte are made. */
const MIXES = 16;

export interface KokoroOptions {
  readonly modelsDir: string;
  /** Voices to have ready, e.g. `af_heart`; the first is that of requests that name none. */
  readonly voices: readonly string[];
  readonly runtime: RuntimeOptions;
}

/**
 * Loads the model and its voices, importing and measuring them on the first start, and speaks once so that
 * the first request finds everything warm.
 * @throws Error when a file is missing, or one of the voices does not exist.
 */
export async function loadKokoro(
  options: KokoroOptions,
  arithmetic = arithmeticFor(options.runtime.provider),
): Promise<SpeechModel> {
  const { modelsDir, runtime, voices } = options;
  const { vocabulary, toPhonemes } = await loadKokoroText(modelsDir);
  const graphs = await importKokoro(modelsDir, arithmetic);
  const front = new KokoroFront(await openGraph(graphs.front, runtime), vocabulary);
  const generator = new KokoroGenerator(await openGraph(graphs.generator, runtime));
  const openVoice = (name: string) =>
    loadVoice(name, { modelsDir, arithmetic, front, generator, toPhonemes });
  const openPart = async (name: string): Promise<MixedPart> => {
    const style = await loadStyle(name, modelsDir);
    return { style, profile: await measuredProfile(name, { modelsDir, arithmetic }) };
  };
  const model = new KokoroModel(voices, toPhonemes, front, generator, { openVoice, openPart });
  await model.loadVoices();
  for await (const _ of model.open({ text: 'Ready when you are.', speed: 1, delivery: 'stream' }));
  return model;
}

class KokoroModel implements SpeechModel {
  readonly description = { rateHz: SPEECH_RATE_HZ, speaksAdaptations: true };
  /** Voices of the options and those that were asked for; there are as many as the catalog lists. */
  readonly #loaded = new Map<string, Promise<KokoroVoice>>();
  /** By the text of their adaptations, those that were used last. */
  readonly #mixed = new Map<string, KokoroVoice>();
  /** Voices that mixes are made of, as many as the catalog lists at most. */
  readonly #parts = new Map<string, MixedPart>();

  constructor(
    private readonly voices: readonly string[],
    private readonly toPhonemes: (text: string) => Promise<string>,
    private readonly front: KokoroFront,
    private readonly generator: KokoroGenerator,
    private readonly files: {
      readonly openVoice: (name: string) => Promise<KokoroVoice>;
      readonly openPart: (name: string) => Promise<MixedPart>;
    },
  ) {}

  /** One after the other: measuring two at once would only take more memory. */
  async loadVoices(): Promise<void> {
    for (const name of this.voices) await this.#preset(name);
  }

  async *open(request: SpeechRequest): AsyncGenerator<Float32Samples | null, void, undefined> {
    const voice = await this.#voice(request.voice ?? { kind: 'preset', name: this.voices[0] ?? '' });
    const phonemes = await this.toPhonemes(request.text);
    for (const pass of splitPhonemes(phonemes)) {
      const utterance = await this.front.speak(pass, voice, request.speed);
      const statistics = new RunningStatistics(voice.profile, prosodyOf(utterance));
      yield null;
      for (const window of frameWindows(utterance, WINDOWS, request.delivery)) {
        yield await this.generator.decodeWindow(utterance, window, statistics);
      }
    }
  }

  async close(): Promise<void> {
    await this.front.close();
    await this.generator.close();
  }

  #voice(voice: PassVoice): Promise<KokoroVoice> {
    return voice.kind === 'preset' ? this.#preset(voice.name) : this.#mix(voice.adaptation);
  }

  /** Some milliseconds: nothing is measured here, where others wait. */
  async #mix(adaptation: string): Promise<KokoroVoice> {
    const known = this.#mixed.get(adaptation);
    // What was used last stands last.
    this.#mixed.delete(adaptation);
    const mix = known === undefined ? await this.#mixedOf(adaptation) : { voice: known, isWhole: true };
    if (!mix.isWhole) return mix.voice;
    this.#mixed.set(adaptation, mix.voice);
    const [oldest] = this.#mixed.keys();
    if (this.#mixed.size > MIXES && oldest !== undefined) this.#mixed.delete(oldest);
    return mix.voice;
  }

  /** @returns also whether all of it was measured; what is not may be the next time. */
  async #mixedOf(adaptation: string): Promise<{ readonly voice: KokoroVoice; readonly isWhole: boolean }> {
    const mix = readMix(adaptation);
    if (!mix) throw new Error('The adaptation is no mix of voices of Kokoro.');
    const names = new Set([...Object.keys(mix.timbre), ...Object.keys(mix.prosody)]);
    const parts = new Map<string, MixedPart>();
    for (const name of names) parts.set(name, await this.#part(name));
    const { profile } = await this.#preset(this.voices[0] ?? '');
    const isWhole = parts.values().every((part) => part.profile !== undefined);
    return { voice: mixedVoice(mix, parts, profile), isWhole };
  }

  async #part(name: string): Promise<MixedPart> {
    const known = this.#parts.get(name);
    if (known?.profile) return known;
    const part = await this.files.openPart(name);
    this.#parts.set(name, part);
    return part;
  }

  #preset(name: string): Promise<KokoroVoice> {
    const known = this.#loaded.get(name);
    if (known) return known;
    const loading = this.files.openVoice(name);
    this.#loaded.set(name, loading);
    // A voice that could not be loaded may be there next time.
    loading.catch(() => this.#loaded.delete(name));
    return loading;
  }
}
