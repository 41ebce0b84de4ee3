/**
 * Whether a transcript ends inside a value that is dictated in parts: a number, spelled letters, an e-mail address or a postal address.
 * Speakers pause between the parts, with the prosody of an end. The words decide, because a part is a complete sentence ("My number is
 * 555."). Pure.
 */

/** Only the end of a transcript counts. */
const END_CHARACTERS = 200;
/** Digits of a number whose kind is not known: as many as most telephone numbers have. */
const NUMBER_DIGITS = 10;
/** Digits of numbers by the word that announces them. In several languages; the first row that matches counts. */
const ANNOUNCED_DIGITS: readonly (readonly [word: RegExp, digits: number])[] = [
  [/\b(?:credit|debit)?\s?(?:card|karten?|tarjeta|carte|carta|cartão)\b/iu, 16],
  [/\biban\b/iu, 16],
  [/\b(?:zip|postal|postcode|post code|postleitzahl|plz|cap|cep)\b/iu, 5],
  [/\b(?:code|código|codice|pin|passcode|extension)\b/iu, 4],
  [
    /\b(?:phone|mobile|cell|telefon\w*|telefono|teléfono|téléphone|telefone|handy\w*|call me|reach me)\b/iu,
    NUMBER_DIGITS,
  ],
  [/\b(?:number|nummer|\w+nummer|numéro|numero|número|reference|account|tracking|serial)\b/iu, NUMBER_DIGITS],
];
/** Characters after its announcement in which a number starts. */
const ANNOUNCED_WITHIN = 40;

/** The digits at the end, with the characters that separate their groups. */
const DIGITS_AT_END = /(?<![\d.,:])\+?\d[\d\s()./,-]*$/u;
/** Amounts, ordinary numbers and years, which are spoken in one part. */
const SINGLE_NUMBER = /^(?:\d{1,3}(?:[.,]\d{3})*(?:[.,]\d{1,2})?|(?:19|20)\d\d)$/u;
/** "10, 20" and "7 - 9" are two numbers. */
const TWO_NUMBERS = /^[1-9]\d?[\s,-]+[1-9]\d?$/u;
const DIGIT_WORD = 'zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple';
const ANY_DIGIT_WORD = new RegExp(`\\b(?:${DIGIT_WORD})\\b`, 'giu');
const DIGIT_WORDS_AT_END = new RegExp(`(?:\\b(?:${DIGIT_WORD})\\b[\\s,-]*)+$`, 'iu');

/** At least two single letters: "M-I-L", "s, m, i"; one, if they are announced. */
const LETTERS_AT_END =
  /(?:^|[\s,])\p{L}(?:(?:\s*[-,]\s*|\s+)\p{L})+$|\b(?:spelled|spelt|spell it|spells)\b.*\b\p{L}$/isu;

/** An announced address is limited in length: longer text says something else. */
const MAIL_ANNOUNCED =
  /\b(?:e-?mail|mail|correo|courriel)(?:[\s-]?(?:address|adresse|electrónico|account))?,?\s+(?:is|it's|would be|ist|lautet|es|est|é|è)(?=\s|$)(?<address>.{0,60})$/isu;
const MAIL_ADDRESS =
  /(?:@|\b(?:at|arroba|arobase|chiocciola)\s+)[\w-]+\s*(?:\.|\b(?:dot|point|punto|ponto|punkt)\b)\s*\w{2,}/iu;
const MAIL_PART_AT_END = /(?:@[\w-]*|\b(?:underscore|dot))$/iu;

const ADDRESS_ANNOUNCED =
  /\b(?:(?:address|adresse|anschrift|dirección|indirizzo|endereço)\s+(?:is|ist|lautet|es|est|é|è)(?=\s|$)|(?:live|deliver(?:ed)?(?: it)?|send it)\s+(?:at|to)\s+(?=\d))(?<address>.{0,60})$/isu;
const STREET_AT_END =
  /\d\p{L}?(?:\s+[\p{L}'’.]+){0,4}\s+(?:street|st|road|rd|avenue|ave|lane|drive|boulevard|blvd|square|court|way|place|terrace|crescent)$/iu;
/** A postal code after a name ends an address: at least four digits, or the British form. */
const POSTAL_CODE_AT_END =
  /\p{L}.*(?:\b(?:\d{4,6}|\d\d,\d{3})(?:-\d{3,4})?|\b[a-z]{1,2}\d[a-z\d]?\s*\d[a-z]{2})$/iu;

/** Whether the speaker will probably go on after a pause, because the value at the end of the transcript has further parts. */
export function endsInsideValue(transcript: string): boolean {
  // A question waits for its answer.
  if (/[?？]\s*$/u.test(transcript)) return false;
  const text = transcript.slice(-END_CHARACTERS).replace(/[\s.,;:!?…–—-]+$/u, '');
  return (
    endsInsideMailAddress(text) ??
    endsInsideAddress(text) ??
    (endsInsideNumber(text) || LETTERS_AT_END.test(text))
  );
}

/** Undefined: the text does not end with an e-mail address. */
function endsInsideMailAddress(text: string): boolean | undefined {
  if (MAIL_PART_AT_END.test(text)) return true;
  const address = MAIL_ANNOUNCED.exec(text)?.groups?.address;
  return address === undefined ? undefined : !MAIL_ADDRESS.test(address);
}

/** Undefined: the text does not end with a postal address. */
function endsInsideAddress(text: string): boolean | undefined {
  if (STREET_AT_END.test(text)) return true;
  const address = ADDRESS_ANNOUNCED.exec(text)?.groups?.address;
  return address === undefined ? undefined : !POSTAL_CODE_AT_END.test(address);
}

function endsInsideNumber(text: string): boolean {
  const words = DIGIT_WORDS_AT_END.exec(text);
  if (words !== null) {
    const count = words[0].match(ANY_DIGIT_WORD)?.length ?? 0;
    const { digits, isAnnounced } = announcedDigits(text.slice(0, words.index));
    return count < digits && (isAnnounced || count > 1);
  }
  const found = DIGITS_AT_END.exec(text);
  if (found === null) return false;
  const [digits] = found;
  const announced = announcedDigits(text.slice(0, found.index));
  if (digits.replace(/\D/g, '').length >= announced.digits) return false;
  return announced.isAnnounced || !(SINGLE_NUMBER.test(digits) || TWO_NUMBERS.test(digits));
}

/** The number of digits that the words before a number announce. */
function announcedDigits(before: string): { readonly digits: number; readonly isAnnounced: boolean } {
  const near = before.slice(-ANNOUNCED_WITHIN);
  const found = ANNOUNCED_DIGITS.find(([word]) => word.test(near));
  return { digits: found?.[1] ?? NUMBER_DIGITS, isAnnounced: found !== undefined };
}
