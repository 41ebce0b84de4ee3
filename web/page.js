/** What every part of the page needs. */

export const $ = (id) => document.getElementById(id);

export function seconds(value) {
  if (value < 0.01) return '< 0.01 s';
  return `${value.toFixed(value < 10 ? 2 : 1)} s`;
}

/** Shows a line of text to the person, or an error. */
export function say(text, isError = false, id = 'message') {
  $(id).textContent = text;
  $(id).classList.toggle('error', isError);
}

export const apiKey = () => $('key').value.trim();

export const authorization = () => ({ authorization: `Bearer ${apiKey()}` });

/** The error that a refused request names. */
export async function failure(response) {
  const id = response.headers.get('x-request-id');
  const body = await response.json().catch(() => undefined);
  return new Error(`${body?.error?.message ?? `Status ${response.status}.`} (${id})`);
}
