/** Transcripts in OpenAI's wire format. */

import type { Transcript, TranscriptSegment, TranscriptWord } from '../../../src/contract/engines/engine.ts';
import { languageName } from '../../../src/kit/validation/languages.ts';
import { srtText, vttText } from './captions.ts';
import type { TranscriptionAsk } from './schema.ts';

/** The answer to a request that did not ask for a stream. */
export function transcriptAnswer(ask: TranscriptionAsk, transcript: Transcript): Response {
  switch (ask.format) {
    case 'json':
      return Response.json({ text: transcript.text, usage: tokenUsage(transcript) });
    case 'verbose_json':
      return Response.json(verbose(ask, transcript));
    case 'text':
      return plainText(`${transcript.text}\n`);
    case 'srt':
      return plainText(srtText(transcript.segments));
    case 'vtt':
      return plainText(vttText(transcript.segments));
  }
}

/** The tokens that a request consumed. */
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

function verbose(ask: TranscriptionAsk, transcript: Transcript) {
  const { durationS, text, segments, words } = transcript;
  return {
    task: ask.task,
    language: languageOf(ask, transcript),
    duration: toMs(durationS),
    text,
    ...(ask.shown.segments ? { segments: segments.map(wireSegment) } : {}),
    ...(ask.shown.words ? { words: words.map(wireWord) } : {}),
    usage: { type: 'duration', seconds: Math.ceil(durationS) },
  };
}

/** Of the text: a translation is always English. */
function languageOf({ task, language }: TranscriptionAsk, transcript: Transcript): string {
  const code = task === 'translate' ? 'en' : (transcript.language ?? language);
  return (code && languageName(code)) ?? 'unknown';
}

function wireSegment(segment: TranscriptSegment, id: number) {
  return {
    id,
    // Whisper's own unit for where its window began: hundredths of a second.
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

/** To the millisecond, so that sums of binary fractions show no digits that mean nothing. */
function toMs(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

function plainText(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/plain; charset=utf-8' } });
}
