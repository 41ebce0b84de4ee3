/** A response that never ends: after `start`, it sends `drip` again and again. */
export function drippingResponse(contentType: string, start: string, drip: string | Uint8Array): Response {
  const bytes = (part: string | Uint8Array) => (typeof part === 'string' ? Buffer.from(part) : part);
  return new Response(
    new ReadableStream({
      start: (controller) => start !== '' && controller.enqueue(bytes(start)),
      async pull(controller) {
        // A real drip is slower, but the timeouts of the tests are shorter.
        await Bun.sleep(1);
        controller.enqueue(bytes(drip));
      },
    }),
    { headers: { 'content-type': contentType } },
  );
}
