import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeEmbedEngine, type FakeEmbedOptions } from '../../test/doubles/fake-embed-engine.ts';
import { FakeSttEngine, type FakeSttOptions } from '../../test/doubles/fake-stt-engine.ts';
import { FakeTextEngine, type FakeTextOptions } from '../../test/doubles/fake-text-engine.ts';
import { FakeTtsEngine, type FakeTtsOptions } from '../../test/doubles/fake-tts-engine.ts';
import { FakeVideoEngine } from '../../test/doubles/fake-video-engine.ts';
import { RecordingTracer } from '../../test/doubles/recording-tracer.ts';
import { metricValue } from '../../test/harness/metric-values.ts';
import { ManualClock } from '../../tools/harness/doubles/manual-clock.ts';
import { ServiceError } from '../contract/core/error.ts';
import type { AudioChunk, SynthesisRequest, TranscriptionRequest } from '../contract/engines/engine.ts';
import type { TextRequest } from '../contract/engines/text.ts';
import type { TurnEndDetector } from '../contract/engines/turn-end.ts';
import { createMetrics, type MetricsRegistry } from '../metrics/registry.ts';
import { type EngineMetrics, engineMetrics } from './engine-metrics.ts';

const never = new AbortController().signal;
const SPEECH: SynthesisRequest = {
  text: 'Confidential text.',
  speed: 1,
  priority: 'realtime',
  fairnessKey: 'a',
  delivery: 'stream',
};
const LABELS = '{model="svc",priority="realtime"}';

let clock: ManualClock;
let metrics: MetricsRegistry;
let tracer: RecordingTracer;
let instrument: EngineMetrics;
beforeEach(() => {
  clock = new ManualClock();
  metrics = createMetrics(clock);
  tracer = new RecordingTracer();
  instrument = engineMetrics({ clock, metrics, tracer });
});
afterEach(() => metrics.close());

const metric = (series: string) => metricValue(metrics, series);
const outcome = (task: string, label: string) =>
  metric(`model_calls_total{task="${task}",model="svc",outcome="${label}"}`);

/** One second of audio per chunk; the generation time of each chunk is given in ms. */
function timed(...tookMs: readonly number[]): FakeTtsOptions {
  return {
    runs: () => tookMs.map(() => new Array(24_000).fill(0.1)),
    before: (_, run) => clock.advance(tookMs[run] ?? 0),
  };
}

