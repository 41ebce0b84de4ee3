/** Transcripts in OpenAI's wire format. */

import type {
  TextToken,
  Transcript,
  TranscriptSegment,
  TranscriptWord,
} from '../../../src/contract/engines/engine.ts';
import { languageName } from '../../../src/kit/validation/languages.ts';
import { wireLogprobs } from '../../../src/listen/logprobs.ts';
import { srtText, vttText } from './captions.ts';
import { type TranscriptionFormParams, WHISPER } from './schema.ts';

/** OpenAI's model whose `json` has the languages (openai 7.57.0). */
const GPT_TRANSCRIBE = 'gpt-transcribe';

/** The response to a non-streaming request. */
export function transcriptResponse(params: TranscriptionFormParams, transcript: Transcript): Response {
  switch (params.format) {
    case 'json':
      return Response.json({
        ...completeText(params, transcript),
        usage: params.model === WHISPER ? durationUsage(transcript) : tokenUsage(transcript),
      });
    case 'verbose_json':
      return Response.json(verbose(params, transcript));
    case 'text':
      return plainText(`${transcript.text}\n`);
    case 'srt':
      return plainText(srtText(transcript.segments));
    case 'vtt':
      return plainText(vttText(transcript.segments));
  }
}

/** Fields of a `json` response and of the last event of a stream. */
export function completeText(params: TranscriptionFormParams, transcript: Transcript) {
  const { text, tokens, language } = transcript;
  return {
    text,
    ...(params.model === GPT_TRANSCRIBE
      ? { languages: language === undefined ? [] : [{ code: language }] }
      : {}),
    ...logprobsOf(tokens),
  };
}

/** `logprobs`, if the tokens were requested and the engine reports them. */
export function logprobsOf(tokens: readonly TextToken[] | undefined) {
  const logprobs = wireLogprobs(tokens);
  return logprobs === undefined ? {} : { logprobs };
}

function durationUsage({ durationS }: Transcript) {
  return { type: 'duration', seconds: Math.ceil(durationS) };
}

/** Token usage of a request. */
export function tokenUsage({ inputTokens, outputTokens }: Transcript) {
  const all = inputTokens.audio + inputTokens.text;
  return {
    type: 'tokens',
    input_tokens: all,
    output_tokens: outputTokens,
    total_tokens: all + outputTokens,
    input_token_details: { audio_tokens: inputTokens.audio, text_tokens: inputTokens.text },
  };
}

function verbose(params: TranscriptionFormParams, transcript: Transcript) {
  const { durationS, text, segments, words, tokens } = transcript;
  return {
    task: params.task,
    language: languageOf(params, transcript),
    duration: toMs(durationS),
    text,
    ...(params.shown.segments ? { segments: segments.map(wireSegment) } : {}),
    ...(params.shown.words ? { words: words.map(wireWord) } : {}),
    ...logprobsOf(tokens),
    usage: durationUsage(transcript),
  };
}

/** English name of the transcript's language. Translations are always English. */
function languageOf({ task, language }: TranscriptionFormParams, transcript: Transcript): string {
  const code = task === 'translate' ? 'en' : (transcript.language ?? language);
  return (code && languageName(code)) ?? 'unknown';
}

function wireSegment(segment: TranscriptSegment, id: number) {
  return {
    id,
    // Whisper's unit for the start of a window: hundredths of a second.
    seek: Math.floor(segment.startS * 100),
    start: toMs(segment.startS),
    end: toMs(segment.endS),
    text: segment.text,
    tokens: segment.tokens,
    temperature: segment.temperature,
    avg_logprob: segment.averageLogProbability,
    compression_ratio: segment.compressionRatio,
    no_speech_prob: segment.noSpeechProbability,
  };
}

function wireWord({ word, startS, endS }: TranscriptWord) {
  return { word, start: toMs(startS), end: toMs(endS) };
}

/** Rounds to milliseconds, to avoid floating-point noise. */
function toMs(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

function plainText(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
}
