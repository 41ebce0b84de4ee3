/** `bun bench/flood.ts URL KEY COUNT BODY`: sends COUNT requests concurrently and waits for their responses. */

const [url = '', key = '', count = '0', body = ''] = process.argv.slice(2);
const requests = Array.from({ length: Number(count) }, async () => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body,
  });
  await response.bytes();
});
await Promise.allSettled(requests);