describe('speech', () => {
  const speak = async (options: FakeTtsOptions, fields: Partial<SynthesisRequest> = {}) => {
    const engine = instrument.tts('svc', new FakeTtsEngine(options));
    return Array.fromAsync(engine.synthesize({ ...SPEECH, ...fields }, never));
  };

  it('records time to first audio, duration and real-time factor', async () => {
    expect(await speak(timed(150, 100))).toHaveLength(2);
    expect(await metric(`speech_first_audio_seconds_sum${LABELS}`)).toBeCloseTo(0.15);
    expect(await metric(`speech_audio_seconds_total${LABELS}`)).toBe(2);
    expect(await metric(`speech_real_time_factor_sum${LABELS}`)).toBeCloseTo(0.125);
    expect(await metric(`speech_underruns_total${LABELS}`)).toBeUndefined();
    expect(await outcome('speech', 'completed')).toBe(1);
  });

  it('that is generated slower than real time records underruns', async () => {
    await speak(timed(100, 1300, 900, 1110));
    // The second chunk and all later ones are 300 ms late; the last has 10 ms that are below the threshold.
    expect(await metric(`speech_underruns_total${LABELS}`)).toBe(1);
    expect(await metric(`speech_underrun_seconds_total${LABELS}`)).toBeCloseTo(0.3);
  });

  it('that continues earlier speech records an underrun after the end of that speech', async () => {
    await speak(timed(500), { aheadMs: 200 });
    expect(await metric(`speech_underrun_seconds_total${LABELS}`)).toBeCloseTo(0.3);
    expect(await metric(`speech_first_audio_seconds_count${LABELS}`)).toBeUndefined();
    await speak(timed(500), { aheadMs: 800 });
    expect(await metric(`speech_underruns_total${LABELS}`)).toBe(1);
  });

  it('records no underrun when the consumer reads late', async () => {
    const engine = instrument.tts('svc', new FakeTtsEngine(timed(100, 0, 0)));
    for await (const _ of engine.synthesize(SPEECH, never)) clock.advance(5000);
    expect(await metric(`speech_underruns_total${LABELS}`)).toBeUndefined();
  });

  it('that is delivered as a whole records neither time to first audio nor underruns', async () => {
    await speak(timed(2000, 3000), { delivery: 'whole' });
    expect(await metric(`speech_first_audio_seconds_count${LABELS}`)).toBeUndefined();
    expect(await metric(`speech_underruns_total${LABELS}`)).toBeUndefined();
    expect(await metric(`speech_real_time_factor_sum${LABELS}`)).toBeCloseTo(2.5);
  });

  it.each([
    ['failed', new Error('why')],
    ['failed', new ServiceError('upstream', 'Unavailable.')],
    ['rejected', new ServiceError('overloaded', 'Full.')],
  ])('counts the outcome %s for %s', async (label, failure) => {
    await expect(speak({ runs: () => [], failure: () => failure })).rejects.toBe(failure);
    expect(await outcome('speech', label)).toBe(1);
    expect(tracer.spans[0]).toMatchObject({ ended: true, failure });
  });

  it('counts a rejection after audio as failed', async () => {
    const failure = () => new ServiceError('overloaded', 'Full.');
    await expect(speak({ ...timed(0), failure })).rejects.toThrow('Full.');
    expect(await outcome('speech', 'failed')).toBe(1);
  });

  it('that the consumer stops reading stops, and counts as cancelled', async () => {
    const engine = new FakeTtsEngine(timed(0, 0, 0));
    for await (const _ of instrument.tts('svc', engine).synthesize(SPEECH, never)) break;
    expect(engine).toMatchObject({ runsMade: 1, leftEarly: 1 });
    expect(await outcome('speech', 'cancelled')).toBe(1);
  });

  it('is a span with sizes and without the text', async () => {
    await speak(timed(100));
    expect(tracer.spans).toMatchObject([
      {
        name: 'synthesis',
        ended: true,
        attributes: { model: 'svc', priority: 'realtime', characters: 18, audio_ms: 1000 },
      },
    ]);
    expect(JSON.stringify(tracer.spans)).not.toContain('Confidential');
  });

  it('keeps the compatibility of its engine', () => {
    const engine = Object.assign(new FakeTtsEngine(), { compatibility: 'openai' as const });
    expect(instrument.tts('tts-1', engine).compatibility).toBe('openai');
    expect(instrument.tts('svc-tts', new FakeTtsEngine()).compatibility).toBeUndefined();
  });

  it('keeps the languages of its engine', () => {
    const engine = instrument.tts('svc-tts', new FakeTtsEngine({ languages: ['en-US', 'es'] }));
    expect([engine.languages, engine.languageOf?.('es'), engine.languageOf?.('de')]).toEqual([
      ['en-US', 'es'],
      'es',
      undefined,
    ]);
    expect(engine.textLanguage).toBeUndefined();
    const speaking = Object.assign(new FakeTtsEngine(), { textLanguage: () => 'es' });
    expect(instrument.tts('svc', speaking).textLanguage?.({ text: 'a' })).toBe('es');
  });

  it('exposes deleteVoice only if its engine has it', async () => {
    expect(instrument.tts('svc', new FakeTtsEngine()).deleteVoice).toBeUndefined();
    const deleted: string[] = [];
    const engine = Object.assign(new FakeTtsEngine(), {
      async deleteVoice(voice: string) {
        deleted.push(voice);
      },
    });
    await instrument.tts('svc', engine).deleteVoice?.('tts-vc-voice_a' as never);
    expect(deleted).toEqual(['tts-vc-voice_a']);
  });
});

describe('transcription', () => {
  const request: TranscriptionRequest = {
    task: 'transcribe',
    timestamps: 'none',
    priority: 'interactive',
    fairnessKey: 'a',
  };
  const transcribe = (options: FakeSttOptions, fields: Partial<TranscriptionRequest> = {}) => {
    const audio = async function* (): AsyncGenerator<AudioChunk> {
      yield new Float32Array(16_000);
      clock.advance(400);
      yield 'pause';
      yield new Float32Array(16_000);
    };
    const engine = instrument.stt('svc', new FakeSttEngine(options));
    return Array.fromAsync(engine.transcribe(audio(), { ...request, ...fields }, never));
  };

  it('records the time after the end of its audio, and its real-time factor', async () => {
    const events = await transcribe({ before: () => clock.advance(150) });
    expect(events.map(({ kind }) => kind)).toEqual(['delta', 'delta', 'final']);
    const labels = '{model="svc",priority="interactive"}';
    expect(await metric(`transcription_final_seconds_sum${labels}`)).toBeCloseTo(0.3);
    expect(await metric(`transcription_real_time_factor_sum${labels}`)).toBeCloseTo(0.35);
    expect(await metric(`transcription_audio_seconds_total${labels}`)).toBe(2);
    expect(await outcome('transcription', 'completed')).toBe(1);
    expect(tracer.spans).toMatchObject([{ name: 'transcription', attributes: { audio_ms: 2000 } }]);
  });

  it('of live audio records no real-time factor', async () => {
    await transcribe({}, { priority: 'realtime' });
    expect(await metric(`transcription_real_time_factor_count${LABELS}`)).toBeUndefined();
    expect(await metric(`transcription_final_seconds_count${LABELS}`)).toBe(1);
  });

  it('that fails records no final transcript', async () => {
    await expect(transcribe({ failure: () => new Error('why') })).rejects.toThrow('why');
    expect(await outcome('transcription', 'failed')).toBe(1);
    expect(
      await metric('transcription_final_seconds_count{model="svc",priority="interactive"}'),
    ).toBeUndefined();
  });

  it('exposes the languages of its engine', () => {
    expect(instrument.stt('svc', new FakeSttEngine()).languages).toEqual(['en', 'de']);
  });
});

