/** Metrics and trace spans of model calls, independent of the engine: one decorator for each kind of engine. */

import type { Clock } from '../contract/core/clock.ts';
import type { Metrics } from '../contract/core/metrics.ts';
import { type Outcome, outcomeOf } from '../contract/core/outcome.ts';
import type { Span, SpanAttributes, Tracer } from '../contract/core/tracer.ts';
import type { EmbedEngine } from '../contract/engines/embed.ts';
import type { AudioChunk, Loadable, SttEngine, TtsEngine } from '../contract/engines/engine.ts';
import type { PromptStart, TextEngine } from '../contract/engines/text.ts';
import type { TurnEndDetector } from '../contract/engines/turn-end.ts';
import type { VideoEngine } from '../contract/engines/video.ts';
import { type IterationObserver, iterateInSpan, withSpan } from '../kit/logging/spans.ts';
import { PlaybackClock } from '../kit/playback-clock.ts';

const LATENCY_SECONDS_BUCKETS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3, 2.1, 3.4, 6.4, 12.8, 30];
const REAL_TIME_FACTOR_BUCKETS = [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 4];
/** Shorter gaps are not underruns, because the buffer of a player covers them. */
const MIN_UNDERRUN_MS = 20;
type Task = 'speech' | 'transcription' | 'chat' | 'embedding' | 'turn_end';

export interface EngineMetricsDeps {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
}

/** A call that returns a stream of items. */
interface StreamedCall {
  readonly task: Task;
  /** Name of its span. */
  readonly span: string;
  readonly signal: AbortSignal;
  readonly attributes: SpanAttributes & { readonly model: string };
}

/** Observes one call. */
interface CallObserver<Item> extends Pick<IterationObserver<Item>, 'pulled' | 'completed'> {
  item(item: Item): void;
  /** Whether an item is the last result. A consumer that stops after it has not cancelled the call. Absent: there is none. */
  isLast?(item: Item): boolean;
}

/** Decorates engines without changing their behaviour. `model` is a model id of CONFIG, or the name of a detector. */
export interface EngineMetrics {
  tts(model: string, engine: TtsEngine): TtsEngine;
  stt(model: string, engine: SttEngine): SttEngine;
  text(model: string, engine: TextEngine): TextEngine;
  embed(model: string, engine: EmbedEngine): EmbedEngine;
  video(model: string, engine: VideoEngine): VideoEngine;
  turnEnd(model: string, engine: TurnEndDetector): TurnEndDetector;
}

