/** Time to first audio, real-time factor and event loop pauses, compared with kokoro-onnx. */

import { loadConfig } from '../../../server/config.ts';
import { resolveModelFiles } from '../../../src/models/model-files.ts';
import { runPeer } from '../../python.ts';
import { type Row, report } from '../../report.ts';
import { launchBenchService, type Service, speak, type TimedSpeech } from '../../service.ts';

const RUNS = 3;
const TEXTS = {
  short: 'Hello there, how can I help you today?',
  sentence:
    'Long inputs are split internally at sentence boundaries and returned as one audio response, and the audio length scales linearly with the input length.',
  paragraph:
    'It was the best of times, it was the worst of times. It was the age of wisdom, it was the age of foolishness. ' +
    'It was the epoch of belief, it was the epoch of incredulity. It was the season of light, it was the season of darkness.',
};
type TextName = keyof typeof TEXTS;
const FIRST_AUDIO_TARGET: Record<TextName, number> = { short: 0.5, sentence: 0.15, paragraph: 0.15 };
const PIPER_TARGET = 0.35;
const PAUSE_TARGET_MS = 20;

interface PeerLine {
  readonly text: TextName;
  readonly first_audio_s: number;
  readonly total_s: number;
  readonly audio_s: number;
}

/** The best of several runs, as for the peer. */
async function best(run: () => Promise<TimedSpeech>): Promise<{ firstAudioS: number; rtf: number }> {
  const results: TimedSpeech[] = [];
  for (let i = 0; i < RUNS; i++) results.push(await run());
  return {
    firstAudioS: Math.min(...results.map((h) => h.firstAudioS)),
    rtf: Math.min(...results.map((h) => h.totalS / h.audioS)),
  };
}

/** Longest event loop pause since the last call, in ms, from /metrics. */
async function maxPauseMs(service: Service): Promise<number> {
  const metrics = await (await service.fetch('/metrics')).text();
  const value = /^event_loop_pause_seconds (\S+)$/m.exec(metrics)?.[1];
  if (value === undefined) throw new Error('/metrics has no event_loop_pause_seconds');
  return Number(value) * 1000;
}

export async function benchSpeech(): Promise<void> {
  const { modelsDir } = loadConfig(process.env);
  const model = resolveModelFiles(modelsDir, 'kokoro-82m-int8')['kokoro-v1.0.int8.onnx'] ?? '';
  const voice = resolveModelFiles(modelsDir, 'kokoro-voices')['af_heart.bin'] ?? '';
  const args = [model, voice, String(RUNS)];
  const peers = await runPeer<PeerLine>('kokoro_onnx_peer.py', args, JSON.stringify(TEXTS));

  const rows: Row[] = [];
  const pauses: number[] = [];
  const service = await launchBenchService();
  try {
    await speak(service, 'Warm up.');
    await maxPauseMs(service);
    for (const peer of peers) {
      const text = TEXTS[peer.text];
      const peerRtf = peer.total_s / peer.audio_s;
      const stream = await best(() => speak(service, text));
      const whole = await best(() => speak(service, text, 'wav'));
      const piper = await best(() => speak(service, text, 'wav', 'svc-tts-fast'));
      pauses.push(await maxPauseMs(service));
      rows.push(
        {
          measure: `first audio over HTTP, ${peer.text}`,
          ours: stream.firstAudioS,
          peer: peer.first_audio_s,
          unit: 's',
          target: FIRST_AUDIO_TARGET[peer.text],
        },
        {
          measure: `RTF kokoro, whole (wav), ${peer.text}`,
          ours: whole.rtf,
          peer: peerRtf,
          unit: '',
          target: 1,
        },
        {
          measure: `RTF kokoro, streamed (pcm), ${peer.text}`,
          ours: stream.rtf,
          peer: peerRtf,
          unit: '',
          target: 1,
        },
        {
          measure: `RTF piper, ${peer.text}`,
          ours: piper.rtf,
          peer: peerRtf,
          unit: '',
          target: PIPER_TARGET,
        },
      );
    }
    rows.push({
      measure: 'longest pause of the serving thread while synthesising',
      ours: Math.max(...pauses),
      unit: 'ms',
      target: PAUSE_TARGET_MS,
    });
  } finally {
    await service.stop();
  }
  await report('speech', 'Speech synthesis compared with kokoro-onnx 0.6.1', rows, [
    `Best of ${RUNS} runs each. This service: over HTTP with a new process. Baseline: in process.`,
    'Baseline: Python, onnxruntime 1.31.1, the same int8 file and voice. RTF: processing time divided by audio length.',
  ]);
}
