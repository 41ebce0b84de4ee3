/** What the person chooses of a conversation, and what of it the service is told. */

export interface TalkSettings {
  readonly task: 'transcription' | 'translation';
  /** Id of the model that hears; undefined for the service's own choice. */
  readonly hearingModel: string | undefined;
  /** Id of the model that speaks; undefined for the service's own choice. */
  readonly speakingModel: string | undefined;
  /** Id of a stored voice; undefined for the model's own. */
  readonly voice: string | undefined;
  /** ISO 639-1; empty when the service is to find out. */
  readonly language: string;
  /** Whether the service hears where a turn ends, or the person says so. */
  readonly turns: 'pause' | 'hold';
  /** How sure the service must be that somebody speaks, from 0 to 1. */
  readonly threshold: number;
  readonly silenceMs: number;
  /** Sound before the beginning of speech that belongs to the turn. */
  readonly prefixMs: number;
  /** What is spoken when a turn was written down: nothing, the same words, or what a language model answers. */
  readonly answers: 'nothing' | 'echo' | 'model';
  /** Id of that language model. */
  readonly answeringModel: string | undefined;
}

export const USUAL_SETTINGS: TalkSettings = {
  task: 'transcription',
  hearingModel: undefined,
  speakingModel: undefined,
  voice: undefined,
  language: '',
  turns: 'pause',
  threshold: 0.5,
  silenceMs: 500,
  prefixMs: 300,
  answers: 'nothing',
  answeringModel: undefined,
};

/** Rate of all speech that the page asks for. */
export const SPOKEN_RATE_HZ = 24_000;

/**
 * The `session` of a `session.update`; null brings back what the service takes by itself.
 * @param rateHz of the microphone.
 */
export function sessionOf(settings: TalkSettings, rateHz: number) {
  const { task, hearingModel, speakingModel, voice, language, turns } = settings;
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
    ...(speakingModel !== undefined && { tts_model: speakingModel }),
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: rateHz },
        transcription: {
          ...(hearingModel !== undefined && { model: hearingModel }),
          language: language === '' ? null : language,
        },
        turn_detection: turns === 'hold' ? null : detection,
      },
      output: { format: { type: 'audio/pcm', rate: SPOKEN_RATE_HZ }, voice: voice ?? null },
    },
  };
}
