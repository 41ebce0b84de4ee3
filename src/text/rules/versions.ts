/** Dotted numbers that are versions: their parts are whole numbers, so that Python 3.12 is "three point twelve". */

/** Names before a version, as regular expressions. A name that is also a word is recognized only as written. */
const PRODUCTS = [
  '[Pp]ython',
  '[Nn]ode(?:\\.?[Jj][Ss])?',
  'Java',
  '[Jj]ava[Ss]cript',
  '[Tt]ype[Ss]cript',
  'PHP',
  'php',
  'Ruby',
  'Rust',
  'Go',
  'Golang',
  'Swift',
  'Kotlin',
  'Scala',
  'Perl',
  'Julia',
  '\\.NET',
  'Bun',
  'Deno',
  '[Uu]buntu',
  'Debian',
  'Fedora',
  'Linux',
  'macOS',
  'iOS',
  'iPadOS',
  'watchOS',
  'Android',
  'Windows',
  'Chrome',
  'Firefox',
  'Safari',
  'Django',
  'Flask',
  'React',
  'Angular',
  'Vue',
  'Next\\.js',
  'Rails',
  'Spring Boot',
  'Laravel',
  'Kubernetes',
  'Docker',
  'Terraform',
  'Postgre(?:s|SQL)',
  'MySQL',
  'SQLite',
  'Redis',
  'MongoDB',
  'CUDA',
  'PyTorch',
  'TensorFlow',
  'NumPy',
  'OpenSSL',
  'TLS',
  'HTTP',
  'USB',
  'Bluetooth',
  'Unity',
  'Blender',
  'GPT',
  'Claude',
  'Gemini',
  'Llama',
  'Qwen',
  'Mistral',
].join('|');

/**
 * A version after the name of a product or a word such as `version`, with the parts as digits and dots. The pattern matches the
 * number only. Linear: the names have bounded lengths, and are looked for only before a number with a dot.
 * @param words regular expressions of the words for a version in a language.
 * @param start what may precede a name.
 */
export function versionPattern(words: readonly string[], start = String.raw`(?<![\p{L}\p{N}])`): RegExp {
  const names = [PRODUCTS, ...words].join('|');
  return new RegExp(
    String.raw`(?=[0-9]{1,4}\.[0-9])(?<=${start}(?:${names})[ -]?v?)[0-9]{1,4}(?:\.[0-9]{1,4}){1,4}(?![0-9]|[.,][0-9])`,
    'gu',
  );
}

/** Whether a dotted number after `word` is a version. */
export function precedesVersion(word: string): boolean {
  return BEFORE_VERSION.test(word);
}

const BEFORE_VERSION = new RegExp(
  `^(?:${PRODUCTS}|[Vv]ersions?|[Vv]er|[Rr]elease|[Bb]uild|[Cc]hapter|[Ss]ection)$`,
  'u',
);
