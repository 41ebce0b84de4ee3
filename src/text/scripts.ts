/** Scripts, and the language in which words of each are read within a text of another script. */

export interface Script {
  /** Its name in Unicode. */
  readonly name: string;
  /** BCP 47 tag. Of a script that several languages share, the one with most speakers. */
  readonly language: string;
  /** Language of eSpeak NG. */
  readonly espeakVoice: string;
}

const script = (name: string, language: string, espeakVoice = language): Script => ({
  name,
  language,
  espeakVoice,
});

export const SCRIPTS: readonly Script[] = [
  script('Han', 'zh', 'cmn'),
  script('Cyrillic', 'ru'),
  script('Greek', 'el'),
  script('Arabic', 'ar'),
  script('Hebrew', 'he'),
  script('Hangul', 'ko'),
  script('Thai', 'th'),
  script('Devanagari', 'hi'),
  script('Bengali', 'bn'),
  script('Gurmukhi', 'pa'),
  script('Gujarati', 'gu'),
  script('Tamil', 'ta'),
  script('Telugu', 'te'),
  script('Kannada', 'kn'),
  script('Malayalam', 'ml'),
  script('Armenian', 'hy'),
  script('Georgian', 'ka'),
];
