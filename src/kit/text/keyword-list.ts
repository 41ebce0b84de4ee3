/**
 * Writes keywords as the text before a transcript: a sentence, because a transcription model continues the style of the preceding
 * text, and starts without a capital letter after a list. Empty without keywords.
 */
export function keywordList(keywords: readonly string[] = []): string {
  return keywords.length === 0 ? '' : `${keywords.join(', ')}.`;
}
