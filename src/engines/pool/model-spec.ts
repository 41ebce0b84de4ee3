/** Specs of the models that an inference process loads. Plain data, sent to the process as a message. */

export interface PiperSpec {
  readonly kind: 'piper';
  /** Path of the voice's graph. */
  readonly model: string;
  /** Path of the voice's settings. */
  readonly settings: string;
  /** Name of the voice, for messages and for its language. */
  readonly voice: string;
  /** Model cache with eSpeak NG, for voices outside the catalog. Absent: the English eSpeak of the inference process. */
  readonly modelsDir?: string;
}

export interface KokoroSpec {
  readonly kind: 'kokoro';
  readonly modelsDir: string;
  /** Voices to load. The first is the default voice. */
  readonly voices: readonly string[];
}

export interface WhisperSpec {
  readonly kind: 'whisper';
  readonly modelsDir: string;
  /** `base`, `tiny.en`, or the absolute path of a folder with a checkpoint or an ONNX export. */
  readonly weights: string;
}

export interface MinilmSpec {
  readonly kind: 'minilm';
  /** Path of the graph. */
  readonly model: string;
  /** Path of the vocabulary file. */
  readonly vocabulary: string;
}

export interface SpeakersSpec {
  readonly kind: 'resemblyzer';
  readonly modelsDir: string;
}

export type ModelSpec = PiperSpec | KokoroSpec | WhisperSpec | MinilmSpec | SpeakersSpec;
