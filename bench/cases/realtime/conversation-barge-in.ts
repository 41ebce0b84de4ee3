/** Interruptions of replies: how soon the audio stops, and whether the transcript has the words that were played. */

import { decodeToFloat32 } from '../../../src/audio/codec.ts';
import { wavFile } from '../../../tools/harness/media/wav-files.ts';
import { launchService, SERVICE_KEY } from '../../../tools/harness/services/launcher.ts';
import { Caller, Player } from '../../conversations/caller.ts';
import { KOKORO, scriptedConversation, startChatUpstream } from '../../conversations/chat-upstream.ts';
import { spokenLines } from '../../corpus/conversations/callers.ts';
import { seededRandom } from '../../corpus/noise.ts';
import { SOCKET_RATE_HZ } from '../../realtime/appends.ts';
import { report } from '../../report.ts';
import type { Service } from '../../service.ts';
import { quantile } from '../../statistics.ts';

const INTERRUPTIONS = 100;
const CALLERS = 2;
/** Played audio before the user speaks, in ms. */
const PLAYED_MS = { from: 500, to: 3500 };
const WORDS = [
  'Wait a moment.',
  'No, not that one.',
  'Sorry, can you repeat that?',
  'How much does it cost?',
];
const REPLIES = [
  'We are open from eleven in the morning until ten in the evening, and the kitchen closes half an hour earlier. On Sundays we also serve breakfast with fresh bread, eggs and fruit.',
  'Our restaurant is close to the station, on the left side of the main road. There is a car park behind the building, which is free for our guests after six in the evening.',
  'The soup of the day is tomato with basil, and as a main course I can recommend the salmon with rice and green beans. For dessert we have apple cake and vanilla ice cream.',
];

interface Interruption {
  /** From `speech_started` to the last audio of the response; negative if no audio followed. */
  readonly lastAudioMs: number;
  /** Words of the transcript after the truncation, minus words in the played audio. */
  readonly wordDifference: number;
}

export async function benchConversationBargeIn(): Promise<void> {
  const lines = await spokenLines(WORDS.map((text, i) => ({ text, voice: i + 1 })));
  const upstream = startChatUpstream(REPLIES);
  const interruptions: Interruption[] = [];
  try {
    const service = await launchService({ config: scriptedConversation(upstream, KOKORO) });
    try {
      const call = async (seed: number) => {
        const random = seededRandom(seed);
        const caller = await Caller.open(service.baseUrl, {
          audio: { input: { turn_detection: { type: 'server_vad' }, transcription: { language: 'en' } } },
        });
        await caller.speak(lines[0]?.samples ?? new Float32Array());
        for (let i = 0; i < INTERRUPTIONS / CALLERS; i++) {
          const playedMs = PLAYED_MS.from + random() * (PLAYED_MS.to - PLAYED_MS.from);
          const { samples = new Float32Array() } = lines[i % lines.length] ?? {};
          interruptions.push(await interrupt(service, caller, samples, playedMs));
        }
        caller.close();
      };
      await Promise.all(Array.from({ length: CALLERS }, (_, caller) => call(1 + caller)));
    } finally {
      await service.stop();
    }
  } finally {
    await upstream.stop();
  }
  const differences = interruptions.map(({ wordDifference }) => Math.abs(wordDifference));
  const wrong = differences.filter((difference) => difference > 1);
  await report(
    'conversation-barge-in',
    'Conversations: interruption of replies',
    [
      {
        measure: `speech_started → last audio delta, p99 of ${interruptions.length}`,
        ours: Math.max(
          0,
          quantile(
            interruptions.map(({ lastAudioMs }) => lastAudioMs),
            0.99,
          ),
        ),
        unit: 'ms',
        target: 60,
      },
      {
        measure: 'transcript after the truncation differs from the played words by more than one word',
        ours: (100 * wrong.length) / interruptions.length,
        unit: '%',
        target: 5,
      },
      {
        measure: 'the same number of words',
        ours: (100 * differences.filter((difference) => difference === 0).length) / interruptions.length,
        unit: '%',
      },
    ],
    [
      `${CALLERS} callers at a time interrupt each reply after ${PLAYED_MS.from} to ${PLAYED_MS.to} ms. The played audio is transcribed with Whisper base to count its words.`,
    ],
  );
}

/** Waits for a reply, interrupts it with speech, and reports what was played. */
async function interrupt(
  service: Service,
  caller: Caller,
  speech: Float32Array<ArrayBuffer>,
  playedMs: number,
): Promise<Interruption> {
  const player = new Player();
  const audio: Buffer[] = [];
  let itemId: string | undefined;
  let startedMs: number | undefined;
  let lastDeltaMs = 0;
  let isSpeaking = false;
  for (;;) {
    const event = await caller.next();
    if (event.type === 'response.output_audio.delta' && startedMs === undefined) {
      itemId = event.item_id;
      const bytes = Buffer.from(event.delta ?? '', 'base64');
      audio.push(bytes);
      player.add((bytes.length * 1000) / (2 * SOCKET_RATE_HZ), event.atMs);
      if (!isSpeaking) {
        isSpeaking = true;
        setTimeout(() => void caller.speak(speech), playedMs);
      }
    }
    if (event.type === 'response.output_audio.delta') lastDeltaMs = event.atMs;
    if (event.type === 'input_audio_buffer.speech_started' && isSpeaking) startedMs = event.atMs;
    if (startedMs !== undefined && event.type === 'response.done') break;
    // The reply was complete before the user spoke.
    if (startedMs !== undefined && event.type === 'input_audio_buffer.speech_stopped') break;
  }
  const audibleMs = Math.round(player.playedMs(startedMs));
  caller.send({
    type: 'conversation.item.truncate',
    item_id: itemId,
    content_index: 0,
    audio_end_ms: audibleMs,
  });
  caller.send({ type: 'conversation.item.retrieve', item_id: itemId });
  const { item } = await caller.until(({ type }) => type === 'conversation.item.retrieved');
  const transcript = item?.content?.map((part) => part.transcript ?? '').join(' ') ?? '';
  const played = Buffer.concat(audio).subarray(0, 2 * Math.round((audibleMs * SOCKET_RATE_HZ) / 1000));
  const transcribedText = await transcribed(service, played);
  return {
    lastAudioMs: lastDeltaMs - startedMs,
    wordDifference: countWords(transcript) - countWords(transcribedText),
  };
}

async function transcribed(service: Service, pcm: Buffer): Promise<string> {
  const form = new FormData();
  form.set('model', 'svc-stt');
  form.set('language', 'en');
  const samples = decodeToFloat32(pcm, 'pcm16');
  const wav = wavFile({ kind: 'int', bits: 16, rateHz: SOCKET_RATE_HZ, channels: 1 }, samples);
  form.set('file', new File([wav], 'played.wav'));
  const response = await service.fetch('/v1/audio/transcriptions', {
    method: 'POST',
    headers: { authorization: `Bearer ${SERVICE_KEY}` },
    body: form,
  });
  return ((await response.json()) as { text: string }).text;
}

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
