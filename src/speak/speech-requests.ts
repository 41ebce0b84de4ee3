/** Speech synthesis for HTTP responses: limited per organization, with errors before the first audio (spec 4.3, 4.9). */

import type { Caller } from '../contract/accounts/caller.ts';
import type { EndpointLabel } from '../contract/accounts/usage.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { SpokenWord } from '../contract/engines/engine.ts';
import { requireModel, unknownModel } from '../contract/model-table.ts';
import type { Slots } from '../contract/plugin.ts';
import { started } from '../kit/async/started.ts';
import { OpenRequests } from '../kit/limits/open-requests.ts';
import type { SpeechPart } from '../ssml/speech-parts.ts';
import { type SpeechTokens, SpeechUsageMeter } from '../usage/usage-meters.ts';
import { billedSynthesis, type SpeechChunk } from './billed-synthesis.ts';
import { MarkTimes, spokenPieces, type TimedMark } from './marked-text.ts';
import { type SelectedVoice, selectVoice, type VoiceLookup } from './stored-voices.ts';
import type { SynthesizeTextRequest } from './synthesize-text.ts';
import { WordTimeline } from './word-timeline.ts';

const BYTES_PER_SAMPLE = 2;

export interface SpeechRequestsDeps extends Pick<Slots, 'tts' | 'calls' | 'clock' | 'lexicons'> {
  readonly endpoint: EndpointLabel;
  readonly voices: VoiceLookup;
  /** Maximum number of concurrent requests per organization. */
  readonly requestsPerOrganization: number;
}

/** A validated request. */
export interface SpeechParams
  extends Omit<SynthesizeTextRequest, 'fairnessKey' | 'text' | 'onWords' | 'lexicon' | keyof SelectedVoice> {
  readonly text: string;
  readonly model: string;
  /** Id of a stored voice, or name of a voice of the model, as sent by the client; undefined selects its default voice. */
  readonly voiceId: string | undefined;
  /** Name of the request field with the voice, for error messages. */
  readonly voiceParam: string;
  /** BCP 47 tag of the text as sent by the client; undefined: the language of the voice. */
  readonly language?: string | undefined;
  /** Number of Unicode code points in `text`. */
  readonly characters: number;
  /**
   * Called with the words of the text, in order, in the audio of the whole text: before the audio that contains the first of them
   * is yielded if the engine has times, otherwise with interpolated times after the audio of their sentence.
   */
  readonly onWords?: ((words: readonly SpokenWord[]) => void) | undefined;
  /** Parts of a text with markup; absent: the text has none. `text` is then the joined text of the parts. */
  readonly parts?: readonly SpeechPart[] | undefined;
  /** Name of the request field with the markup, for error messages. */
  readonly textParam?: string | undefined;
  /** Called with the marks of the parts as their times become known, in order. */
  readonly onMarks?: ((marks: readonly TimedMark[]) => void) | undefined;
}

/** Speech that has started. */
export interface Speech {
  /**
   * Signed 16-bit little-endian mono PCM. Throwing an error into it marks the call as failed; ending it early stops the
   * synthesis.
   */
  readonly audio: AsyncGenerator<SpeechChunk, void, undefined>;
  /** Tokens of the text and of the audio so far. */
  readonly tokens: () => SpeechTokens;
}

export class SpeechRequests {
  /** Syntheses in progress. */
  readonly open: OpenRequests;
  readonly #deps: SpeechRequestsDeps;

  constructor(deps: SpeechRequestsDeps) {
    this.#deps = deps;
    this.open = new OpenRequests('speech', deps.requestsPerOrganization);
  }

