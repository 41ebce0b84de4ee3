import { describe, expect, it } from 'vitest';
import { endsInsideValue } from './unfinished-value.ts';

describe('the words end inside', () => {
  it.each([
    'My number is 555.',
    'My phone number is 555-0142',
    'You can reach me at 020 7946.',
    'It is 4, 1, 5',
    'Call me at 415',
    'It is +44 20',
    'Meine Telefonnummer ist 0151.',
    'Mon numéro est le 06 12 34',
    'My card number is 4111 1111 1111.',
    'The code is 4.',
    'My account number is 0049',
    'five five five, zero',
    'The serial number is zero.',
  ])('a number: %s', (text) => expect(endsInsideValue(text)).toBe(true));

  it.each(['It is spelled M-I-L.', 'My name is spelled W.', 'That is S, M, I', 'b r o'])(
    'spelled letters: %s',
    (text) => expect(endsInsideValue(text)).toBe(true),
  );

  it.each([
    'My email is john.',
    'My e-mail address is anna.miller@example',
    'It is anna@',
    'You can write to peter dot',
    'support underscore',
    'Mi correo es maria',
  ])('an e-mail address: %s', (text) => expect(endsInsideValue(text)).toBe(true));

  it.each([
    'My address is 48 Maple Avenue.',
    'The address is 1600',
    'I live at 221',
    'Please send it to 90 River Street.',
    'My address is 7 Church Lane, Oxford',
    'Meine Adresse ist Hauptstraße',
  ])('a postal address: %s', (text) => expect(endsInsideValue(text)).toBe(true));
});

describe('the words do not end inside a value', () => {
  it.each([
    '',
    '...',
    'My phone number is 415-555-0142.',
    'It is +44 20 7946 0958.',
    'The code is 4711.',
    'The zip code is 62704.',
    'My card number is 4111 1111 1111 1111.',
    'My email is anna.miller@example.com.',
    'My email is john at example dot com.',
    'My address is 48 Maple Avenue, Springfield, 62704.',
    'The street address is 310 West Avenue, Austin, 78,701.',
    'The address is 10 Downing Street, London SW1A 2AA.',
  ])('because it is complete: %s', (text) => expect(endsInsideValue(text)).toBe(false));

  it.each([
    'There will be four of us, at half past seven.',
    'The name is Miller, for Friday at eight.',
    'A table for 4.',
    'At 7:30 p.m.',
    'See you at 7 p.m.',
    'In 2026.',
    'It costs $2,500.',
    'That makes 3.50.',
    'Between 10 and 12.',
    'From 10 to 20, 30.',
    'We need two or three.',
    'My number one is tea.',
    'The train leaves at nine.',
    'She spelled it for me.',
    'What is your phone number?',
    'What is your address?',
    'My email is down. Can you help me?',
    'My address is correct, but the parcel was delivered to another house in our street.',
    'I will send you an e-mail.',
    'You and I.',
    'Do you deliver to the old town?',
    'I live on the coast.',
    'They live at the river.',
  ])('because there is none: %s', (text) => expect(endsInsideValue(text)).toBe(false));
});