export function engineMetrics({ clock, metrics, tracer }: EngineMetricsDeps): EngineMetrics {
  const series = engineSeries(metrics);
  const sinceS = (ms: number) => (clock.monotonicMs() - ms) / 1000;

  /**
   * Runs a streaming call in a span, observes its items and counts its outcome.
   * @param open called when the call starts.
   */
  const observe = <Item>(
    { task, span: name, signal, attributes }: StreamedCall,
    work: () => AsyncIterable<Item>,
    open: (span: Span) => CallObserver<Item>,
  ): AsyncGenerator<Item, void, undefined> => {
    let observer: CallObserver<Item> | undefined;
    let hasOutput = false;
    let outcome: Outcome = 'cancelled';
    const start = (span: Span) => {
      observer = open(span);
      return work();
    };
    return iterateInSpan(tracer, name, { attributes }, start, {
      pulled: () => observer?.pulled?.(),
      item(item) {
        hasOutput = true;
        observer?.item(item);
        if (observer?.isLast?.(item)) outcome = 'completed';
      },
      completed() {
        observer?.completed?.();
        if (observer?.isLast === undefined) outcome = 'completed';
      },
      ended(failure) {
        if (failure !== undefined) outcome = outcomeOf(failure, { signal, hasOutput });
        series.calls.add({ task, model: attributes.model, outcome });
      },
    });
  };

  /**
   * Runs a call with one result in a span and counts its outcome.
   * @param call.observe receives the duration of a completed call, in seconds.
   */
  const singleCall = async <Result>(
    call: { readonly task: Task; readonly signal: AbortSignal; observe(seconds: number): void },
    attributes: SpanAttributes & { readonly model: string },
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const { task, signal } = call;
    const startedMs = clock.monotonicMs();
    let outcome: Outcome = 'completed';
    try {
      return await withSpan(tracer, task, { attributes }, work);
    } catch (error) {
      outcome = outcomeOf(error, { signal, hasOutput: false });
      throw error;
    } finally {
      series.calls.add({ task, model: attributes.model, outcome });
      if (outcome === 'completed') call.observe(sinceS(startedMs));
    }
  };

  return {
    tts: (model, engine) => ({
      ...lifecycleOf(engine),
      compatibility: engine.compatibility,
      languages: engine.languages,
      // Of a model that is loaded later, they are known then.
      get rateHz() {
        return engine.rateHz;
      },
      get voices() {
        return engine.voices;
      },
      ...(engine.languageOf && { languageOf: engine.languageOf.bind(engine) }),
      ...(engine.textLanguage && { textLanguage: engine.textLanguage.bind(engine) }),
      ...(engine.voiceLanguage && { voiceLanguage: engine.voiceLanguage.bind(engine) }),
      ...(engine.hasVoice && { hasVoice: engine.hasVoice.bind(engine) }),
      ...(engine.voiceProblem && { voiceProblem: engine.voiceProblem.bind(engine) }),
      ...(engine.deleteVoice && { deleteVoice: engine.deleteVoice.bind(engine) }),
      synthesize(request, signal) {
        const { priority, delivery, aheadMs, text } = request;
        const labels = { model, priority };
        const attributes = { ...labels, characters: text.length };
        const call = { task: 'speech', span: 'synthesis', signal, attributes } as const;
        return observe(
          call,
          () => engine.synthesize(request, signal),
          (span) => {
            const startedMs = clock.monotonicMs();
            const playback = new PlaybackClock(aheadMs === undefined ? undefined : startedMs + aheadMs);
            let isFirst = aheadMs === undefined;
            let audioS = 0;
            let waitedMs = 0;
            let requestedMs = startedMs;
            return {
              pulled() {
                requestedMs = clock.monotonicMs();
              },
              item(samples) {
                const nowMs = clock.monotonicMs();
                const lengthS = samples.length / engine.rateHz;
                waitedMs += nowMs - requestedMs;
                audioS += lengthS;
                series.audio.add(labels, lengthS);
                const gapMs = playback.addAudio(lengthS * 1000, nowMs, requestedMs);
                if (delivery === 'stream') {
                  if (isFirst) series.firstAudio.observe(labels, sinceS(startedMs));
                  if (gapMs >= MIN_UNDERRUN_MS) {
                    series.underruns.add(labels);
                    series.underrunSeconds.add(labels, gapMs / 1000);
                  }
                }
                isFirst = false;
              },
              completed() {
                waitedMs += clock.monotonicMs() - requestedMs;
                if (audioS > 0) series.speechRealTimeFactor.observe(labels, waitedMs / 1000 / audioS);
                span.set({ audio_ms: Math.round(audioS * 1000) });
              },
            };
          },
        );
      },
    }),

    stt: (model, engine) => ({
      ...lifecycleOf(engine),
      get languages() {
        return engine.languages;
      },
      hasPreviews: engine.hasPreviews,
      transcribe(audio, request, signal) {
        const { priority } = request;
        const labels = { model, priority };
        let audioEndedMs: number | undefined;
        /** Records when the audio ends. */
        const timedAudio = async function* (): AsyncGenerator<AudioChunk, void, undefined> {
          yield* audio;
          audioEndedMs = clock.monotonicMs();
        };
        return observe(
          { task: 'transcription', span: 'transcription', signal, attributes: labels },
          () => engine.transcribe(timedAudio(), request, signal),
          (span) => {
            const startedMs = clock.monotonicMs();
            return {
              item(event) {
                if (event.kind !== 'final') return;
                const { durationS } = event.transcript;
                series.transcribedAudio.add(labels, durationS);
                if (audioEndedMs !== undefined) series.final.observe(labels, sinceS(audioEndedMs));
                // Live audio arrives in real time, so its factor would measure the speaker.
                if (priority !== 'realtime' && durationS > 0) {
                  series.transcriptionRealTimeFactor.observe(labels, sinceS(startedMs) / durationS);
                }
                span.set({ audio_ms: Math.round(durationS * 1000) });
              },
              isLast: ({ kind }) => kind === 'final',
            };
          },
        );
      },
    }),

    text: (model, engine) => ({
      ...lifecycleOf(engine),
      // Known after the load of a model that is loaded on demand.
      get contextTokens() {
        return engine.contextTokens;
      },
      ...(engine.prepare && {
        prepare: (start: PromptStart, signal: AbortSignal) =>
          engine.prepare?.(start, signal) ?? Promise.resolve(),
      }),
      generate(request, signal) {
        const labels = { model, priority: request.priority };
        return observe(
          { task: 'chat', span: 'chat', signal, attributes: labels },
          () => engine.generate(request, signal),
          (span) => {
            const startedMs = clock.monotonicMs();
            let isFirst = true;
            return {
              item(event) {
                if (isFirst) series.firstToken.observe(labels, sinceS(startedMs));
                isFirst = false;
                if (event.kind !== 'end') return;
                span.set({ input_tokens: event.tokens.input, output_tokens: event.tokens.output });
              },
              isLast: ({ kind }) => kind === 'end',
            };
          },
        );
      },
    }),

    embed: (model, engine) => ({
      ...lifecycleOf(engine),
      maxTokens: engine.maxTokens,
      tokenIds: engine.tokenIds,
      embed(request, signal) {
        const { priority, inputs } = request;
        const labels = { model, priority };
        const observe = (seconds: number) => series.embedding.observe(labels, seconds);
        const attributes = { ...labels, inputs: inputs.length };
        return singleCall({ task: 'embedding', signal, observe }, attributes, () =>
          engine.embed(request, signal),
        );
      },
    }),

    video: (model, engine) => ({
      ...lifecycleOf(engine),
      audio: engine.audio,
      note: engine.note,
      extend: (request, work, signal) =>
        withSpan(tracer, 'segment', { attributes: { model, video: request.video } }, () =>
          engine.extend(request, work, signal),
        ),
      deleteRemoteJob: (remembered) => engine.deleteRemoteJob(remembered),
    }),

    turnEnd: (model, engine) => ({
      ...lifecycleOf(engine),
      probability(samples, signal) {
        const observe = (seconds: number) => series.turnEnd.observe({}, seconds);
        return singleCall({ task: 'turn_end', signal, observe }, { model }, () =>
          engine.probability(samples, signal),
        );
      },
    }),
  };
}

