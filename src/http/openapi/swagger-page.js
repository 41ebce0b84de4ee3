/** Script of the page at /swagger: Swagger UI with a player for audio and video responses. */

/** Object URLs of played responses, by response body. */
const addresses = new WeakMap();

function addressOf(response) {
  if (!addresses.has(response)) addresses.set(response, URL.createObjectURL(response));
  return addresses.get(response);
}

/**
 * Swagger UI passes the request URL to <audio>, which the browser would GET without the API key. This plugin plays the bytes
 * of the response instead.
 */
function playResponses({ React: { createElement } }) {
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
        // Browsers cannot play raw PCM, which has no header with the sample rate.
        const [, kind] = /^(audio|video)\/(?!pcm)/.exec(contentType) ?? [];
        const isPlayed = kind !== undefined && content instanceof Blob;
        return isPlayed ? player(kind, addressOf(content)) : createElement(Original, props);
      },
    },
  };
}

/** Removes empty form fields, including the empty lists that Swagger UI sends by default. */
function withoutEmptyFields(request) {
  if (request.body instanceof FormData) {
    for (const [name, value] of [...request.body]) if (value === '') request.body.delete(name);
  }
  return request;
}

// Swagger UI's style sheet selects the dark scheme by a class.
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

// Without persistAuthorization, so that the API key is not stored in the browser.
SwaggerUIBundle({
  url: 'swagger/json',
  dom_id: '#ui',
  deepLinking: true,
  validatorUrl: null,
  displayRequestDuration: true,
  defaultModelsExpandDepth: -1,
  plugins: [playResponses],
  requestInterceptor: withoutEmptyFields,
});
