import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { SpeakerEmbedding } from '../../../src/contract/engines/voice.ts';
import { unitVector } from '../../../src/kit/math/unit-vector.ts';
import { CLIP_FIELD } from '../clips/uploaded-clip.ts';

/** Cosine of the means of two groups below which they are of two speakers (docs/decisions/stored-voices.md). */
const SAME_SPEAKER = 0.72;
/** Share of the windows that the smaller group must have: a cough or a laugh is no speaker. */
const MIN_SHARE = 0.2;
const MIN_WINDOWS = 2;
const ROUNDS = 10;

/** Windows of speech as two groups, each as alike as can be. */
export interface SpeakerGroups {
  /** Windows of the smaller group. */
  readonly smaller: number;
  /** Cosine of the two means: 1 when all windows are alike. */
  readonly likeness: number;
}

/**
 * Refuses a clip in which two people speak. One who speaks in two manners must pass, so two who sound alike may too.
 * @param windows embeddings of parts of the clip, at least one.
 * @throws ServiceError `invalid_request`.
 */
export function requireOneSpeaker(windows: readonly SpeakerEmbedding[]): void {
  const { smaller, likeness } = speakerGroups(windows);
  if (likeness >= SAME_SPEAKER || smaller < Math.max(MIN_WINDOWS, windows.length * MIN_SHARE)) return;
  throw invalidRequest(
    `More than one person speaks in '${CLIP_FIELD}'; it must be a clip of a single speaker.`,
    CLIP_FIELD,
    'invalid_value',
  );
}

/** Spherical 2-means, begun with the two windows that are least alike. */
export function speakerGroups(windows: readonly SpeakerEmbedding[]): SpeakerGroups {
  let means = leastAlike(windows);
  let groups = grouped(windows, means);
  for (let round = 0; round < ROUNDS && groups.every((group) => group.length > 0); round += 1) {
    means = [meanOf(groups[0]), meanOf(groups[1])];
    groups = grouped(windows, means);
  }
  const smaller = Math.min(groups[0].length, groups[1].length);
  return { smaller, likeness: smaller === 0 ? 1 : cosine(meanOf(groups[0]), meanOf(groups[1])) };
}

type Pair<Of> = readonly [Of, Of];

function leastAlike(windows: readonly SpeakerEmbedding[]): Pair<SpeakerEmbedding> {
  const [first = new Float32Array()] = windows;
  let least: Pair<SpeakerEmbedding> = [first, first];
  let likeness = Number.POSITIVE_INFINITY;
  for (const [at, one] of windows.entries()) {
    for (const other of windows.slice(at + 1)) {
      const alike = cosine(one, other);
      if (alike < likeness) [likeness, least] = [alike, [one, other]];
    }
  }
  return least;
}

function grouped(
  windows: readonly SpeakerEmbedding[],
  [one, other]: Pair<SpeakerEmbedding>,
): Pair<SpeakerEmbedding[]> {
  const groups: Pair<SpeakerEmbedding[]> = [[], []];
  for (const window of windows) groups[cosine(window, one) >= cosine(window, other) ? 0 : 1].push(window);
  return groups;
}

function meanOf(windows: readonly SpeakerEmbedding[]): SpeakerEmbedding {
  const sum = new Float32Array(windows[0]?.length ?? 0);
  for (const window of windows)
    for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] ?? 0) + (window[at] ?? 0);
  return unitVector(sum);
}

/** Of vectors of unit length. */
function cosine(one: SpeakerEmbedding, other: SpeakerEmbedding): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