describe('text generation', () => {
  const request = { messages: [], priority: 'realtime', fairnessKey: 'a' } as unknown as TextRequest;
  const generate = (options: FakeTextOptions) =>
    instrument.text('svc', new FakeTextEngine(options)).generate(request, never);

  it('records the time to the first token once', async () => {
    await Array.fromAsync(generate({ before: () => clock.advance(80) }));
    expect(await metric(`chat_first_token_seconds_sum${LABELS}`)).toBeCloseTo(0.08);
    expect(await metric(`chat_first_token_seconds_count${LABELS}`)).toBe(1);
    expect(tracer.spans).toMatchObject([
      { name: 'chat', ended: true, attributes: { input_tokens: 12, output_tokens: 5 } },
    ]);
  });

  it('counts as completed when the consumer stops after the end event', async () => {
    for await (const event of generate({})) if (event.kind === 'end') break;
    expect(await outcome('chat', 'completed')).toBe(1);
    for await (const _ of generate({})) break;
    expect(await outcome('chat', 'cancelled')).toBe(1);
  });

  it('exposes the context size of its engine', () => {
    expect(instrument.text('svc', new FakeTextEngine({ contextTokens: 7 })).contextTokens).toBe(7);
  });
});

describe('embedding', () => {
  const request = { inputs: ['a', 'b'], priority: 'realtime', fairnessKey: 'a' } as const;
  const embed = (options: FakeEmbedOptions, signal = never) =>
    instrument.embed('svc', new FakeEmbedEngine(options)).embed(request, signal);

  it('records its duration', async () => {
    await embed({ before: () => clock.advance(40) });
    expect(await metric(`embedding_seconds_sum${LABELS}`)).toBeCloseTo(0.04);
    expect(await outcome('embedding', 'completed')).toBe(1);
    expect(tracer.spans).toMatchObject([{ name: 'embedding', attributes: { inputs: 2 } }]);
  });

  it('that is rejected, failed or cancelled records no duration', async () => {
    await expect(embed({ failure: () => new ServiceError('rate_limited', 'Full.') })).rejects.toThrow();
    await expect(embed({ failure: () => new Error('why') })).rejects.toThrow();
    await expect(embed({}, AbortSignal.abort())).rejects.toThrow();
    expect(await outcome('embedding', 'rejected')).toBe(1);
    expect(await outcome('embedding', 'failed')).toBe(1);
    expect(await outcome('embedding', 'cancelled')).toBe(1);
    expect(await metric(`embedding_seconds_count${LABELS}`)).toBeUndefined();
  });
});

describe('end of a turn', () => {
  const classify = (probability: TurnEndDetector['probability'], signal = never) => {
    const detector = { probability, ready: () => ({ ready: true }), close: async () => undefined };
    return instrument.turnEnd('svc', detector).probability(new Float32Array(1), signal);
  };

  it('records its duration', async () => {
    const probability = await classify(async () => {
      clock.advance(70);
      return 0.8;
    });
    expect(probability).toBe(0.8);
    expect(await metric('turn_end_seconds_sum')).toBeCloseTo(0.07);
    expect(await outcome('turn_end', 'completed')).toBe(1);
    expect(tracer.spans).toMatchObject([{ name: 'turn_end', attributes: { model: 'svc' } }]);
  });

  it('that is rejected or cancelled records no duration', async () => {
    const full = () => Promise.reject(new ServiceError('overloaded', 'Full.'));
    await expect(classify(full)).rejects.toThrow('Full.');
    await expect(classify(full, AbortSignal.abort())).rejects.toThrow();
    expect(await outcome('turn_end', 'rejected')).toBe(1);
    expect(await outcome('turn_end', 'cancelled')).toBe(1);
    expect(await metric('turn_end_seconds_count')).toBe(0);
  });
});

describe('video segment', () => {
  it('is a span', async () => {
    const engine = new FakeVideoEngine();
    engine.script.push(async () => ({ width: 2, height: 2, seconds: 4, audio: true }));
    const decorated = instrument.video('svc', engine);
    expect(decorated).toMatchObject({ audio: true, note: 'makes nothing up' });
    const request = { video: 'video_a', prompt: 'Confidential text.' } as never;
    await decorated.extend(request, { to: '', saveState: async () => undefined }, never);
    expect(tracer.spans).toMatchObject([
      { name: 'segment', ended: true, attributes: { model: 'svc', video: 'video_a' } },
    ]);
    expect(JSON.stringify(tracer.spans)).not.toContain('Confidential');
    await decorated.deleteRemoteJob('there');
    expect(engine.forgotten).toEqual(['there']);
  });
});
