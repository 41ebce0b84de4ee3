/** A Piper voice on ONNX Runtime: text to samples, window by window. */

import type { Float32Samples } from '../../contract/engines/audio.ts';
import type {
  SpeechDescription,
  SpeechModel,
  SpeechRequest,
  SpeechResult,
} from '../../inference/pool/model.ts';
import { type FrameWindow, frameWindows, type WindowPlan } from '../../inference/runtime/frame-windows.ts';
import { type GraphOutput, type GraphSession, openGraph } from '../../inference/runtime/runtime.ts';
import type { RuntimeOptions } from '../../inference/runtime/runtime-options.ts';
import { WordTimes } from '../../inference/runtime/word-times.ts';
import { loadEspeak } from '../../text/espeak.ts';
import { type EspeakNg, plainIpa, wordsIn } from '../../text/front-end.ts';
import { DEFAULT_PIPER_VOICE } from './default-voice.ts';
import { type ClausePhonemes, createPiperG2p, type PiperG2p, phonemesInOneCall } from './g2p.ts';
import { piperLanguage } from './named-voices.ts';
import { DECODER_INPUT, SPEAKER_INPUT, splitPiperGraph } from './split-graph.ts';
import { type PiperSettings, parsePiperSettings } from './voice-settings.ts';

/**
 * In latent frames, 86 per second: windows of 0.46 s to 3.7 s. The receptive field of the decoder is 11 frames. A context of
 * 12 frames gives a maximum error of 1e-6, 10 frames 2e-6, 8 frames 2e-3 (measured).
 */
const WINDOWS: WindowPlan = { first: 40, maxLength: 320, context: 12 };
/** Samples of a latent frame. */
const HOP_SAMPLES = 256;

export interface PiperOptions {
  /** Path of the voice's graph, `*.onnx`. */
  readonly model: string;
  /** Path of the voice's settings, `*.onnx.json`. */
  readonly settings: string;
  /** Its name, as in CONFIG. Absent: the voice of the catalog. */
  readonly voice?: string;
  readonly runtime: RuntimeOptions;
  /** Absent: the English eSpeak of this process. */
  readonly espeak?: EspeakNg | undefined;
}

/**
 * Loads a voice and synthesizes one sentence to warm up the graphs.
 * @throws Error when a file is not a Piper voice with the expected structure.
 */
export async function loadPiper(options: PiperOptions): Promise<SpeechModel> {
  const voice = parsePiperSettings(await Bun.file(options.settings).text());
  const graphs = splitPiperGraph(await Bun.file(options.model).bytes());
  const { voice: name = DEFAULT_PIPER_VOICE } = options;
  const language = piperLanguage(name, voice.language?.code, voice.espeak?.voice);
  const phonemes = await phonemesOf(voice, options);
  // The symbols of the other type are letters.
  const soundsOf = (voice.phoneme_type ?? 'espeak') === 'espeak' ? espeakIpa(language) : undefined;
  const phonemeIds = voice.phoneme_id_map;
  const g2p = createPiperG2p({ phonemes, words: wordsIn(language), phonemeIds, soundsOf });
  const encoder = await openGraph(graphs.encoder, options.runtime);
  const decoder = await openGraph(graphs.decoder, options.runtime);
  const model = new PiperModel({ voice, g2p, encoder, decoder, language, hasSpeakers: graphs.hasSpeakers });
  for await (const _ of model.open({ text: 'Ready when you are.', speed: 1, delivery: 'stream' }));
  return model;
}

/** IPA as eSpeak writes it in a language: its English has no trill. */
function espeakIpa(language: string): (ipa: string) => string {
  const isEnglish = language.startsWith('en');
  return (ipa) => (isEnglish ? plainIpa(ipa).replaceAll('r', 'ɹ').replaceAll('ɝ', 'ɜː') : plainIpa(ipa));
}

/** How a voice gets its phonemes. @throws Error for a type of phonemes that this engine does not have. */
async function phonemesOf(
  { phoneme_type: type = 'espeak', espeak: language }: PiperSettings,
  { espeak, voice = DEFAULT_PIPER_VOICE }: PiperOptions,
): Promise<ClausePhonemes> {
  // Its symbols are letters.
  if (type === 'text') return async (clauses) => clauses.map((clause) => clause.toLowerCase());
  if (type !== 'espeak') {
    throw new Error(
      `The Piper voice ${voice} needs phonemes of the type '${type}'; supported are 'espeak' and 'text'.`,
    );
  }
  if (espeak === undefined) return phonemesInOneCall(await loadEspeak());
  if (language === undefined) {
    throw new Error(`The settings of the Piper voice ${voice} name no voice of eSpeak (espeak.voice).`);
  }
  return async (clauses) => {
    const spoken = await espeak(language.voice, clauses);
    // Piper's voices were trained without ties.
    return spoken.map((line) => line.replaceAll('^', ''));
  };
}

