const NAMES = new Intl.DisplayNames(['en'], { type: 'language' });

/** The English name of a BCP 47 tag: "Brazilian Portuguese". The tag itself if it has no name. */
export function languageName(tag: string): string {
  try {
    return NAMES.of(tag) ?? tag;
  } catch {
    return tag;
  }
}
