/** Spoken requests, each for one call of one of six functions. */

export const FUNCTIONS = [
  tool('set_timer', 'Start a timer.', { minutes: 'number' }),
  tool('get_weather', 'Weather forecast of a city.', { city: 'string', day: 'string' }, ['city']),
  tool('book_table', 'Book a table in the restaurant.', { people: 'integer', time: 'string' }),
  tool('play_music', 'Play music of an artist or a style.', { query: 'string' }),
  tool('send_message', 'Send a text message to a person.', { recipient: 'string', text: 'string' }),
  tool('convert_currency', 'Convert an amount of money.', { amount: 'number', from: 'string', to: 'string' }),
] as const;

export interface FunctionRequest {
  readonly text: string;
  readonly name: (typeof FUNCTIONS)[number]['name'];
  /** Patterns of the arguments that must match, ignoring case. */
  readonly args: Readonly<Record<string, RegExp>>;
}

export const FUNCTION_REQUESTS: readonly FunctionRequest[] = [
  request('Set a timer for ten minutes.', 'set_timer', { minutes: /^10$/ }),
  request('Please start a timer for five minutes.', 'set_timer', { minutes: /^5$/ }),
  request('I need a timer for twenty five minutes.', 'set_timer', { minutes: /^25$/ }),
  request('Can you set a timer for three minutes for my tea?', 'set_timer', { minutes: /^3$/ }),
  request('Remind me in fifteen minutes with a timer.', 'set_timer', { minutes: /^15$/ }),
  request('Timer, forty minutes.', 'set_timer', { minutes: /^40$/ }),
  request('Start a timer for one minute.', 'set_timer', { minutes: /^1$/ }),
  request('Set the timer to half an hour.', 'set_timer', { minutes: /^30$/ }),
  request('What is the weather in Berlin tomorrow?', 'get_weather', { city: /berlin/, day: /tomorrow/ }),
  request('Will it rain in London today?', 'get_weather', { city: /london/ }),
  request('How is the weather in Madrid?', 'get_weather', { city: /madrid/ }),
  request('Tell me the forecast for Paris on Sunday.', 'get_weather', { city: /paris/, day: /sunday/ }),
  request('Is it going to be warm in Rome on Friday?', 'get_weather', { city: /rome/, day: /friday/ }),
  request('What will the weather be like in New York this evening?', 'get_weather', { city: /new york/ }),
  request('Do I need an umbrella in Vienna today?', 'get_weather', { city: /vienna/ }),
  request('Check the weather in Tokyo, please.', 'get_weather', { city: /tokyo/ }),
  request('What is the temperature in Oslo tomorrow?', 'get_weather', { city: /oslo/ }),
  request('Book a table for four people at seven.', 'book_table', { people: /^4$/, time: /7|19|seven/ }),
  request('I would like a table for two at eight in the evening.', 'book_table', {
    people: /^2$/,
    time: /8|20|eight/,
  }),
  request('Please reserve a table for six people at noon.', 'book_table', { people: /^6$/, time: /12|noon/ }),
  request('Can you book a table for three at half past six?', 'book_table', {
    people: /^3$/,
    time: /6|18|six/,
  }),
  request('We are five people and want to eat at one.', 'book_table', { people: /^5$/, time: /1|13|one/ }),
  request('Reserve a table for ten at nine tonight.', 'book_table', { people: /^10$/, time: /9|21|nine/ }),
  request('A table for one person at six, please.', 'book_table', { people: /^1$/, time: /6|18|six/ }),
  request('Make a reservation for eight guests at seven thirty.', 'book_table', {
    people: /^8$/,
    time: /7|19/,
  }),
  request('Play some jazz.', 'play_music', { query: /jazz/ }),
  request('I want to hear the Beatles.', 'play_music', { query: /beatles/ }),
  request('Put on some classical music.', 'play_music', { query: /classical/ }),
  request('Please play a song by Queen.', 'play_music', { query: /queen/ }),
  request('Can you play relaxing piano music?', 'play_music', { query: /piano/ }),
  request('Play rock music from the eighties.', 'play_music', { query: /rock|80|eighties/ }),
  request('Play something by Mozart.', 'play_music', { query: /mozart/ }),
  request('I would like to listen to country music.', 'play_music', { query: /country/ }),
  request('Send a message to Anna that I will be late.', 'send_message', {
    recipient: /anna|hannah/,
    text: /late/,
  }),
  request('Tell Peter by text message that dinner is ready.', 'send_message', {
    recipient: /peter/,
    text: /dinner/,
  }),
  request('Write to my mother that I arrived safely.', 'send_message', {
    recipient: /mother|mom/,
    text: /safe|arrived/,
  }),
  request('Text Michael, I am on my way.', 'send_message', { recipient: /michael/, text: /way/ }),
  request('Please message Sarah and ask her to call me back.', 'send_message', {
    recipient: /sarah?/,
    text: /call/,
  }),
  request('Send David the message, happy birthday.', 'send_message', {
    recipient: /david/,
    text: /birthday/,
  }),
  request('Send a text to my boss that I am sick today.', 'send_message', {
    recipient: /boss/,
    text: /sick/,
  }),
  request('Let Julia know that the meeting starts at ten.', 'send_message', {
    recipient: /julia/,
    text: /meeting|ten|10/,
  }),
  request('How much is one hundred dollars in euros?', 'convert_currency', {
    amount: /^100$/,
    from: /usd|dollar/,
    to: /eur/,
  }),
  request('Convert fifty euros to pounds.', 'convert_currency', {
    amount: /^50$/,
    from: /eur/,
    to: /gbp|pound/,
  }),
  request('What are twenty pounds in dollars?', 'convert_currency', {
    amount: /^20$/,
    from: /gbp|pound/,
    to: /usd|dollar/,
  }),
  request('Change five hundred dollars into yen.', 'convert_currency', {
    amount: /^500$/,
    from: /usd|dollar/,
    to: /jpy|yen/,
  }),
  request('How many euros do I get for ten dollars?', 'convert_currency', {
    amount: /^10$/,
    from: /usd|dollar/,
    to: /eur/,
  }),
  request('Convert two hundred francs to euros.', 'convert_currency', {
    amount: /^200$/,
    from: /chf|franc/,
    to: /eur/,
  }),
  request('What is the value of thirty euros in dollars?', 'convert_currency', {
    amount: /^30$/,
    from: /eur/,
    to: /usd|dollar/,
  }),
  request('Convert one thousand yen to dollars.', 'convert_currency', {
    amount: /^1000$/,
    from: /jpy|yen/,
    to: /usd|dollar/,
  }),
  request('How much are seventy five pounds in euros?', 'convert_currency', {
    amount: /^75$/,
    from: /gbp|pound/,
    to: /eur/,
  }),
];

function tool<const Name extends string>(
  name: Name,
  description: string,
  fields: Readonly<Record<string, string>>,
  required: readonly string[] = Object.keys(fields),
) {
  const properties = Object.fromEntries(Object.entries(fields).map(([key, type]) => [key, { type }]));
  return {
    type: 'function',
    name,
    description,
    parameters: { type: 'object', properties, required },
  } as const;
}

function request(
  text: string,
  name: FunctionRequest['name'],
  args: FunctionRequest['args'],
): FunctionRequest {
  return { text, name, args };
}