interface PiperParts {
  readonly voice: PiperSettings;
  readonly g2p: PiperG2p;
  readonly encoder: GraphSession;
  readonly decoder: GraphSession;
  /** BCP 47 tag. */
  readonly language: string;
  /** Whether the graphs have the input {@link SPEAKER_INPUT}. */
  readonly hasSpeakers: boolean;
}

type Speaker = Parameters<GraphSession['run']>[0];

class PiperModel implements SpeechModel {
  readonly description: SpeechDescription;
  readonly #parts: PiperParts;
  /** Numbers of the speakers, by name. */
  readonly #speakers: ReadonlyMap<string, number>;

  constructor(parts: PiperParts) {
    const { voice, language, hasSpeakers } = parts;
    this.#parts = parts;
    this.#speakers = new Map(hasSpeakers ? Object.entries(voice.speaker_id_map ?? {}) : []);
    this.description = {
      rateHz: voice.audio.sample_rate,
      supportsAdaptations: false,
      language,
      speakers: [...this.#speakers.keys()],
    };
  }

  async *open(request: SpeechRequest): AsyncGenerator<SpeechResult | null, SpeechResult | undefined> {
    const { g2p, voice } = this.#parts;
    const sentences = await g2p.phonemize(request.text, request.givenSounds);
    const speaker = this.#speakerOf(request);
    const sources = request.words ? sentences.map((sentence) => sentence.sources()) : [];
    const frameMs = (HOP_SAMPLES * 1000) / voice.audio.sample_rate;
    const times = new WordTimes(request.text, sources.flat(), frameMs);
    for (const [i, { ids }] of sentences.entries()) {
      const { latent, durations } = await this.#encode(ids, request.speed, speaker);
      const frames = latent.dims[2] ?? 0;
      const audible = { frames, from: 0, to: frames };
      const own = sources[i];
      if (own !== undefined) yield times.add({ ...audible, sources: own, durations: durations.data });
      const { delivery, firstAudioMs = Number.POSITIVE_INFINITY } = request;
      for (const window of frameWindows(audible, WINDOWS, delivery, firstAudioMs / frameMs)) {
        const samples = await this.#decode(latent, window, speaker);
        if (i === sentences.length - 1 && window.end === audible.to) return samples;
        yield samples;
      }
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.#parts.encoder.close();
    await this.#parts.decoder.close();
  }

  /** The input with the number of the speaker; empty for a voice with one. */
  #speakerOf({ voice }: SpeechRequest): Speaker {
    if (!this.#parts.hasSpeakers) return {};
    const number = voice?.kind === 'preset' ? this.#speakers.get(voice.name) : undefined;
    return {
      [SPEAKER_INPUT]: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(number ?? 0)) },
    };
  }

  async #encode(ids: readonly number[], speed: number, speaker: Speaker) {
    const { encoder, voice } = this.#parts;
    const { noise_scale, length_scale, noise_w } = voice.inference;
    return await encoder.run(
      {
        input: { type: 'int64', dims: [1, ids.length], data: BigInt64Array.from(ids, BigInt) },
        input_lengths: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(ids.length)) },
        scales: {
          type: 'float32',
          dims: [3],
          data: Float32Array.of(noise_scale, length_scale / speed, noise_w),
        },
        ...speaker,
      },
      ['latent', 'durations'],
    );
  }

  /** Decodes the samples of a window, without its context. */
  async #decode(latent: GraphOutput, window: FrameWindow, speaker: Speaker): Promise<Float32Samples> {
    const [, channels = 0, frames = 0] = latent.dims;
    const { start, end, contextStart, contextEnd } = window;
    const length = contextEnd - contextStart;
    const data = new Float32Array(channels * length);
    for (let channel = 0; channel < channels; channel++) {
      const row = latent.data.subarray(channel * frames + contextStart, channel * frames + contextEnd);
      data.set(row, channel * length);
    }
    const { audio } = await this.#parts.decoder.run(
      { [DECODER_INPUT]: { type: 'float32', dims: [1, channels, length], data }, ...speaker },
      ['audio'],
    );
    if (audio.data.length !== length * HOP_SAMPLES) {
      throw new Error(
        `The Piper voice has ${audio.data.length / length} samples per frame; ${HOP_SAMPLES} are supported.`,
      );
    }
    return audio.data.slice((start - contextStart) * HOP_SAMPLES, (end - contextStart) * HOP_SAMPLES);
  }
}
