/** Microphone and playback of a page that follow the test instead of a sound card, which plays and records in real time. */

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Length of a block of the microphone in ms. */
export const BLOCK_MS = 80;

/** Audio that a page has scheduled for playback. */
export interface ScheduledAudio {
  readonly seconds: number;
  /** Power in dB of full scale. */
  readonly loudnessDb: number;
  /** Whether a piece begins before the end of the previous one. */
  readonly overlaps: boolean;
}

/** Replaces the microphone and the playback of a page. A reload restores them. */
export async function replaceAudio(page: Page): Promise<void> {
  await page.evaluate(AUDIO);
}

/** Sends a tone from the microphone, when it is open: {@link BLOCK_MS} at a time, and the last incomplete block, too. */
export async function hearTone(page: Page, lengthMs: number): Promise<void> {
  await microphoneOpen(page);
  await page.evaluate(`pageAudio.hear(${lengthMs}, (seconds) => 0.3 * Math.sin(2000 * seconds))`);
}

/** Sends recorded audio from the microphone, when it is open. Samples are from -1 to 1. */
export async function hear(page: Page, samples: Float32Array, rateHz: number): Promise<void> {
  await microphoneOpen(page);
  const pcm = Buffer.from(Int16Array.from(samples, (sample) => sample * 0x7fff).buffer).toString('base64');
  await page.evaluate(`pageAudio.hearPcm('${pcm}', ${rateHz})`);
}

/** Waits until the page records. */
async function microphoneOpen(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate<boolean>('pageAudio.isRecording()')).toBe(true);
}

/** Lets the page play for a time. Without this call, the playback stands still. */
export async function play(page: Page, seconds: number): Promise<void> {
  await page.evaluate(`pageAudio.play(${seconds})`);
}

/** Lets the page play until a condition holds. */
export async function playUntil(page: Page, condition: () => Promise<boolean>): Promise<void> {
  const met = async () => {
    if (await condition()) return true;
    await play(page, 1);
    return false;
  };
  await expect.poll(met).toBe(true);
}

/** All audio that the page has scheduled since {@link replaceAudio}. */
export async function scheduledBy(page: Page): Promise<ScheduledAudio> {
  const { seconds, squares, samples, overlaps } = await page.evaluate<{
    readonly seconds: number;
    readonly squares: number;
    readonly samples: number;
    readonly overlaps: boolean;
  }>('pageAudio.scheduled');
  return { seconds, overlaps, loudnessDb: 10 * Math.log10(squares / samples) };
}

const AUDIO = `
  globalThis.pageAudio = (() => {
    let nowS = 0;
    let microphone;
    const playing = new Set();
    const scheduled = { seconds: 0, samples: 0, squares: 0, overlaps: false };
    let lastEndS = 0;

    globalThis.AudioWorkletNode = class extends AudioWorkletNode {
      // The real port sends the audio of the sound card.
      port = { onmessage: null };
      constructor(...options) {
        super(...options);
        microphone = this;
      }
    };
    Object.defineProperty(BaseAudioContext.prototype, 'currentTime', { get: () => nowS });
    Object.defineProperty(AudioContext.prototype, 'outputLatency', { get: () => 0 });

    const ended = (source) => playing.delete(source) && source.onended?.(new Event('ended'));
    AudioBufferSourceNode.prototype.start = function (startS) {
      const { duration } = this.buffer;
      const endS = startS + duration;
      this.endS = endS;
      playing.add(this);
      scheduled.overlaps ||= startS < lastEndS - 1e-9;
      lastEndS = endS;
      scheduled.seconds += duration;
      const samples = this.buffer.getChannelData(0);
      scheduled.samples += samples.length;
      for (const sample of samples) scheduled.squares += sample * sample;
    };
    AudioBufferSourceNode.prototype.stop = function () {
      lastEndS = 0;
      setTimeout(() => ended(this));
    };

    return {
      scheduled,
      isRecording: () => typeof microphone?.port.onmessage === 'function',
      play(seconds) {
        const untilS = nowS + seconds;
        for (;;) {
          const [next] = [...playing].sort((one, other) => one.endS - other.endS);
          if (next === undefined || next.endS > untilS) break;
          nowS = Math.max(nowS, next.endS);
          ended(next);
        }
        nowS = untilS;
      },
      hear(lengthMs, sampleAt) {
        const { sampleRate } = microphone.context;
        const total = Math.round((lengthMs * sampleRate) / 1000);
        const size = Math.round(sampleRate * ${BLOCK_MS / 1000});
        for (let start = 0; start < total; start += size) {
          const block = new Int16Array(Math.min(size, total - start));
          for (let at = 0; at < block.length; at += 1) block[at] = 0x7fff * sampleAt((start + at) / sampleRate);
          microphone.port.onmessage?.({ data: block });
        }
      },
      hearPcm(base64, rateHz) {
        const pcm = new Int16Array(Uint8Array.from(atob(base64), (each) => each.charCodeAt(0)).buffer);
        const sampleAt = (seconds) => (pcm[Math.floor(seconds * rateHz)] ?? 0) / 0x7fff;
        this.hear((pcm.length / rateHz) * 1000, sampleAt);
      },
    };
  })();
  undefined;
`;
