/** Transcription compared with faster-whisper and the same weights: time, word error rate, false positives. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wordErrors } from '../../../tools/harness/media/transcript-normalizer.ts';
import type { Clip, TimedClip, TranscriptionCorpus } from '../../corpus/clip.ts';
import { transcriptionCorpus } from '../../corpus/transcription-corpus.ts';
import { readWav } from '../../corpus/wav-file.ts';
import type { LineProcess } from '../../line-process.ts';
import { openListener, type TurnSegmenter, transcribe } from '../../listening.ts';
import { openPeer } from '../../python.ts';
import { type Row, report } from '../../report.ts';
import { checkpointFolder } from '../../transcription/checkpoint-folder.ts';
import { liveRows } from '../../transcription/live.ts';
import { serviceRows } from '../../transcription/service.ts';

const THREADS = 2;
/** Maximum ratio to the time of the peer, and number of runs. */
const GROUPS: Readonly<Record<string, { target: number; runs: number }>> = {
  '3 s': { target: 0.35, runs: 5 },
  '8 s': { target: 0.5, runs: 5 },
  '25 s': { target: 1, runs: 3 },
  '5 min': { target: 1, runs: 2 },
};
const WER_MARGIN_POINTS = 0.5;
const HEARD_IN_SILENCE_PERCENT = 2;
/** The peer transcribes only every fourth sound, because it has no target and takes 1 s per sound. */
const PEER_SOUND_STEP = 4;

interface PeerTranscript {
  readonly seconds: number;
  readonly text: string;
}

/** @param weights `base` or `tiny.en`. */
export async function benchTranscription(weights = 'base'): Promise<void> {
  const corpus = await transcriptionCorpus();
  const scratch = mkdtempSync(join(tmpdir(), 'bench-'));
  const rows: Row[] = [];
  const notes: string[] = [
    `Weights: whisper ${weights}. Baseline: faster-whisper 1.2.1 (CTranslate2, int8, ${THREADS} threads, greedy), in process.`,
    'Times: best of alternating runs per clip, then the mean of the clips.',
  ];
  const opened = new AsyncDisposableStack();
  try {
    const peer = opened.adopt(
      await openPeer('faster_whisper_peer.py', [checkpointFolder(scratch, weights), String(THREADS)]),
      (it) => it.close(),
    );
    const ours = opened.adopt(await openListener(weights), (it) => it.close());
    rows.push(...(await timeRows(corpus.timed, ours, peer)));
    rows.push(...(await liveRows(corpus.test, ours)));
    rows.push(...(await wordErrorRows(corpus, ours, peer, weights, notes)));
    rows.push(...(await soundRows(corpus.sounds, ours, peer, notes)));
  } finally {
    await opened.disposeAsync();
    rmSync(scratch, { recursive: true });
  }
  rows.push(...(await serviceRows(corpus, weights, notes)));
  const name = weights === 'base' ? 'transcription' : `transcription-${weights}`;
  await report(name, 'Transcription compared with faster-whisper 1.2.1', rows, notes);
}

async function transcribeWithPeer(peer: LineProcess, { audio, language }: Clip): Promise<PeerTranscript> {
  return await peer.sendRequest({ audio, runs: 1, language, task: 'transcribe' });
}

async function timeRows(clips: readonly TimedClip[], ours: TurnSegmenter, peer: LineProcess): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [group, { target, runs }] of Object.entries(GROUPS)) {
    const members = clips.filter((clip) => clip.group === group);
    let [mine, theirs, audioS] = [0, 0, 0];
    for (const clip of members) {
      const samples = await readWav(clip.audio);
      let [ourBest, peerBest] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      // Runs alternate, so that disturbances of the machine affect both.
      for (let run = 0; run < runs; run++) {
        ourBest = Math.min(ourBest, (await transcribe(ours, samples)).seconds);
        peerBest = Math.min(peerBest, (await transcribeWithPeer(peer, clip)).seconds);
      }
      mine += ourBest;
      theirs += peerBest;
      audioS += clip.seconds;
    }
    const measure = `${group}, audio in memory → final text`;
    rows.push({ measure, ours: mine / members.length, peer: theirs / members.length, unit: 's', target });
    if (group === '5 min')
      rows.push({
        measure: `real-time factor of ${group}`,
        ours: mine / audioS,
        peer: theirs / audioS,
        unit: '',
      });
  }
  return rows;
}

async function wordErrorRows(
  { test, recordings }: TranscriptionCorpus,
  ours: TurnSegmenter,
  peer: LineProcess,
  weights: string,
  notes: string[],
): Promise<Row[]> {
  const utterances = [
    ...test.map((clip) => ({
      clip,
      group: `${clip.voice === 'piper' ? 'piper' : 'eSpeak'}, ${clip.noise === 'none' ? 'clean' : '10 dB noise'}`,
    })),
    ...recordings.map((clip) => ({
      clip,
      group: clip.language === 'en' ? 'real recordings' : `real recording, ${clip.language}`,
    })),
  ].filter(({ clip }) => clip.language === 'en' || !weights.endsWith('.en'));
  const sums = new Map<
    string,
    { ours: number; peer: number; words: number; clips: number; judged: boolean }
  >();
  const loops: string[] = [];
  for (const { clip, group } of utterances) {
    const transcribedText = await transcribe(ours, await readWav(clip.audio), clip.language);
    const theirs = await transcribeWithPeer(peer, clip);
    const [a, b] = [wordErrors(clip.text, transcribedText.text), wordErrors(clip.text, theirs.text)];
    for (const name of clip.language === 'en' ? ['all', group] : [group]) {
      const sum = sums.get(name) ?? { ours: 0, peer: 0, words: 0, clips: 0, judged: name === 'all' };
      sum.ours += a.errors;
      sum.peer += b.errors;
      sum.words += a.words;
      sum.clips++;
      sums.set(name, sum);
    }
    if (a.errors > b.errors + 2)
      loops.push(`${clip.id}: "${transcribedText.text}" (baseline: "${theirs.text}")`);
  }
  notes.push(...loops.slice(0, 10).map((line) => `More than two words worse, ${line}`));
  return [...sums].map(([name, sum]) => ({
    measure: `word error rate, ${name === 'all' ? 'all English' : name}, ${sum.clips} clips, ${sum.words} words`,
    ours: (100 * sum.ours) / sum.words,
    peer: (100 * sum.peer) / sum.words,
    unit: '%',
    ...(sum.judged ? { target: WER_MARGIN_POINTS, judged: 'difference' as const } : {}),
  }));
}

async function soundRows(
  sounds: readonly Clip[],
  ours: TurnSegmenter,
  peer: LineProcess,
  notes: string[],
): Promise<Row[]> {
  let [mine, theirs] = [0, 0];
  const transcribedText: string[] = [];
  for (const [i, clip] of sounds.entries()) {
    const { text } = await transcribe(ours, await readWav(clip.audio));
    if (text !== '') {
      mine++;
      transcribedText.push(`${clip.id} "${text}"`);
    }
    if (i % PEER_SOUND_STEP === 0 && (await transcribeWithPeer(peer, clip)).text !== '') theirs++;
  }
  if (transcribedText.length > 0)
    notes.push(`Transcripts without speech: ${transcribedText.slice(0, 10).join('; ')}.`);
  return [
    {
      measure: `sounds without speech in which words are heard, of ${sounds.length}`,
      ours: (100 * mine) / sounds.length,
      peer: (100 * theirs) / Math.ceil(sounds.length / PEER_SOUND_STEP),
      unit: '%',
      target: HEARD_IN_SILENCE_PERCENT,
      judged: 'ours',
    },
  ];
}
