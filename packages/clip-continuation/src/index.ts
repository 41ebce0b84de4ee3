/** Continues the pictures and the sound of a clip from its last seconds. See README.md. */

export { extendAudio } from './audio-extension.ts';
export { FrameGenerator } from './frame-generator.ts';
export type { FrameBlend } from './playback-plan.ts';
export { structuralSimilarity } from './structural-similarity.ts';
export type { Grid, VectorField } from './vector-field.ts';
export type { PictureSize, Warp } from './warp.ts';
