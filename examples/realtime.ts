import { readFile } from 'node:fs/promises';
import WebSocket from 'ws';

const socket = new WebSocket('ws://localhost:8080/v1/realtime', {
  headers: { authorization: `Bearer ${process.env.KEY}` },
});
const send = (event: object) => socket.send(JSON.stringify(event));
socket.on('open', async () => {
  const input = { format: { type: 'audio/pcm', rate: 24_000 }, turn_detection: { type: 'server_vad' } };
  send({ type: 'session.update', session: { audio: { input } } });
  const audio = Buffer.concat([await readFile('hello.pcm'), Buffer.alloc(48_000)]); // one second of silence ends the turn
  for (let at = 0; at < audio.length; at += 4800) {
    send({ type: 'input_audio_buffer.append', audio: audio.subarray(at, at + 4800).toString('base64') });
  }
});
socket.on('message', (data) => {
  const event = JSON.parse(String(data));
  if (event.type === 'error') throw new Error(event.error.message);
  if (event.type === 'conversation.item.input_audio_transcription.completed') {
    console.log(event.transcript);
    socket.close();
  }
});
