import type { Locator, Page } from 'playwright-core';

/** Measured playback of a page. */
export interface PageLoudness {
  /** Seconds of audio louder than -50 dB. */
  readonly loudS: number;
  /** Power of these seconds, in dB of full scale. */
  readonly loudnessDb: number;
}

/** Starts to measure the Web Audio playback of a page. */
export async function measureLoudness(page: Page): Promise<void> {
  await page.evaluate(MEASURE);
}

/** Playback since {@link measureLoudness}. */
export async function playedBy(page: Page): Promise<PageLoudness> {
  const { loudS, squares, samples } =
    await page.evaluate<Record<'loudS' | 'squares' | 'samples', number>>('played');
  return { loudS, loudnessDb: 10 * Math.log10(squares / samples) };
}

/** Duration of an audio element, in seconds; NaN before it is known. */
export function durationOf(audio: Locator): Promise<number> {
  return audio.evaluate((element) => (element as unknown as { duration: number }).duration);
}

/** Browser arguments for a microphone that plays a WAV file in a loop, with permission for all pages. */
export const microphoneOf = (file: string): readonly string[] => [
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
  `--use-file-for-fake-audio-capture=${file}`,
];

const MEASURE = `
  globalThis.played = { loudS: 0, squares: 0, samples: 0 };
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (target, ...more) {
    if (target instanceof AudioDestinationNode) {
      const { context } = this;
      context.meter ??= (() => {
        const meter = context.createScriptProcessor(512, 1, 1);
        meter.onaudioprocess = ({ inputBuffer }) => {
          const samples = inputBuffer.getChannelData(0);
          let squares = 0;
          for (const sample of samples) squares += sample * sample;
          if (Math.sqrt(squares / samples.length) < 0.00316) return;
          played.loudS += samples.length / context.sampleRate;
          played.squares += squares;
          played.samples += samples.length;
        };
        connect.call(meter, context.destination);
        return meter;
      })();
      connect.call(this, context.meter);
    }
    return connect.call(this, target, ...more);
  };
  undefined;
`;
