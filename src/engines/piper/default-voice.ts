/** The voice of the model catalog, which needs no model hub. */
export const DEFAULT_PIPER_VOICE = 'en_US-joe-medium';
