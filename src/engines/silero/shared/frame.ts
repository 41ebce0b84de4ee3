/** Size of the frames. Apart from the graph, because the serving process must not load the code that rewrites graphs. */

/** Samples of one frame at 16 kHz. */
export const FRAME_SAMPLES = 512;
/** Samples of the previous frame that precede a frame in the model input. */
export const CONTEXT_SAMPLES = 64;
