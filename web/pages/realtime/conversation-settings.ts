/** User settings of a realtime conversation, and their conversion to a session. */

export interface ConversationSettings {
  readonly task: 'transcription' | 'translation';
  /** Id of the transcription model; undefined for the default of the service. */
  readonly transcriptionModel: string | undefined;
  /** Id of the speech model; undefined for the default of the service. */
  readonly speechModel: string | undefined;
  /** Id of a stored voice; undefined for the default of the model. */
  readonly voice: string | undefined;
  /** ISO 639-1 code; empty for automatic detection. */
  readonly language: string;
  /** Whether turns end at a pause (server VAD) or with the push-to-talk button. */
  readonly turns: 'pause' | 'hold';
  /** Minimum speech probability of the VAD, from 0 to 1. */
  readonly threshold: number;
  readonly silenceMs: number;
  /** Audio before the start of speech that belongs to the turn, in ms. */
  readonly prefixMs: number;
  /** What is synthesized after each turn: nothing, the transcript, or a language model's reply. */
  readonly responseMode: 'nothing' | 'echo' | 'model';
  /** Id of the language model. */
  readonly languageModel: string | undefined;
}

export const DEFAULT_SETTINGS: ConversationSettings = {
  task: 'transcription',
  transcriptionModel: undefined,
  speechModel: undefined,
  voice: undefined,
  language: '',
  turns: 'pause',
  threshold: 0.5,
  silenceMs: 500,
  prefixMs: 300,
  responseMode: 'nothing',
  languageModel: undefined,
};

/** Sample rate of synthesized audio in Hz. */
export const SPEECH_RATE_HZ = 24_000;

/**
 * Returns the `session` of a `session.update`; null restores the default of the service.
 * @param rateHz sample rate of the microphone.
 */
export function sessionOf(settings: ConversationSettings, rateHz: number) {
  const { task, transcriptionModel, speechModel, voice, language, turns } = settings;
  const { threshold, silenceMs, prefixMs } = settings;
  const detection = {
    type: 'server_vad',
    threshold,
    prefix_padding_ms: prefixMs,
    silence_duration_ms: silenceMs,
  };
  return {
    type: task,
    output_modalities: ['audio'],
    ...(speechModel !== undefined && { tts_model: speechModel }),
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: rateHz },
        transcription: {
          ...(transcriptionModel !== undefined && { model: transcriptionModel }),
          language: language === '' ? null : language,
        },
        turn_detection: turns === 'hold' ? null : detection,
      },
      output: { format: { type: 'audio/pcm', rate: SPEECH_RATE_HZ }, voice: voice ?? null },
    },
  };
}
