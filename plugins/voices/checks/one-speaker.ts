import { invalidRequest } from '../../../src/contract/core/error.ts';
import type { SpeakerEmbedding } from '../../../src/contract/engines/voice.ts';
import { unitVector } from '../../../src/kit/math/unit-vector.ts';
import { CLIP_FIELD } from '../clips/uploaded-clip.ts';

/** Minimum cosine similarity of two groups of one speaker (docs/decisions/stored-voices.md). */
const SAME_SPEAKER = 0.72;
/** Minimum share of windows of the smaller group: a cough or a laugh is not a second speaker. */
const MIN_SHARE = 0.2;
const MIN_WINDOWS = 2;
const ROUNDS = 10;

/** Windows of speech, split into the two most coherent groups. */
export interface SpeakerGroups {
  /** Number of windows in the smaller group. */
  readonly smaller: number;
  /** Cosine similarity of the two means; 1 if all windows are equal. */
  readonly similarity: number;
}

/**
 * Rejects a clip with two speakers. The threshold accepts one speaker with varying style, so two similar speakers may
 * pass.
 * @param windows speaker embeddings of parts of the clip, at least one.
 * @throws ServiceError `invalid_request`.
 */
export function requireOneSpeaker(windows: readonly SpeakerEmbedding[]): void {
  const { smaller, similarity } = groupSpeakers(windows);
  if (similarity >= SAME_SPEAKER || smaller < Math.max(MIN_WINDOWS, windows.length * MIN_SHARE)) return;
  throw invalidRequest(
    `'${CLIP_FIELD}' contains more than one speaker; it must be a clip of a single speaker.`,
    CLIP_FIELD,
    'invalid_value',
  );
}

/** Spherical 2-means clustering, initialized with the two least similar windows. */
export function groupSpeakers(windows: readonly SpeakerEmbedding[]): SpeakerGroups {
  let means = leastSimilarPair(windows);
  let groups = grouped(windows, means);
  for (let round = 0; round < ROUNDS && groups.every((group) => group.length > 0); round += 1) {
    means = [meanOf(groups[0]), meanOf(groups[1])];
    groups = grouped(windows, means);
  }
  const smaller = Math.min(groups[0].length, groups[1].length);
  return { smaller, similarity: smaller === 0 ? 1 : cosine(meanOf(groups[0]), meanOf(groups[1])) };
}

type Pair<Of> = readonly [Of, Of];

function leastSimilarPair(windows: readonly SpeakerEmbedding[]): Pair<SpeakerEmbedding> {
  const [first = new Float32Array()] = windows;
  let pair: Pair<SpeakerEmbedding> = [first, first];
  let similarity = Number.POSITIVE_INFINITY;
  for (const [at, one] of windows.entries()) {
    for (const other of windows.slice(at + 1)) {
      const value = cosine(one, other);
      if (value < similarity) [similarity, pair] = [value, [one, other]];
    }
  }
  return pair;
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

/** Cosine similarity of unit vectors. */
function cosine(one: SpeakerEmbedding, other: SpeakerEmbedding): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
