import { bytesOf, PcmReader } from '../../../audio/pcm.ts';
import { Player } from '../../../audio/playback/player.ts';
import type { PlayedItem } from '../state/session-reducer.ts';

/** Sample rate of the replies in Hz. */
const REPLY_RATE_HZ = 24_000;

/** Audio of a message in the queue of the player. */
interface QueuedItem {
  readonly itemId: string;
  /** Offset of the message in the queued audio. */
  readonly startMs: number;
  lengthMs: number;
}

/** Plays the messages of the assistant one after another, and measures what was played of each. The caller closes it. */
export class ReplyPlayer {
  readonly #player: Player;
  #items: QueuedItem[] = [];
  #queuedMs = 0;
  #pcm = new PcmReader();

  /**
   * Must be created in the handler of a user gesture: browsers block audio otherwise.
   * @param onPlayed called whenever all queued audio was played.
   */
  constructor(onPlayed: () => void) {
    this.#player = new Player(REPLY_RATE_HZ, onPlayed);
  }

  /** @param audio base64 of 16-bit samples at 24 kHz. */
  play(itemId: string, audio: string): void {
    let item = this.#items.at(-1);
    if (item?.itemId !== itemId) {
      item = { itemId, startMs: this.#queuedMs, lengthMs: 0 };
      this.#items.push(item);
    }
    const samples = this.#pcm.read(bytesOf(audio));
    const lengthMs = (samples.length / REPLY_RATE_HZ) * 1000;
    item.lengthMs += lengthMs;
    this.#queuedMs += lengthMs;
    this.#player.play(samples, REPLY_RATE_HZ);
  }

  /** Playback of the messages since the last {@link stop}. */
  get items(): readonly PlayedItem[] {
    const { playedMs } = this.#player;
    return this.#items.map(({ itemId, startMs, lengthMs }) => ({
      itemId,
      lengthMs,
      playedMs: Math.min(lengthMs, Math.max(0, playedMs - startMs)),
    }));
  }

  /** Stops the playback and discards the queue. */
  stop(): void {
    this.#player.stop();
    this.#items = [];
    this.#queuedMs = 0;
    this.#pcm = new PcmReader();
  }

  close(): void {
    this.#player.close();
  }
}
