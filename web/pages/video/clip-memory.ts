/** What videos of this tab were made of, as far as the tab still has it: the service gives no clips back. Pure. */

/** What a video continues. */
export type Origin =
  | { readonly kind: 'file'; readonly file: File }
  /** Another video of the organization. */
  | { readonly kind: 'video'; readonly id: string }
  | { readonly kind: 'url' };

/** Most videos whose origin is kept. A file stays on its disk; this is a handle to it. */
export const KEPT_ORIGINS = 50;

export class ClipMemory {
  readonly #origins = new Map<string, Origin>();

  /** @param video id of the video that was made of it. The oldest go when there are too many. */
  keep(video: string, origin: Origin): void {
    this.#origins.set(video, origin);
    if (this.#origins.size <= KEPT_ORIGINS) return;
    for (const oldest of this.#origins.keys()) {
      this.#origins.delete(oldest);
      break;
    }
  }

  of(video: string): Origin | undefined {
    return this.#origins.get(video);
  }
}

/** Of this tab. */
export const clipMemory = new ClipMemory();
