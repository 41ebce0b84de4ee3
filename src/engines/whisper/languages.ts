/** The languages that Whisper knows. */

/**
 * English names, in lower case, by code: ISO 639-1, or 639-3 where there is none (`haw`, `yue`). `yue` came
 * with large-v3; which of them a model has, its tokenizer says.
 */
export const LANGUAGE_NAMES: ReadonlyMap<string, string> = new Map([
  ['af', 'afrikaans'],
  ['am', 'amharic'],
  ['ar', 'arabic'],
  ['as', 'assamese'],
  ['az', 'azerbaijani'],
  ['ba', 'bashkir'],
  ['be', 'belarusian'],
  ['bg', 'bulgarian'],
  ['bn', 'bengali'],
  ['bo', 'tibetan'],
  ['br', 'breton'],
  ['bs', 'bosnian'],
  ['ca', 'catalan'],
  ['cs', 'czech'],
  ['cy', 'welsh'],
  ['da', 'danish'],
  ['de', 'german'],
  ['el', 'greek'],
  ['en', 'english'],
  ['es', 'spanish'],
  ['et', 'estonian'],
  ['eu', 'basque'],
  ['fa', 'persian'],
  ['fi', 'finnish'],
  ['fo', 'faroese'],
  ['fr', 'french'],
  ['gl', 'galician'],
  ['gu', 'gujarati'],
  ['ha', 'hausa'],
  ['haw', 'hawaiian'],
  ['he', 'hebrew'],
  ['hi', 'hindi'],
  ['hr', 'croatian'],
  ['ht', 'haitian creole'],
  ['hu', 'hungarian'],
  ['hy', 'armenian'],
  ['id', 'indonesian'],
  ['is', 'icelandic'],
  ['it', 'italian'],
  ['ja', 'japanese'],
  ['jv', 'javanese'],
  ['ka', 'georgian'],
  ['kk', 'kazakh'],
  ['km', 'khmer'],
  ['kn', 'kannada'],
  ['ko', 'korean'],
  ['la', 'latin'],
  ['lb', 'luxembourgish'],
  ['ln', 'lingala'],
  ['lo', 'lao'],
  ['lt', 'lithuanian'],
  ['lv', 'latvian'],
  ['mg', 'malagasy'],
  ['mi', 'maori'],
  ['mk', 'macedonian'],
  ['ml', 'malayalam'],
  ['mn', 'mongolian'],
  ['mr', 'marathi'],
  ['ms', 'malay'],
  ['mt', 'maltese'],
  ['my', 'myanmar'],
  ['ne', 'nepali'],
  ['nl', 'dutch'],
  ['nn', 'nynorsk'],
  ['no', 'norwegian'],
  ['oc', 'occitan'],
  ['pa', 'punjabi'],
  ['pl', 'polish'],
  ['ps', 'pashto'],
  ['pt', 'portuguese'],
  ['ro', 'romanian'],
  ['ru', 'russian'],
  ['sa', 'sanskrit'],
  ['sd', 'sindhi'],
  ['si', 'sinhala'],
  ['sk', 'slovak'],
  ['sl', 'slovenian'],
  ['sn', 'shona'],
  ['so', 'somali'],
  ['sq', 'albanian'],
  ['sr', 'serbian'],
  ['su', 'sundanese'],
  ['sv', 'swedish'],
  ['sw', 'swahili'],
  ['ta', 'tamil'],
  ['te', 'telugu'],
  ['tg', 'tajik'],
  ['th', 'thai'],
  ['tk', 'turkmen'],
  ['tl', 'tagalog'],
  ['tr', 'turkish'],
  ['tt', 'tatar'],
  ['uk', 'ukrainian'],
  ['ur', 'urdu'],
  ['uz', 'uzbek'],
  ['vi', 'vietnamese'],
  ['yi', 'yiddish'],
  ['yo', 'yoruba'],
  ['yue', 'cantonese'],
  ['zh', 'chinese'],
]);

/** The code that Whisper's vocabulary has for Javanese; ISO 639-1 withdrew it for `jv`. */
const WITHDRAWN_JAVANESE = 'jw';

/** A language's code as the world writes it, from the one in Whisper's vocabulary or an older habit. */
export function isoLanguage(code: string): string {
  const lower = code.toLowerCase();
  return lower === WITHDRAWN_JAVANESE ? 'jv' : lower;
}

/** Languages written without spaces between words; their words are taken character by character. */
const WITHOUT_SPACES: ReadonlySet<string> = new Set(['zh', 'ja', 'th', 'lo', 'my', 'km', 'yue']);

/** Whether words of this language are told apart by spaces. @param code an ISO code; undefined counts as yes */
export function hasSpaces(code: string | undefined): boolean {
  return code === undefined || !WITHOUT_SPACES.has(code);
}