  /**
   * Starts a synthesis. Resolves when the first audio exists, so that earlier errors can be reported as an HTTP status.
   * A rejected request leaves no usage row, nor does a text without speakable text.
   * @returns undefined if the text contains no speakable text.
   * @throws ServiceError `invalid_request` for an unknown model or voice; `rate_limited` if the organization has
   *   too many open requests; `insufficient_quota`. Also throws the errors of the engine, and the reason of the
   *   signal after an abort.
   */
  async startSpeech(params: SpeechParams, caller: Caller, signal: AbortSignal): Promise<Speech | undefined> {
    const { tts, voices, calls, clock, lexicons, endpoint } = this.#deps;
    const {
      model,
      voiceId,
      voiceParam,
      language,
      characters,
      onWords,
      onMarks,
      parts,
      textParam,
      ...speech
    } = params;
    const engine = requireModel(tts, model);
    const job = this.open.startRequest(caller, signal);
    try {
      const { organization } = caller;
      const requested = { id: voiceId, model, param: voiceParam, organization, language };
      const voice = await selectVoice(voices, engine, requested);
      const pieces =
        parts &&
        (await spokenPieces(parts, {
          voices,
          engine,
          requested,
          speed: speech.speed,
          textParam: textParam ?? 'input',
        }));
      const speeds = pieces?.flatMap((piece) => (piece.kind === 'text' ? piece.style.speed : [])) ?? [];
      const meter = new SpeechUsageMeter({ characters, speed: Math.min(speech.speed, ...speeds) });
      const marks = parts && onMarks && new MarkTimes(parts, onMarks);
      const report = (words: readonly SpokenWord[]) => {
        marks?.addWords(words);
        onWords?.(words);
      };
      const times =
        onWords || marks ? wordTimes({ report, onEnd: () => marks?.end() }, speech.rateHz) : undefined;
      const chunks = billedSynthesis(
        {
          calls,
          clock,
          lexicons,
          endpoint,
          model,
          caller,
          encoding: 'pcm16',
          onClosed: job.end,
          request: {
            ...speech,
            text: pieces ?? speech.text,
            fairnessKey: caller.keyId,
            onWords: times?.onWords,
          },
          ...times?.observer,
          meter,
          selectVoice: async () => ({ engine, ...voice }),
        },
        job.signal,
      );
      const audio = await started(times === undefined ? chunks : times.endedWith(chunks));
      return audio && { audio, tokens: () => meter.tokens };
    } catch (error) {
      job.end();
      throw error;
    }
  }

  /**
   * Returns the errors of the model and of the voice of a request that has other errors as well. Voices of an unknown model are
   * those of any model.
   * @throws the errors of the store.
   */
  async errorsOf(
    {
      model,
      voiceId,
      voiceParam,
      language,
    }: { readonly model: string | undefined } & Pick<SpeechParams, 'voiceId' | 'voiceParam' | 'language'>,
    { organization }: Caller,
  ): Promise<readonly ServiceError[]> {
    const { tts, voices } = this.#deps;
    const engine = model === undefined ? undefined : tts.get(model);
    const errors =
      model === undefined || engine !== undefined ? [] : [unknownModel(model, tts.ids, 'invalid_request')];
    const anyEngine = { hasVoice: (name: string) => tts.ids.some((id) => tts.get(id)?.hasVoice?.(name)) };
    try {
      await selectVoice(voices, engine ?? anyEngine, {
        id: voiceId,
        model: model ?? '',
        param: voiceParam,
        organization,
        language,
      });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.kind !== 'invalid_request') throw error;
      errors.push(error);
    }
    return errors;
  }
}

/** Reports the words of a synthesis in the audio of the whole text. */
function wordTimes(
  { report, onEnd }: { report(words: readonly SpokenWord[]): void; onEnd(): void },
  rateHz: number,
) {
  const timeline = new WordTimeline({
    onWords: (words, isEstimated) => {
      if (!isEstimated) report(words);
    },
    onRetimed: report,
  });
  return {
    onWords: (words: readonly SpokenWord[]) => timeline.addWords(words),
    observer: {
      onSentence: (sentence: string) => timeline.startClause(sentence),
      onChunk: ({ length }: SpeechChunk) => timeline.addAudio((length * 1000) / (rateHz * BYTES_PER_SAMPLE)),
    },
    async *endedWith(chunks: AsyncIterable<SpeechChunk>): AsyncGenerator<SpeechChunk, void, undefined> {
      yield* chunks;
      timeline.endClause();
      onEnd();
    },
  };
}
