/** Numbers and spans of what is asked of models, whatever runs them: a wrapper for each kind of engine. */

import type { Clock } from '../contract/core/clock.ts';
import { type ErrorKind, ServiceError } from '../contract/core/error.ts';
import type { Metrics } from '../contract/core/metrics.ts';
import type { Span, SpanAttributes, Tracer } from '../contract/core/tracer.ts';
import type { EmbedEngine } from '../contract/engines/embed.ts';
import type { AudioChunk, Priority, SttEngine, TtsEngine } from '../contract/engines/engine.ts';
import type { TextEngine } from '../contract/engines/text.ts';
import type { VideoEngine } from '../contract/engines/video.ts';
import { withSpan, iterateInSpan } from '../kit/logging/spans.ts';
import { PlaybackClock } from '../kit/playback.ts';

const LATENCY_SECONDS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.1, 3.4, 6.4, 12.8, 30];
const REAL_TIME_FACTORS = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 4];
/** A player holds more than this back. */
const SHORTEST_GAP_MS = 20;
/** What is no fault of the model. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set([
  'invalid_request',
  'overloaded',
  'rate_limited',
  'payload_too_large',
]);

type Task = 'speech' | 'transcription' | 'chat' | 'embedding';
type Outcome = 'completed' | 'rejected' | 'failed' | 'cancelled';

export interface EngineMetricsDeps {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

/** Wraps engines; `model` is an id of CONFIG. What a wrapped engine does is the same. */
export interface EngineMetrics {
  tts(model: string, engine: TtsEngine): TtsEngine;
  stt(model: string, engine: SttEngine): SttEngine;
  text(model: string, engine: TextEngine): TextEngine;
  embed(model: string, engine: EmbedEngine): EmbedEngine;
  video(model: string, engine: VideoEngine): VideoEngine;
}

export function engineMetrics({ clock, metrics, tracer }: EngineMetricsDeps): EngineMetrics {
  const numbers = engineNumbers(metrics);
  const sinceS = (ms: number) => (clock.monotonicMs() - ms) / 1000;

  /**
   * Counts what becomes of a call whose results come one after the other.
   * @param isLast whether a result is the last: who has it need not ask for more.
   */
  async function* counted<Item>(
    labels: { readonly task: Task; readonly model: string },
    signal: AbortSignal,
    results: AsyncIterable<Item>,
    isLast: (result: Item) => boolean = () => false,
  ): AsyncGenerator<Item, void, undefined> {
    let outcome: Outcome = 'cancelled';
    try {
      for await (const result of results) {
        if (isLast(result)) outcome = 'completed';
        yield result;
      }
      outcome = 'completed';
    } catch (error) {
      outcome = outcomeOf(error, signal);
      throw error;
    } finally {
      numbers.calls.add({ ...labels, outcome });
    }
  }

  return {
    tts: (model, engine) => ({
      rateHz: engine.rateHz,
      ...(engine.deleteVoice && { deleteVoice: engine.deleteVoice.bind(engine) }),
      synthesize(request, signal) {
        const { priority, delivery, aheadMs, text } = request;
        const labels = { model, priority };
        const spoken = async function* (span: Span) {
          const beganMs = clock.monotonicMs();
          const playback = new PlaybackClock(aheadMs === undefined ? undefined : beganMs + aheadMs);
          let isFirst = aheadMs === undefined;
          let audioS = 0;
          let waitedMs = 0;
          let askedMs = beganMs;
          for await (const samples of engine.synthesize(request, signal)) {
            const nowMs = clock.monotonicMs();
            const lengthS = samples.length / engine.rateHz;
            waitedMs += nowMs - askedMs;
            audioS += lengthS;
            numbers.audio.add(labels, lengthS);
            const gapMs = playback.addAudio(lengthS * 1000, nowMs, askedMs);
            if (delivery === 'stream') {
              if (isFirst) numbers.firstAudio.observe(labels, sinceS(beganMs));
              if (gapMs >= SHORTEST_GAP_MS) {
                numbers.underruns.add(labels);
                numbers.underrunSeconds.add(labels, gapMs / 1000);
              }
            }
            isFirst = false;
            yield samples;
            askedMs = clock.monotonicMs();
          }
          waitedMs += clock.monotonicMs() - askedMs;
          if (audioS > 0) numbers.speechFactor.observe(labels, waitedMs / 1000 / audioS);
          span.set({ audio_ms: Math.round(audioS * 1000) });
        };
        const attributes = { ...attributesOf(model, priority), characters: text.length };
        return iterateInSpan(tracer, 'synthesis', { attributes }, (span) =>
          counted({ task: 'speech', model }, signal, spoken(span)),
        );
      },
      ready: () => engine.ready(),
      close: () => engine.close(),
    }),

    stt: (model, engine) => ({
      languages: engine.languages,
      transcribe(audio, request, signal) {
        const { priority } = request;
        const labels = { model, priority };
        const transcribed = async function* (span: Span) {
          const beganMs = clock.monotonicMs();
          let endedMs: number | undefined;
          const heard = async function* (): AsyncGenerator<AudioChunk, void, undefined> {
            yield* audio;
            endedMs = clock.monotonicMs();
          };
          for await (const event of engine.transcribe(heard(), request, signal)) {
            if (event.kind === 'final') {
              const { durationS } = event.transcript;
              numbers.heardAudio.add(labels, durationS);
              if (endedMs !== undefined) numbers.final.observe(labels, sinceS(endedMs));
              // Who speaks now is heard no faster than that.
              if (priority !== 'realtime' && durationS > 0) {
                numbers.transcriptionFactor.observe(labels, sinceS(beganMs) / durationS);
              }
              span.set({ audio_ms: Math.round(durationS * 1000) });
            }
            yield event;
          }
        };
        return iterateInSpan(tracer, 'transcription', { attributes: attributesOf(model, priority) }, (span) =>
          counted(
            { task: 'transcription', model },
            signal,
            transcribed(span),
            ({ kind }) => kind === 'final',
          ),
        );
      },
      ready: () => engine.ready(),
      close: () => engine.close(),
    }),

    text: (model, engine) => ({
      contextTokens: engine.contextTokens,
      generate(request, signal) {
        const { priority } = request;
        const written = async function* (span: Span) {
          const beganMs = clock.monotonicMs();
          let isFirst = true;
          for await (const event of engine.generate(request, signal)) {
            if (isFirst) numbers.firstToken.observe({ model, priority }, sinceS(beganMs));
            isFirst = false;
            if (event.kind === 'end') {
              span.set({ input_tokens: event.tokens.input, output_tokens: event.tokens.output });
            }
            yield event;
          }
        };
        return iterateInSpan(tracer, 'chat', { attributes: attributesOf(model, priority) }, (span) =>
          counted({ task: 'chat', model }, signal, written(span), ({ kind }) => kind === 'end'),
        );
      },
      ready: () => engine.ready(),
      close: () => engine.close(),
    }),

    embed: (model, engine) => ({
      maxTokens: engine.maxTokens,
      async embed(request, signal) {
        const { priority, inputs } = request;
        const beganMs = clock.monotonicMs();
        const attributes = { ...attributesOf(model, priority), inputs: inputs.length };
        let outcome: Outcome = 'completed';
        try {
          return await withSpan(tracer, 'embedding', { attributes }, () => engine.embed(request, signal));
        } catch (error) {
          outcome = outcomeOf(error, signal);
          throw error;
        } finally {
          numbers.calls.add({ task: 'embedding', model, outcome });
          if (outcome === 'completed') numbers.embedding.observe({ model, priority }, sinceS(beganMs));
        }
      },
      ready: () => engine.ready(),
      close: () => engine.close(),
    }),

    video: (model, engine) => ({
      audio: engine.audio,
      note: engine.note,
      extend: (request, work, signal) =>
        withSpan(tracer, 'segment', { attributes: { model, video: request.video } }, () =>
          engine.extend(request, work, signal),
        ),
      ready: () => engine.ready(),
      deleteRemoteJob: (remembered) => engine.deleteRemoteJob(remembered),
      close: () => engine.close(),
    }),
  };
}

