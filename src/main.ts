import { runProcess } from './process.ts';

/** The one place that lists what this build is made of. */
await runProcess({
  plugins: [],
  openTts: () => Promise.reject(new Error('no engines in this build')),
});
