/** The microphone as blocks of 16-bit samples. */
export class Microphone {
  /**
   * Asks the person for the microphone.
   * @param audio the AudioContext to capture with; the blocks have its rate
   * @param onBlock called with an Int16Array for each 80 ms
   * @throws Error with a sentence for the person when there is none to be had
   */
  static async open(audio, onBlock) {
    if (navigator.mediaDevices === undefined) {
      throw new Error(
        'Browsers give the microphone only to pages that come over https or from this machine.',
      );
    }
    const wishes = { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true };
    let stream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: wishes });
      await audio.audioWorklet.addModule('console/microphone-worklet.js');
      return new Microphone(audio, stream, onBlock);
    } catch (error) {
      for (const track of stream?.getTracks() ?? []) track.stop();
      throw new Error(reason(error), { cause: error });
    }
  }

  constructor(audio, stream, onBlock) {
    this.stream = stream;
    this.source = audio.createMediaStreamSource(stream);
    this.worklet = new AudioWorkletNode(audio, 'microphone', {
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: 'explicit',
    });
    this.worklet.port.onmessage = ({ data }) => onBlock(data);
    this.source.connect(this.worklet);
  }

  close() {
    this.worklet.port.onmessage = null;
    this.source.disconnect();
    for (const track of this.stream.getTracks()) track.stop();
  }
}

function reason({ name, message }) {
  if (name === 'NotAllowedError') return 'The microphone was refused.';
  if (name === 'NotFoundError') return 'There is no microphone.';
  if (name === 'NotReadableError') return 'Another program holds the microphone.';
  return `The microphone does not work: ${message}`;
}

/** Samples as the text that an append carries. */
export function base64(samples) {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  // One call takes some ten thousand arguments; a block has fewer.
  return btoa(String.fromCharCode(...bytes));
}
