/** What runs in the page at /swagger: Swagger UI over the document beside it, with a player for answers that are heard or seen. */

/** Addresses of answers that are played, as long as the answers are kept. */
const addresses = new WeakMap();

function addressOf(answer) {
  if (!addresses.has(answer)) addresses.set(answer, URL.createObjectURL(answer));
  return addresses.get(answer);
}

/**
 * Swagger UI hands the address of the request to <audio>, which a browser would GET, without the key. This plays the
 * bytes of the answer.
 */
function playAnswers({ React: { createElement } }) {
  const player = (kind, src) =>
    createElement(
      'div',
      null,
      createElement('h5', null, 'Response body'),
      createElement(kind, { controls: true, src, style: { maxWidth: '100%' } }),
      createElement(
        'p',
        null,
        createElement('a', { href: src, download: `answer.${kind === 'audio' ? 'wav' : 'mp4'}` }, 'Download'),
      ),
    );
  return {
    wrapComponents: {
      responseBody: (Original) => (props) => {
        const { contentType = '', content } = props;
        // Raw samples say nothing of their rate, so no browser plays them.
        const [, kind] = /^(audio|video)\/(?!pcm)/.exec(contentType) ?? [];
        const isPlayed = kind !== undefined && content instanceof Blob;
        return isPlayed ? player(kind, addressOf(content)) : createElement(Original, props);
      },
    },
  };
}

/** A field of a form that is left empty is left out, also where Swagger UI begins with an empty list. */
function withoutEmptyFields(request) {
  if (request.body instanceof FormData) {
    for (const [name, value] of [...request.body]) if (value === '') request.body.delete(name);
  }
  return request;
}

// The style sheet has both schemes and chooses by a class.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

// Never kept: persistAuthorization would leave the key in the browser.
SwaggerUIBundle({
  url: 'swagger/json',
  dom_id: '#ui',
  deepLinking: true,
  validatorUrl: null,
  displayRequestDuration: true,
  defaultModelsExpandDepth: -1,
  plugins: [playAnswers],
  requestInterceptor: withoutEmptyFields,
});
