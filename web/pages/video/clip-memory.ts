/** Source clips of the videos that this tab created. The API does not return source clips. Pure. */

/** The source of a video. */
export type Origin =
  | { readonly kind: 'file'; readonly file: File }
  /** Another video of the organization. */
  | { readonly kind: 'video'; readonly id: string }
  | { readonly kind: 'url' };

/** Maximum number of videos whose source is retained. A file is only a handle; its bytes stay on disk. */
export const MAX_ORIGINS = 50;

export class ClipMemory {
  readonly #origins = new Map<string, Origin>();

  /** Evicts the oldest entries above the limit. @param video id of the created video. */
  keep(video: string, origin: Origin): void {
    this.#origins.set(video, origin);
    if (this.#origins.size <= MAX_ORIGINS) return;
    for (const oldest of this.#origins.keys()) {
      this.#origins.delete(oldest);
      break;
    }
  }

  of(video: string): Origin | undefined {
    return this.#origins.get(video);
  }
}

/** The instance of this tab. */
export const clipMemory = new ClipMemory();
