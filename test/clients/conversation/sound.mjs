/** Microphone and loudspeaker of an application: PCM with 16-bit samples, mono, 24 kHz. */

const BYTES_PER_MS = 48;
const FRAME_MS = 100;

/**
 * Sends a frame of {@link FRAME_MS} in real time: queued speech, or silence.
 * @param send receives each frame as a Buffer.
 */
export function startMicrophone(send) {
  let speech = Buffer.alloc(0);
  let sentMs = 0;
  const startedAt = performance.now();
  const timer = setInterval(() => {
    for (; sentMs <= performance.now() - startedAt; sentMs += FRAME_MS) {
      const frame = Buffer.alloc(FRAME_MS * BYTES_PER_MS);
      speech.copy(frame);
      speech = speech.subarray(frame.length);
      send(frame);
    }
  }, FRAME_MS / 4);
  return {
    /** Speaks a clip in base64. */
    say: (clip) => {
      speech = Buffer.concat([speech, Buffer.from(clip, 'base64')]);
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * Plays audio in real time. Audio that arrives late continues the message.
 * @param silent called when all audio of a finished message was played.
 */
export function startSpeaker(silent) {
  let startedAt = 0;
  let queuedMs = 0;
  let isFinished = false;
  let timer;
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
    queuedMs = 0;
    isFinished = false;
  };
  const played = () => {
    timer = undefined;
    if (!isFinished) return;
    stop();
    silent();
  };
  return {
    play(pcm) {
      if (timer === undefined) startedAt = performance.now() - queuedMs;
      else clearTimeout(timer);
      queuedMs += pcm.byteLength / BYTES_PER_MS;
      timer = setTimeout(played, startedAt + queuedMs - performance.now());
    },
    /** No more audio of the message follows. */
    finish() {
      if (queuedMs === 0) return;
      isFinished = true;
      if (timer === undefined) played();
    },
    /** Played time of the message, in ms. */
    playedMs: () => Math.min(performance.now() - startedAt, queuedMs),
    isPlaying: () => queuedMs > 0,
    stop,
  };
}