/** The members that all kinds of engines have, unchanged. */
function lifecycleOf(engine: Pick<TtsEngine, 'ready' | 'close'> & Loadable) {
  return {
    ready: () => engine.ready(),
    close: () => engine.close(),
    ...(engine.load && { load: () => engine.load?.() }),
  };
}

function engineSeries(metrics: Metrics) {
  const labels = ['model', 'priority'];
  return {
    calls: metrics.counter('model_calls_total', 'Finished model calls.', ['task', 'model', 'outcome']),
    firstAudio: metrics.histogram(
      'speech_first_audio_seconds',
      'Time from the start of a streamed synthesis to its first audio, including queue time.',
      labels,
      LATENCY_SECONDS_BUCKETS,
    ),
    speechRealTimeFactor: metrics.histogram(
      'speech_real_time_factor',
      'Generation time of the audio of a sentence divided by its duration.',
      labels,
      REAL_TIME_FACTOR_BUCKETS,
    ),
    audio: metrics.counter('speech_audio_seconds_total', 'Duration of synthesized audio.', labels),
    underruns: metrics.counter('speech_underruns_total', 'Playback gaps of streamed speech.', labels),
    underrunSeconds: metrics.counter(
      'speech_underrun_seconds_total',
      'Duration of playback gaps of streamed speech.',
      labels,
    ),
    final: metrics.histogram(
      'transcription_final_seconds',
      'Time from the end of the audio to its transcript.',
      labels,
      LATENCY_SECONDS_BUCKETS,
    ),
    transcriptionRealTimeFactor: metrics.histogram(
      'transcription_real_time_factor',
      'Transcription time of audio that is not live divided by its duration.',
      labels,
      REAL_TIME_FACTOR_BUCKETS,
    ),
    transcribedAudio: metrics.counter(
      'transcription_audio_seconds_total',
      'Duration of transcribed audio.',
      labels,
    ),
    firstToken: metrics.histogram(
      'chat_first_token_seconds',
      'Time from the start of a generation to its first text or tool call, including queue time.',
      labels,
      LATENCY_SECONDS_BUCKETS,
    ),
    embedding: metrics.histogram(
      'embedding_seconds',
      'Duration of embedding requests.',
      labels,
      LATENCY_SECONDS_BUCKETS,
    ),
    turnEnd: metrics.histogram(
      'turn_end_seconds',
      'Duration of requests to end-of-turn detection, including queue time.',
      [],
      LATENCY_SECONDS_BUCKETS,
    ),
  };
}