function engineNumbers(metrics: Metrics) {
  const labels = ['model', 'priority'];
  return {
    calls: metrics.counter('model_calls_total', 'Calls to models that have ended.', [
      'task',
      'model',
      'outcome',
    ]),
    firstAudio: metrics.histogram(
      'speech_first_audio_seconds',
      'Time from the beginning of a streamed synthesis to its first audio, waiting included.',
      labels,
      LATENCY_SECONDS,
    ),
    speechFactor: metrics.histogram(
      'speech_real_time_factor',
      'Time that the audio of a sentence was waited for, over its length.',
      labels,
      REAL_TIME_FACTORS,
    ),
    audio: metrics.counter('speech_audio_seconds_total', 'Audio that was made.', labels),
    underruns: metrics.counter(
      'speech_underruns_total',
      'Gaps that a listener who plays a stream as it comes has heard.',
      labels,
    ),
    underrunSeconds: metrics.counter('speech_underrun_seconds_total', 'How long those gaps were.', labels),
    final: metrics.histogram(
      'transcription_final_seconds',
      'Time from the end of the audio to its transcript.',
      labels,
      LATENCY_SECONDS,
    ),
    transcriptionFactor: metrics.histogram(
      'transcription_real_time_factor',
      'Time that the transcript of audio that is not live took, over the length of the audio.',
      labels,
      REAL_TIME_FACTORS,
    ),
    heardAudio: metrics.counter('transcription_audio_seconds_total', 'Audio that was transcribed.', labels),
    firstToken: metrics.histogram(
      'chat_first_token_seconds',
      'Time from the beginning of an answer to its first word or call, waiting included.',
      labels,
      LATENCY_SECONDS,
    ),
    embedding: metrics.histogram(
      'embedding_seconds',
      'Time that inputs took to become vectors.',
      labels,
      LATENCY_SECONDS,
    ),
  };
}

function attributesOf(model: string, priority: Priority): SpanAttributes {
  return { model, priority };
}

function outcomeOf(error: unknown, signal: AbortSignal): Outcome {
  if (signal.aborted) return 'cancelled';
  return error instanceof ServiceError && REFUSALS.has(error.kind) ? 'rejected' : 'failed';
}
